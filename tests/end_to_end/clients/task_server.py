"""A server of tiny models for further tasks, and what the commands for single runs say about the same texts."""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from running_server import RunningServer

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))

from golden_folder import golden_file, unpacked  # noqa: E402
from tiny_weights import weight  # noqa: E402

TOKENIZER = GOLDEN / "models" / "st_mean" / "tokenizer.json"
MODELS = {"tiny/reranker": "rerankers/bert", "tiny/nli": "classifiers/nli"}


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        content = values.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_model(recorded, folder):
    """A model that the scripts of tests/golden recorded, with its weights."""
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer_config.json"):
        shutil.copy(recorded / name, folder / name)
    shutil.copy(TOKENIZER, folder / "tokenizer.json")
    described = json.loads((recorded / "shapes.json").read_text())
    write_safetensors(folder / "model.safetensors", {
        name: weight(name, tuple(shape), described["seed"]) for name, shape in described["shapes"].items()})


class TaskServer(RunningServer):
    """`alate serve` with a reranker, tiny/reranker, and a model of natural language inference, tiny/nli."""

    def __init__(self, program):
        self.parent = tempfile.TemporaryDirectory()
        models_dir = pathlib.Path(self.parent.name)
        for name, recorded in MODELS.items():
            with unpacked(golden_file(GOLDEN / recorded)) as files:
                write_model(files, models_dir / name)
        super().__init__(program, models_dir / "tiny" / "reranker")

    def __exit__(self, *what):
        super().__exit__(*what)
        self.parent.cleanup()

    def run(self, verb, model, texts, *options):
        """The JSON that a command writes for the texts."""
        folder = model if model.startswith("builtin:") else str(self.models_dir / model)
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        done = subprocess.run([self.program, verb, folder, "--input", "jsonl", "--output", "json", "--quiet", *options],
                              input=lines, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def scores(self, query, texts, *options):
        return self.run("rerank", "tiny/reranker", texts, "--query", query, *options)["scores"]

    def labels(self, texts, *options):
        found = self.run("classify", "tiny/nli", texts, *options)["classifications"]
        return [[(one["label"], one["score"]) for one in text] for text in found]
