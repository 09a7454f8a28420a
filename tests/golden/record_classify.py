"""Records what transformers' pipelines for text and zero-shot classification say of texts, with tiny models.

usage: record_classify.py [--out DIR]     (DIR: the folder `classifiers` beside this file)

Each folder DIR/NAME has config.json, tokenizer_config.json, shapes.json (tiny_weights.py makes the weights from it) and
cases.json: the texts, each one's labels with their scores, the best first ("own"), and of a model of natural language
inference the same of given labels, as one of them ("single") and each by itself ("multi"). tokenizer.json is that of
models/st_mean.
"""
import argparse
import json
import pathlib
import shutil

import torch
import transformers

from golden_folder import pack_folders
from record_architectures import fill
from record_models import write_json

HERE = pathlib.Path(__file__).parent
TOKENIZER = HERE / "models" / "st_mean" / "tokenizer.json"
LIMIT = 32
TEXTS = ["where did the cat sit?", "the quick brown fox jumped on the cat, " * 6, "", "A query, a passage: the MAT!",
         "caf\u00e9 na\u00efve \u732b"]
LABELS = ["the cat", "fox", "a very long label of a passage"]


def ranked(scores):
    return [[one["label"], one["score"]] for one in scores]


def record(folder, family, seed, labels, **fields):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(TOKENIZER), model_max_length=LIMIT, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]")
    if fields.get("type_vocab_size", 2) > 1:
        tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "model_max_length": LIMIT})
    config = getattr(transformers, family + "Config")(
        vocab_size=max(tokenizer.get_vocab().values()) + 1, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=20, max_position_embeddings=40, num_labels=len(labels),
        id2label=dict(enumerate(labels)), label2id={name: i for i, name in enumerate(labels)}, **fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, family + "ForSequenceClassification")(config).eval()
    shapes = fill(model, seed)
    config.architectures = [family + "ForSequenceClassification"]
    write_json(folder / "config.json", json.loads(config.to_json_string()))
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    own = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer)
    cases = {"texts": TEXTS, "own": [ranked(own(text, top_k=None, truncation=True)) for text in TEXTS]}
    if any(name.lower().startswith("entail") for name in labels):
        zero_shot = transformers.pipeline("zero-shot-classification", model=model, tokenizer=tokenizer)
        cases["labels"] = LABELS
        for name, multi in (("single", False), ("multi", True)):
            found = [zero_shot(text or " ", LABELS, hypothesis_template="it is {}!", multi_label=multi) for text in TEXTS]
            cases[name] = [list(map(list, zip(one["labels"], one["scores"]))) for one in found]
    write_json(folder / "cases.json", cases)
    print(folder.name, cases["own"][0], cases.get("single", [None])[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "classifiers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    record(options.out / "nli", "Bert", 71, ["contradiction", "neutral", "Entailment"], type_vocab_size=2)
    # The entailment first: the contradiction is then the last label.
    record(options.out / "nli_first", "Roberta", 72, ["ENTAILED", "not"], type_vocab_size=1, pad_token_id=0)
    record(options.out / "several", "Bert", 73, ["red", "green", "blue", "grey"], problem_type="multi_label_classification")
    record(options.out / "regression", "Bert", 74, ["distance"], problem_type="regression")
    record(options.out / "one", "Bert", 75, ["toxic"])
    pack_folders(options.out)


if __name__ == "__main__":
    main()
