"""Records the answers that transformers' QuestionAnsweringPipeline finds with tiny models.

usage: record_answer.py [--out DIR]     (DIR: the folder `answerers` beside this file)

The pipeline was last in transformers 4.57. Each folder DIR/NAME has config.json, tokenizer_config.json, shapes.json
(tiny_weights.py makes the weights from it) and case_texts.json: the tokenizer (a file of tokenizer_corpus), the question,
the texts, and runs. A run has the options of a call and, for each text, its answers: start, end, score and text.

Not recorded: answers with score 0, which the pipeline adds where a window has fewer candidates than it looks for. With
padding at the left it lets tokens of the question be answers, and looks for their words in the text; here they are
masked as with padding at the right.
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
LIMIT = 40

QUESTION = "Who met?"
TEXTS = [
    "Ada met Charles in London.",
    " two  spaces,\ttabs\nand more of  them ",
    "The cat, the Cat and THE CAT sat. The dog and the DOG sat too: the cat met the dog.",
    "\u732b\u306f Z\u00fcrich cafe\u0301 \U0001f600 \ufdfa (R) O'Connor a.b@c.org [UNK] <unk> [CLS] <s> x \u01c5 \u03a3\u03a3",
    "The committee met in S\u00e3o Paulo until Mar\u00eda Jos\u00e9 of Alate & Sons, 221B Baker St, knows. " * 3,
]
RUNS = [{}, {"top_k": 5}, {"top_k": 6, "handle_impossible_answer": True}, {"top_k": 4, "align_to_words": False},
        {"top_k": 3, "max_answer_len": 2, "doc_stride": 5}, {"top_k": 3, "max_seq_len": 30}]


class ContextOnly(transformers.QuestionAnsweringPipeline):
    """Masks the question also where it comes second."""

    def preprocess(self, example, **options):
        for features in super().preprocess(example, **options):
            if self.tokenizer.padding_side == "left":
                ids = features["input_ids"][0].tolist()
                mask = [part != 0 and token != self.tokenizer.cls_token_id
                        for part, token in zip(features["encoding"].sequence_ids, ids)]
                features["p_mask"] = torch.tensor([mask])
            yield features


def answers_of(pipeline, text, options):
    found = pipeline(question=QUESTION, context=text, **options)
    made = []
    for one in found if isinstance(found, list) else [found]:
        if one["score"] > 0:
            made.append([one["start"], one["end"], float(f"{one['score']:.6g}"), one["answer"]])
    scores = [one[2] for one in made]
    assert all(a - b > 2e-6 * a for a, b in zip(scores, scores[1:])), (options, text, scores)
    return made


def record(folder, family, corpus, seed, specials, **fields):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer_config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LIMIT, **specials}
    # Version 4 puts its own add_prefix_space in the place of the file's.
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(CORPUS / corpus), model_max_length=LIMIT, add_prefix_space=True, **specials)
    if fields.get("type_vocab_size", 2) < 2:
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    # Where the names are absent, version 5 has no types.
    tokenizer_config["model_input_names"] = tokenizer.model_input_names
    config = getattr(transformers, family + "Config")(
        vocab_size=max(tokenizer.get_vocab().values()) + 1, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=20, max_position_embeddings=LIMIT + 8, **fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, family + "ForQuestionAnswering")(config).eval()
    shapes = fill(model, seed)
    config.architectures = [family + "ForQuestionAnswering"]
    pipeline = ContextOnly(model=model, tokenizer=tokenizer)
    runs = [{"options": options, "answers": [answers_of(pipeline, text, options) for text in TEXTS]} for options in RUNS]
    write_json(folder / "tokenizer_config.json", tokenizer_config)
    write_json(folder / "config.json", json.loads(config.to_json_string()))
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    with (folder / "case_texts.json").open("w") as out:
        lines = ",\n".join(json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in runs)
        out.write('{"tokenizer":%s,"question":%s,"texts":%s,"runs":[\n%s]}\n' % (
            json.dumps(corpus), json.dumps(QUESTION), json.dumps(TEXTS, ensure_ascii=False), lines))
    print(folder.name, [[len(each) for each in run["answers"]] for run in runs], runs[0]["answers"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "answerers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    bert = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    roberta = {"unk_token": "<unk>", "pad_token": "<pad>", "cls_token": "<s>", "sep_token": "</s>"}
    record(options.out / "word_piece", "Bert", "bert_cased.json", 155, bert)
    record(options.out / "byte_level", "Roberta", "roberta.json", 151, roberta, type_vocab_size=1, pad_token_id=1)
    record(options.out / "sentence_piece", "DebertaV2", "deberta_v2.json", 143, bert, type_vocab_size=0,
           relative_attention=True, position_buckets=4, max_relative_positions=-1, norm_rel_ebd="layer_norm",
           share_att_key=True, pos_att_type=["p2c", "c2p"], position_biased_input=False)
    record(options.out / "question_last", "Bert", "bert_cased.json", 134, {**bert, "padding_side": "left"})
    pack_folders(options.out)


if __name__ == "__main__":
    main()
