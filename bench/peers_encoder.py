"""Compares the speed of `alate bench` with other engines on one encoder model, in alternating rounds on the same machine.

usage: peers_encoder.py --model FOLDER --work DIR [--alate PROGRAM] [--threads 2,1] [--rounds 7]
                        [--peers ort,torch,openvino,ctranslate2,ort-int8,openvino-bf16,ctranslate2-int8]
                        [--workloads 1x32,...] [--json FILE]

FOLDER is a Hugging Face folder of a BERT model (all-MiniLM-L6-v2); DIR keeps the files converted from it. Needs numpy,
torch, transformers, onnx and onnxruntime; the other engines only when asked for. README.md beside this file says how to
read the result.
"""
import argparse
import json
import pathlib
import platform
import sys
import tempfile
import time

import numpy as np

from workloads import AlateFailed, Workload, time_alate, workloads


# ---- inputs -------------------------------------------------------------------------------------------------------

def draw(workload, rng):
    """Batches of (ids, mask), each padded to its longest text; peers have no other way to take mixed lengths."""
    batches = []
    for start in range(0, len(workload.lengths), workload.batch):
        lengths = np.array(workload.lengths[start:start + workload.batch])
        mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
        batches.append((rng.integers(1000, 29000, mask.shape) * mask, mask))
    return batches


# ---- the files that the peers read --------------------------------------------------------------------------------

def load_bert(folder):
    import torch
    from transformers import BertModel
    return BertModel.from_pretrained(folder, dtype=torch.float32).eval()


def export_onnx(bert, path):
    """Writes the model in the operator sequence that BERT exports had of old, which ONNX Runtime's fusions look for;
    the attention operators of a current export would be left as they are, and run slower."""
    import torch

    heads = bert.config.num_attention_heads

    def split(x):
        return x.view(x.size(0), x.size(1), heads, x.size(2) // heads).permute(0, 2, 1, 3)

    def attend(block, x, bias):
        query, key, value = (split(project(x)) for project in (block.query, block.key, block.value))
        scores = torch.matmul(query, key.transpose(-1, -2)) / query.size(-1) ** 0.5
        mixed = torch.matmul(torch.softmax(scores + bias, dim=-1), value).permute(0, 2, 1, 3).contiguous()
        return mixed.view(mixed.size(0), mixed.size(1), x.size(2))

    class Classic(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, input_ids, attention_mask):
            bias = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * -10000.0
            x = self.bert.embeddings(input_ids=input_ids)
            for layer in self.bert.encoder.layer:
                output = layer.attention.output
                x = output.LayerNorm(output.dense(attend(layer.attention.self, x, bias)) + x)
                wide = layer.intermediate.intermediate_act_fn(layer.intermediate.dense(x))
                x = layer.output.LayerNorm(layer.output.dense(wide) + x)
            return x

    names = ["input_ids", "attention_mask", "last_hidden_state"]
    example = torch.full((2, 16), 1000), torch.ones(2, 16, dtype=torch.long)
    torch.onnx.export(Classic().eval(), example, str(path), input_names=names[:2], output_names=names[2:], opset_version=17,
                      dynamic_axes={name: {0: "texts", 1: "tokens"} for name in names}, dynamo=False)


class Files:
    """Converted once, kept in the work folder."""

    def __init__(self, model, work):
        self.model, self.work = model, work
        work.mkdir(parents=True, exist_ok=True)

    def plain_onnx(self):
        path = self.work / "model.onnx"
        if not path.exists():
            export_onnx(load_bert(self.model), path)
        return path

    def fused_onnx(self):
        path = self.work / "model.fused.onnx"
        if not path.exists():
            from onnxruntime.transformers import optimizer
            config = json.loads((self.model / "config.json").read_text())
            fused = optimizer.optimize_model(str(self.plain_onnx()), model_type="bert",
                                             num_heads=config["num_attention_heads"], hidden_size=config["hidden_size"])
            found = {name: count for name, count in fused.get_fused_operator_statistics().items() if count}
            if found.get("Attention", 0) != config["num_hidden_layers"]:
                sys.exit(f"peers_encoder: ONNX Runtime fused {found}, not every attention: its best speed would not be seen")
            fused.save_model_to_file(str(path))
        return path

    def integer_onnx(self):
        path = self.work / "model.int8.onnx"
        if not path.exists():
            from onnxruntime.quantization import QuantType, quantize_dynamic
            quantize_dynamic(str(self.fused_onnx()), str(path), weight_type=QuantType.QInt8, per_channel=True,
                             extra_options={"DefaultTensorType": 1})
        return path

    def ctranslate2(self):
        path = self.work / "ctranslate2"
        if not path.exists():
            from ctranslate2.converters import TransformersConverter
            TransformersConverter(str(self.model)).convert(str(path))
        return path


# ---- the peers: each is (files, threads) -> run(ids, mask) -> hidden states, in float32 ----------------------------

def onnxruntime_peer(files, threads, path=None):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path or files.fused_onnx()), options, providers=["CPUExecutionProvider"])
    names = [port.name for port in session.get_inputs()]
    return lambda ids, mask: session.run(None, dict(zip(names, (ids, mask))))[0]


def torch_peer(files, threads):
    import torch
    bert = load_bert(files.model)

    def run(ids, mask):
        torch.set_num_threads(threads)
        with torch.inference_mode():
            return bert(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state.numpy()
    return run


def openvino_peer(files, threads, precision="f32"):
    import openvino
    core = openvino.Core()
    request = core.compile_model(core.read_model(str(files.plain_onnx())), "CPU", {
        "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY",
    }).create_infer_request()
    return lambda ids, mask: request.infer([ids, mask])[0]


def ctranslate2_peer(files, threads, compute_type="float32"):
    import ctranslate2
    encoder = ctranslate2.Encoder(str(files.ctranslate2()), device="cpu", compute_type=compute_type, intra_threads=threads)

    def run(ids, mask):
        texts = [row[:count].tolist() for row, count in zip(ids, mask.sum(axis=1))]
        return np.array(encoder.forward_batch(texts).last_hidden_state)
    return run


PEERS = {
    "ort": onnxruntime_peer,
    "torch": torch_peer,
    "openvino": openvino_peer,
    "ctranslate2": ctranslate2_peer,
    "ort-int8": lambda files, threads: onnxruntime_peer(files, threads, files.integer_onnx()),
    "openvino-bf16": lambda files, threads: openvino_peer(files, threads, "bf16"),
    "ctranslate2-int8": lambda files, threads: ctranslate2_peer(files, threads, "int8_float32"),
}
LEAST_COSINE = {"ort-int8": 0.9, "openvino-bf16": 0.999, "ctranslate2-int8": 0.98}  # of the others: 0.9999


def check_peer(name, run, model):
    """A peer that computes something else is no peer: its mean vectors must point where the reference's do."""
    rng = np.random.default_rng(1)
    (ids, mask), = draw(Workload("check", [60, 25, 128], 1), rng)
    truth = torch_peer(Files(model, pathlib.Path(tempfile.gettempdir())), 1)(ids, mask)

    def mean(hidden):
        total = (np.asarray(hidden, np.float32) * mask[..., None]).sum(axis=1)
        return total / np.linalg.norm(total, axis=1, keepdims=True)
    cosine = float((mean(run(ids, mask)) * mean(truth)).sum(axis=1).min())
    if cosine < LEAST_COSINE.get(name, 0.9999):
        sys.exit(f"peers_encoder: {name} differs from transformers (cosine {cosine:.5f})")


def time_peer(run, workload, rng):
    """Tokens a second of one round: the median run, new ids each time, after one run that is not timed."""
    seconds = []
    for repeat in range(workload.repeats + 1):
        batches = draw(workload, rng)
        start = time.perf_counter()
        for ids, mask in batches:
            run(ids, mask)
        if repeat:
            seconds.append(time.perf_counter() - start)
    return workload.tokens() / float(np.median(seconds))


def engine(name, model, work):
    """A peer as bench/compare takes its engines: run(workload, threads) -> tokens a second."""
    files, rng, runs = Files(pathlib.Path(model), work), np.random.default_rng(8), {}

    def run(workload, threads):
        if threads not in runs:
            runs[threads] = PEERS[name](files, threads)
            check_peer(name, runs[threads], files.model)
        return time_peer(runs[threads], workload, rng)
    return run


# ---- rounds and report --------------------------------------------------------------------------------------------

def measure(engines, workload, rounds):
    """Tokens a second by engine and round. Every other round goes through the engines backwards, so that a slow change of
    the machine (heat, neighbours) does not favour who comes first."""
    speeds = {name: [] for name in engines}
    for number in range(rounds):
        for name in list(engines)[::-1 if number % 2 else 1]:
            time.sleep(0.05)  # lets the spinning threads of the engine before go to sleep
            speeds[name].append(engines[name](workload))
    return speeds


def summary(values):
    return {"median": float(np.median(values)), "min": float(min(values)), "max": float(max(values))}


def describe(workload, threads, speeds):
    row = {"workload": workload.name, "threads": threads, "tokens": workload.tokens(),
           "tokens_per_second": {name: summary(values) for name, values in speeds.items()}, "rounds": speeds}
    if "alate" in speeds:
        row["alate_over"] = {name: summary(np.array(speeds["alate"]) / np.array(values))
                             for name, values in speeds.items() if name != "alate"}
    line = f"{workload.name:13s} {threads} threads  "
    line += "  ".join(f"{name} {s['median']:.0f} [{s['min']:.0f}..{s['max']:.0f}]" for name, s in row["tokens_per_second"].items())
    for name, s in row.get("alate_over", {}).items():
        line += f"  alate/{name} {s['median']:.2f}x [{s['min']:.2f}..{s['max']:.2f}]"
    print(line, flush=True)
    return row


def machine():
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")] if pathlib.Path("/proc/cpuinfo").exists() else []
    return {"processor": names[0] if names else platform.processor(), "processors": len(names), "python": platform.python_version()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--alate", help="the program; without it only the peers are measured")
    parser.add_argument("--threads", default="2,1")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peers", default="ort")
    parser.add_argument("--workloads", default=",".join(workloads()))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    files, rng, rows = Files(options.model, options.work), np.random.default_rng(8), []
    for threads in map(int, options.threads.split(",")):
        engines = {}
        for name in options.peers.split(","):
            run = PEERS[name](files, threads)
            check_peer(name, run, options.model)
            engines[name] = lambda workload, run=run: time_peer(run, workload, rng)
        if options.alate:
            engines["alate"] = lambda workload: time_alate([options.alate], options.model, workload, threads)
        for name in options.workloads.split(","):
            workload = workloads()[name]
            rows.append(describe(workload, threads, measure(engines, workload, options.rounds)))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except AlateFailed as failure:
        sys.exit(f"peers_encoder: {failure}")
