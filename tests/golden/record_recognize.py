"""Records the entities that transformers' TokenClassificationPipeline finds with tiny models.

usage: record_recognize.py [--out DIR]     (DIR: the folder `recognizers` beside this file)

Each folder DIR/NAME has config.json, tokenizer_config.json, shapes.json (tiny_weights.py makes the weights from it) and
case_texts.json: the tokenizer (a file of tokenizer_corpus), the texts, and runs. A run is an aggregation, a stride (null:
texts are cut) and, for each text, its entities: label, start, end, score and word, and the token's index without aggregation.
"""
import argparse
import json
import pathlib
import shutil
import warnings

import torch
import transformers

from golden_folder import pack_folders
from record_architectures import fill
from record_models import write_json

HERE = pathlib.Path(__file__).parent
CORPUS = HERE / "tokenizer_corpus"
LIMIT = 24

TEXTS = [
    "Ada met Charles in London.",
    " two  spaces,\ttabs\nand ",
    "",
    "\u732b\u306f Z\u00fcrich cafe\u0301 \U0001f600 \ufdfa (R) O'Connor a.b@c.org [UNK] <unk> x",
    "The committee met in S\u00e3o Paulo until Mar\u00eda Jos\u00e9 of Alate & Sons, 221B Baker St, knows.",
]
BIO = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def entity(found):
    made = [found.get("entity_group", found.get("entity")), found["start"], found["end"], round(float(found["score"]), 6),
            found["word"]]  # fmt: skip
    return made + [found["index"]] if "index" in found else made


def record(folder, family, corpus, seed, specials, labels=BIO, **fields):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer_config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LIMIT, **specials}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(CORPUS / corpus), model_max_length=LIMIT, **specials)
    config = getattr(transformers, family + "Config")(
        vocab_size=max(tokenizer.get_vocab().values()) + 1, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=20, max_position_embeddings=LIMIT + 8, id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)}, **fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, family + "ForTokenClassification")(config).eval()
    shapes = fill(model, seed)
    config.architectures = [family + "ForTokenClassification"]
    pipeline = transformers.pipeline("token-classification", model=model, tokenizer=tokenizer)
    runs = []
    for aggregation in ("none", "simple", "first", "average", "max"):
        for stride in (None, 0, 7):
            if stride is not None and (aggregation == "none" or (stride == 0 and aggregation != "simple")):
                continue
            options = {"aggregation_strategy": aggregation, "ignore_labels": []}
            if stride is not None:
                options["stride"] = stride
            # "O" stays in the record without windows, so that a missing token shows.
            if stride is not None or aggregation != "none":
                options["ignore_labels"] = ["O"]
            entities = [[entity(each) for each in pipeline(text, **options)] for text in TEXTS]
            runs.append({"aggregation": aggregation, "stride": stride, "entities": entities})
    write_json(folder / "tokenizer_config.json", tokenizer_config)
    write_json(folder / "config.json", json.loads(config.to_json_string()))
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    with (folder / "case_texts.json").open("w") as out:
        lines = ",\n".join(json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in runs)
        out.write('{"tokenizer":%s,"texts":%s,"runs":[\n%s]}\n' % (json.dumps(corpus), json.dumps(TEXTS, ensure_ascii=False), lines))
    print(folder.name, [sum(map(len, run["entities"])) for run in runs])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "recognizers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    bert = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    roberta = {"unk_token": "<unk>", "pad_token": "<pad>", "cls_token": "<s>", "sep_token": "</s>"}
    record(options.out / "word_piece", "Bert", "bert_cased.json", 127, bert)
    record(options.out / "byte_level", "Roberta", "roberta.json", 121, roberta, type_vocab_size=1, pad_token_id=1)
    # Labels without B- and I-; what precedes a hyphen in them is taken for a tag.
    record(options.out / "sentence_piece", "XLMRoberta", "xlm_roberta.json", 121, roberta, type_vocab_size=1, pad_token_id=1,
           labels=["O", "PER", "ORG-NAME", "B-LOC", "I-LOC", "B-ORG-NAME"])
    pack_folders(options.out)


if __name__ == "__main__":
    main()
