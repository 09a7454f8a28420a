"""Records how sentence-transformers' MultiVectorEncoder ranks texts with the models for late interaction of `kinds`.

usage: record_late_ranking.py [--out FILE]     (FILE: rerankers/late_interaction.json beside this file)

FILE has a query, texts, and of each model the MaxSim of every text.
"""
import argparse
import json
import pathlib
import tempfile

import torch
from safetensors.torch import save_file
from sentence_transformers import MultiVectorEncoder

from golden_folder import unpack
from record_models import write_json
from record_rerank import CASES
from tiny_weights import weight

HERE = pathlib.Path(__file__).parent
QUERY, TEXTS = CASES["texts"]


def load(recorded):
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent) / "model"
        unpack(recorded, folder)
        for shapes in folder.rglob("shapes.json"):
            described = json.loads(shapes.read_text())
            save_file({name: torch.from_numpy(weight(name, tuple(shape), described["seed"]))
                       for name, shape in described["shapes"].items()}, shapes.parent / "model.safetensors",
                      metadata={"format": "pt"})
        return MultiVectorEncoder(str(folder), device="cpu")


def scores(recorded):
    model = load(recorded)
    query = model.encode_query([QUERY])
    documents = [model.encode_document([text])[0] for text in TEXTS]  # without padding
    return [float(model.similarity(query, [document])[0][0]) for document in documents]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "rerankers" / "late_interaction.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    models = {golden.stem: scores(golden) for golden in sorted((HERE / "kinds").glob("colbert_*.safetensors"))}
    for name, found in models.items():
        print(name, [round(x, 4) for x in found])
    write_json(options.out, {"query": QUERY, "texts": TEXTS, "models": models})


if __name__ == "__main__":
    main()
