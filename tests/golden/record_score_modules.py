"""Records the scores of a cross-encoder that sentence-transformers builds of modules.

usage: record_score_modules.py [--out FILE]     (FILE: `rerankers/modules.safetensors` beside this file)

FILE is a tiny random model as the ettin-reranker family is published: Transformer, Pooling, Dense, LayerNorm and a Dense whose output is
"scores". case_texts.json has a query, texts, and the scores that CrossEncoder.predict gives the pairs.
"""
import argparse
import json
import pathlib

from sentence_transformers import CrossEncoder

from golden_folder import pack, unpacked

HERE = pathlib.Path(__file__).parent
QUERY = "where is the cat"
TEXTS = ["Shares fell.", "The cat sat on the mat.", "the dog and the man", "money"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "rerankers" / "modules.safetensors")
    golden = parser.parse_args().out
    with unpacked(golden) as folder:
        scores = CrossEncoder(str(folder), device="cpu").predict([(QUERY, text) for text in TEXTS])
        case = {"query": QUERY, "texts": TEXTS, "scores": [round(float(score), 5) for score in scores]}
        (folder / "case_texts.json").write_text(json.dumps(case, indent=1) + "\n")
        pack(folder, golden)


if __name__ == "__main__":
    main()
