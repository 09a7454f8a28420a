"""Records the scores that cross-encoders give pairs of texts: tiny …ForSequenceClassification models with one label.

usage: record_rerank.py [--out DIR]     (DIR: the folder `rerankers` beside this file)

Each folder DIR/NAME has config.json, the tokenizer's files, shapes.json (tiny_weights.py makes the weights from it) and
case_*.json: a query, texts, the token ids of each pair as `tokenizers` cuts them (longest_first, to the model_max_length of
tokenizer_config.json), and the logits of each pair, computed without padding. tokenizer.json is that of models/st_mean.
"""
import argparse
import copy
import json
import pathlib
import shutil

import tokenizers
import torch
import transformers

from golden_folder import pack_folders
from record_architectures import fill
from record_models import write_json

HERE = pathlib.Path(__file__).parent
TOKENIZER = HERE / "models" / "st_mean" / "tokenizer.json"
LIMIT = 32

CASES = {
    "texts": ("where did the cat sit?", [
        "the cat sat on the mat.",
        "the quick brown fox jumped on the cat, " * 6,  # too long
        "",
        "fox",
        "A query, a passage: the MAT!",
        "the cat sat on the mat.",
        "caf\u00e9 na\u00efve \u732b",
    ]),
    "long_query": ("a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3",
                   ["the cat.", "z y x w v u t s r q p o n m l k j i h g"]),
    "empty_query": ("", ["the cat sat", ""]),
}


def logit(model, ids, types):
    with torch.no_grad():
        result = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits
    assert result.shape == (1, 1)
    return result.item()


def check(model, ids, types, tokenizer, query, text):
    """float32 is near float64; the order of a pair shows, and so do the types of tokens where the model has any."""
    found = logit(model, ids, types)
    assert abs(found - logit(copy.deepcopy(model).double(), ids, types)) < 3e-6
    swapped = tokenizer.encode(text, query)
    swapped_types = swapped.type_ids if any(types) else [0] * len(swapped.ids)
    is_same = swapped.ids == ids  # both texts are empty
    assert is_same or abs(found - logit(model, swapped.ids, swapped_types)) > 1e-3, (query, text)
    assert not any(types) or abs(found - logit(model, ids, [0] * len(ids))) > 1e-3, (query, text)


def pair_scores(model, tokenizer, query, texts):
    """The ids, and whether each pair was cut, and the logit of each."""
    ids, logits, truncated = [], [], []
    for i, text in enumerate(texts):
        tokenizer.no_truncation()
        whole = len(tokenizer.encode(query, text).ids)
        tokenizer.enable_truncation(LIMIT, strategy="longest_first")
        encoding = tokenizer.encode(query, text)
        types = encoding.type_ids if model.config.type_vocab_size > 1 else [0] * len(encoding.ids)
        check(model, encoding.ids, types, tokenizer, query, text)
        ids.append(encoding.ids)
        logits.append(logit(model, encoding.ids, types))
        if whole > LIMIT:
            truncated.append(i)
    return {"query": query, "texts": texts, "input_ids": ids, "logits": logits, "truncated": truncated}


def record(folder, family, seed, **fields):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(TOKENIZER, folder / "tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_padding()
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "model_max_length": LIMIT})
    config = getattr(transformers, family + "Config")(
        vocab_size=max(tokenizer.get_vocab().values()) + 1, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=20, max_position_embeddings=40, num_labels=1, **fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, family + "ForSequenceClassification")(config).eval()
    shapes = fill(model, seed)
    config.architectures = [family + "ForSequenceClassification"]
    write_json(folder / "config.json", json.loads(config.to_json_string()))
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    for name, (query, texts) in CASES.items():
        case = pair_scores(model, tokenizer, query, texts)
        write_json(folder / f"case_{name}.json", case)
        print(folder.name, name, case["truncated"], [round(x, 3) for x in case["logits"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "rerankers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    record(options.out / "bert", "Bert", seed=61, type_vocab_size=2)
    # Without types of tokens, and with positions that are counted past padding.
    record(options.out / "roberta", "Roberta", seed=62, type_vocab_size=1, pad_token_id=0)
    pack_folders(options.out)


if __name__ == "__main__":
    main()
