"""Records the tokens that transformers' FillMaskPipeline finds with tiny models.

usage: record_fill.py [--out DIR]     (DIR: the folder `fillers` beside this file)

Each folder DIR/NAME has config.json, tokenizer_config.json, shapes.json (tiny_weights.py makes the weights from it) and
case_texts.json: the tokenizer (a file of tokenizer_corpus), the texts, and runs. A run has top_k, targets (null: none) and,
for each text and mask, the tokens: id, score, token and filled text.
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
LIMIT = 48

TEXTS = ["Ada met MASK in London.", "MASKMASK", "MASK, two  spaces; caf\u00e9 MASK, and the \U0001f600 MASK's end PAD!"]
RUNS = [(5, None), (3, ["the", "and", "Zzyzx and more", "the"]), (1, None)]


def fills_of(pipeline, text, top_k, targets):
    found = pipeline(text, top_k=top_k, **({} if targets is None else {"targets": targets}))
    masks = found if isinstance(found[0], list) else [found]
    for mask in masks:
        scores = [one["score"] for one in mask]
        assert all(a - b > 1e-5 * a for a, b in zip(scores, scores[1:])), (text, top_k, scores)
    return [[[one["token"], float(f"{one['score']:.6g}"), one["token_str"], one["sequence"]] for one in mask] for mask in masks]


def record(folder, family, corpus, seed, specials, **fields):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer_config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LIMIT, **specials}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(CORPUS / corpus), model_max_length=LIMIT, **specials)
    texts = [text.replace("MASK", tokenizer.mask_token).replace("PAD", tokenizer.pad_token) for text in TEXTS]
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20}
    if family == "DistilBert":
        sizes = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 20}
    config = getattr(transformers, family + "Config")(
        vocab_size=max(tokenizer.get_vocab().values()) + 1, max_position_embeddings=LIMIT + 8, **sizes, **fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, family + "ForMaskedLM")(config).eval()
    shapes = fill(model, seed)
    config.architectures = [family + "ForMaskedLM"]
    pipeline = transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer)
    runs = [{"top_k": top_k, "targets": targets, "fills": [fills_of(pipeline, text, top_k, targets) for text in texts]}
            for top_k, targets in RUNS]
    write_json(folder / "tokenizer_config.json", tokenizer_config)
    write_json(folder / "config.json", json.loads(config.to_json_string()))
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    with (folder / "case_texts.json").open("w") as out:
        lines = ",\n".join(json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in runs)
        out.write('{"tokenizer":%s,"texts":%s,"runs":[\n%s]}\n' % (
            json.dumps(corpus), json.dumps(texts, ensure_ascii=False), lines))
    print(folder.name, runs[0]["fills"][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "fillers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    bert = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    roberta = {"unk_token": "<unk>", "pad_token": "<pad>", "cls_token": "<s>", "sep_token": "</s>", "mask_token": "<mask>"}
    record(options.out / "tied", "Bert", "bert_cased.json", 141, bert)
    record(options.out / "untied", "Bert", "bert_cased.json", 142, {**bert, "clean_up_tokenization_spaces": True},
           tie_word_embeddings=False)
    record(options.out / "byte_level", "Roberta", "roberta.json", 143, {**roberta, "clean_up_tokenization_spaces": True},
           type_vocab_size=1, pad_token_id=1)
    record(options.out / "embedding_size", "Electra", "bert_uncased.json", 144, bert, embedding_size=12)
    record(options.out / "distilbert", "DistilBert", "bert_uncased.json", 145, bert)
    record(options.out / "sentence_piece", "DebertaV2", "deberta_v2.json", 146, bert, type_vocab_size=0,
           relative_attention=True, position_buckets=4, max_relative_positions=-1, norm_rel_ebd="layer_norm",
           share_att_key=True, pos_att_type=["p2c", "c2p"], position_biased_input=False)
    record(options.out / "modernbert", "ModernBert", "roberta.json", 147, roberta, pad_token_id=1, cls_token_id=0,
           sep_token_id=2, bos_token_id=0, eos_token_id=2, global_attn_every_n_layers=2, local_attention=8)
    pack_folders(options.out)


if __name__ == "__main__":
    main()
