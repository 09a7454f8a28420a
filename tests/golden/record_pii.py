"""Records the labels that ONNX Runtime gives words on the published file of builtin:pii.

usage: record_pii.py FOLDER [--out FILE]     (FOLDER: the published files, of the package that tools/make_pii_model names;
                                              FILE: pii.jsonl beside this file)

Each line has a text and the labels of those of its words (what stands between spaces) whose first token is not labelled O,
by the word's number.
"""
import argparse
import json
import pathlib

import numpy
import onnxruntime
import tokenizers

from pii_corpus import texts

COUNT, SEED = 90, 7


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "pii.jsonl")
    arguments = parser.parse_args()
    tokenizer = tokenizers.Tokenizer.from_file(str(arguments.folder / "tokenizer.json"))
    tokenizer.no_truncation()
    names = json.loads((arguments.folder / "config.json").read_text())["id2label"]
    session = onnxruntime.InferenceSession(str(arguments.folder / "onnx/model_q4.onnx"), providers=["CPUExecutionProvider"])
    with arguments.out.open("w") as out:
        for text in texts(COUNT, SEED):
            encoding = tokenizer.encode(text)
            ids = numpy.array([encoding.ids])
            inputs = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
            labels = session.run(None, inputs)[0][0].argmax(-1)
            words, at = {}, -1
            for (begin, end), label in zip(encoding.offsets, labels):
                if begin < end and (begin == 0 or text[begin - 1].isspace()):
                    at += 1
                    if label != 0:
                        words[at] = names[str(label)]
            out.write(json.dumps({"text": text, "labels": words}, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
