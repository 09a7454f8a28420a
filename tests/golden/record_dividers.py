"""Records where the package chonky divides texts with tiny models.

usage: record_dividers.py [--out DIR]     (DIR: the folder `dividers` beside this file)

Needs chonky 0.1.7. Each folder DIR/NAME has config.json, tokenizer_config.json, shapes.json (tiny_weights.py makes the
weights from it) and case_texts.json: the tokenizer (a file of tokenizer_corpus), the texts, and of each its parts, without
white space at their ends and without those that are nothing else: start and end.
"""
import argparse
import json
import pathlib
import shutil
import warnings

import torch
import transformers
from chonky import split_into_semantic_chunks

from golden_folder import pack_folders
from record_architectures import fill
from record_models import write_json

HERE = pathlib.Path(__file__).parent
CORPUS = HERE / "tokenizer_corpus"
LIMIT = 24
TEXTS = [
    "Ada met Charles in London. They spoke of numbers.",
    "",
    " \n ",
    "caf\u00e9 cafe\u0301 \U0001f600 state-of-the-art\r\n\u732b\u306f Z\u00fcrich's 221B\u00a0Baker ",
    "The committee met in S\u00e3o Paulo until Mar\u00eda Jos\u00e9 of Alate & Sons, 221B Baker St, knows what Ada "
    "Lovelace and Charles Babbage said of it in London, and until then nobody speaks of it again. Lamps are sold at the "
    "harbour in the morning; whoever comes late pays twice, or so they say. The ships leave at noon.",
]
SPECIALS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def parts_of(text, pieces):
    parts, begin = [], 0
    for piece in pieces:
        if piece.strip():
            parts.append([begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())])
        begin += len(piece)
    assert begin == len(text)
    return parts


def record(folder, seed, labels):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(CORPUS / "bert_cased.json"), model_max_length=LIMIT, **SPECIALS)
    config = transformers.DistilBertConfig(
        vocab_size=max(tokenizer.get_vocab().values()) + 1, dim=16, n_layers=2, n_heads=2, hidden_dim=20,
        max_position_embeddings=LIMIT + 8, num_labels=2)
    config._attn_implementation = "eager"
    model = transformers.DistilBertForTokenClassification(config).eval()
    shapes = fill(model, seed)
    config.architectures = ["DistilBertForTokenClassification"]
    stored = json.loads(config.to_json_string())
    if labels:
        stored["id2label"] = dict(enumerate(labels))
        stored["label2id"] = {label: i for i, label in enumerate(labels)}
    # As chonky.ParagraphSplitter makes it, whatever the folder calls its labels.
    model.config.id2label, model.config.label2id = {0: "O", 1: "separator"}, {"O": 0, "separator": 1}
    pipeline = transformers.pipeline("ner", model=model, tokenizer=tokenizer, aggregation_strategy="simple", stride=LIMIT // 2)
    parts = [parts_of(text, split_into_semantic_chunks(text, pipeline(text) if text.strip() else [])) for text in TEXTS]
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LIMIT, **SPECIALS})
    write_json(folder / "config.json", stored)
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    with (folder / "case_texts.json").open("w") as out:
        json.dump({"tokenizer": "bert_cased.json", "texts": TEXTS, "parts": parts}, out, ensure_ascii=False, separators=(",", ":"))
        out.write("\n")
    print(folder.name, seed, [len(each) for each in parts])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "dividers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    record(options.out / "named", 11, ["O", "separator"])
    record(options.out / "numbered", 14, None)  # LABEL_0 and LABEL_1, as some published folders have it
    pack_folders(options.out)


if __name__ == "__main__":
    main()
