"""Records what sentence-transformers' CrossEncoder says of the rerankers that record_rerank.py wrote, with more settings.

usage: record_cross_encoders.py [--out FILE]     (FILE: rerankers/cross_encoders.json beside this file)

FILE has a query with its texts and a list of cases: what is put over the config.json of the tiny BERT and over the "shapes" of its
shapes.json, further files ("settings"), the prompt, and the scores of `predict`; with two labels those
of the second after softmax. "windows" are logits of a text that is read in windows by `tokenizers`: the best of each text.
"""
import argparse
import json
import pathlib
import shutil
import tempfile

import tokenizers
import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import CrossEncoder

from golden_folder import read_safetensors
from record_models import write_json
from record_rerank import CASES, LIMIT, TOKENIZER
from tiny_weights import weight

HERE = pathlib.Path(__file__).parent
QUERY, TEXTS = CASES["texts"]

FUNCTION = "torch.nn.modules.activation."


def saved(**settings):
    """What CrossEncoder.save_pretrained writes beside the model."""
    return {"modules.json": [{"idx": 0, "name": "0", "path": "",
                              "type": "sentence_transformers.base.modules.transformer.Transformer"}],
            "sentence_bert_config.json": {"transformer_task": "sequence-classification", "module_output_name": "scores",
                                          "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}}},
            "config_sentence_transformers.json": {"model_type": "CrossEncoder"} | settings}


PROMPTS = {"prompts": {"query": "a query: ", "other": "the "}, "default_prompt_name": "query"}
RECIPES = [
    {"name": "default"},
    {"name": "identity", "config": {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}},
    {"name": "old_key", "config": {"sbert_ce_default_activation_function": FUNCTION + "Tanh"}},
    {"name": "file_wins", "config": {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}},
     "settings": saved(activation_fn=FUNCTION + "Softplus")},
    {"name": "default_prompt", "settings": saved(**PROMPTS)},
    {"name": "named_prompt", "settings": saved(**PROMPTS),
     "prompt_name": "other"},
    {"name": "given_prompt", "prompt": "where is the "},
    {"name": "two_labels", "config": {"id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 0, "yes": 1}},
     "shapes": {"classifier.weight": [2, 16], "classifier.bias": [2]}},
]


def write_folder(folder, recipe):
    """The tiny BERT with the recipe's changes."""
    texts, _ = read_safetensors(HERE / "rerankers" / "bert.safetensors")
    config = json.loads(texts["config.json"]) | recipe.get("config", {})
    described = json.loads(texts["shapes.json"])
    described["shapes"] |= recipe.get("shapes", {})
    write_json(folder / "config.json", config)
    shutil.copy(TOKENIZER, folder / "tokenizer.json")
    write_json(folder / "tokenizer_config.json", {
        "tokenizer_class": "BertTokenizer", "model_max_length": LIMIT, "unk_token": "[UNK]", "sep_token": "[SEP]",
        "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"})
    save_file({name: torch.from_numpy(weight(name, tuple(shape), described["seed"]))
               for name, shape in described["shapes"].items()}, folder / "model.safetensors")
    if "settings" in recipe:
        for name, content in recipe["settings"].items():
            write_json(folder / name, content)


def record(recipe):
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent) / "model"
        folder.mkdir()
        write_folder(folder, recipe)
        model = CrossEncoder(str(folder), device="cpu")
        scores = model.predict([[QUERY, text] for text in TEXTS], batch_size=1, prompt_name=recipe.get("prompt_name"),
                               prompt=recipe.get("prompt"), apply_softmax=model.num_labels > 1)
        scores = [float(score[1] if model.num_labels > 1 else score) for score in scores]
    return recipe | {"scores": scores}


def windows(stride):
    """The best logit of each text's windows, with the query in each."""
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent)
        write_folder(folder, {})
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LIMIT, strategy="only_second", stride=stride)
    best = []
    for text in TEXTS:
        encoding = tokenizer.encode(QUERY, text)
        rows = [encoding, *encoding.overflowing]
        with torch.no_grad():
            logits = [model(input_ids=torch.tensor([row.ids]), token_type_ids=torch.tensor([row.type_ids])).logits.item()
                      for row in rows]
        best.append(max(logits))
        print("windows", len(rows), [round(x, 3) for x in logits])
    return {"name": "windows", "stride": stride, "scores": best}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "rerankers" / "cross_encoders.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cases = [record(recipe) for recipe in RECIPES] + [windows(5)]
    for case in cases:
        print(case["name"], [round(x, 4) for x in case["scores"]])
    write_json(options.out, {"query": QUERY, "texts": TEXTS, "cases": cases})


if __name__ == "__main__":
    main()
