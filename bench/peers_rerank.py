"""Compares how fast `alate serve` and ONNX Runtime rerank: a query with 100 texts of mixed lengths, from texts to scores.

usage: peers_rerank.py --alate PROGRAM --tokenizer FOLDER --work DIR [--threads 1] [--rounds 7] [--json FILE]

The model has the shape of cross-encoder/ms-marco-MiniLM-L6-v2 and random weights; FOLDER has the tokenizer.json of BERT's
English vocabulary (all-MiniLM-L6-v2). Both compute in int8: alate by --dtype int8, ONNX Runtime by its dynamic
quantization, as exported ("ort-int8") and with its own fusions for BERT ("ort-int8-fused"). Its pairs are sorted by length
and padded in batches of 32, as sentence-transformers does. Needs numpy, tokenizers, torch, transformers, onnx and
onnxruntime. Peers take turns in every round; README.md beside this file says how to read the ratios.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import urllib.request

import numpy as np

TEXTS = 100
BATCH = 32
SHAPE = dict(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
             max_position_embeddings=512, type_vocab_size=2, num_labels=1)


def draw_texts():
    """Texts of 8 to 256 words, logarithmically normal like mixed_lengths.txt, of the words of texts/english.txt."""
    here = pathlib.Path(__file__).parent
    words = (here / "texts" / "english.txt").read_text().split()
    rng = np.random.default_rng(11)
    texts = []
    for length in np.clip(rng.lognormal(3.6, 0.8, TEXTS), 8, 256).astype(int):
        start = rng.integers(0, len(words) - length)
        texts.append(" ".join(words[start:start + length]))
    return " ".join(words[40:48]), texts


def write_model(folder, tokenizer):
    """The folder of the cross-encoder, and the model itself."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification
    torch.manual_seed(3)
    model = BertForSequenceClassification(BertConfig(**SHAPE)).eval()
    if not (folder / "config.json").exists():
        model.save_pretrained(folder)
        for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
            if (tokenizer / name).exists():
                (folder / name).write_bytes((tokenizer / name).read_bytes())
    return BertForSequenceClassification.from_pretrained(folder).eval()


def export(model, work):
    """model.onnx by torch's exporter, its fused form, and both in int8."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers import optimizer
    plain = work / "model.onnx"
    if not plain.exists():
        names = ["input_ids", "attention_mask", "token_type_ids"]
        example = tuple(torch.ones(2, 16, dtype=torch.int64) for _ in names)
        model.config._attn_implementation = "eager"
        torch.onnx.export(model, example, str(plain), input_names=names, output_names=["logits"], opset_version=17,
                          dynamic_axes={name: {0: "batch", 1: "length"} for name in names}, dynamo=False)
    made = {}
    for name, source in (("ort-int8", plain), ("ort-int8-fused", work / "model.fused.onnx")):
        if not source.exists():
            fused = optimizer.optimize_model(str(plain), model_type="bert", num_heads=SHAPE["num_attention_heads"],
                                             hidden_size=SHAPE["hidden_size"])
            print("fused:", {key: count for key, count in fused.get_fused_operator_statistics().items() if count})
            fused.save_model_to_file(str(source))
        made[name] = work / f"{name}.onnx"
        if not made[name].exists():
            quantize_dynamic(str(source), str(made[name]), weight_type=QuantType.QInt8,
                             extra_options={"DefaultTensorType": 1})
    return made


def onnxruntime_peer(path, folder, threads):
    import onnxruntime
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(512, strategy="longest_first")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def rank(query, texts):
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        scores = np.empty(len(texts), np.float32)
        for start in range(0, len(order), BATCH):
            part = order[start:start + BATCH]
            tokenizer.enable_padding()
            rows = tokenizer.encode_batch([(query, texts[i]) for i in part])
            feeds = {name: np.array([getattr(row, field) for row in rows], np.int64)
                     for name, field in (("input_ids", "ids"), ("attention_mask", "attention_mask"),
                                         ("token_type_ids", "type_ids"))}
            scores[part] = session.run(None, feeds)[0][:, 0]
        return scores
    return rank


class AlatePeer:
    """`alate serve` with the model, and one kept connection a request."""

    def __init__(self, program, folder, threads):
        command = [program, "serve", str(folder), "--port", "0", "--threads", str(threads), "--dtype", "int8"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={k: v for k, v in os.environ.items() if not k.startswith("ALATE_")})
        for line in self.process.stdout:
            found = re.search(r"http://[\w.\-]+:\d+", line)
            if found:
                self.url = found.group(0) + "/api/rerank"
                return
        sys.exit("peers_rerank: the server did not start")

    def __call__(self, query, texts):
        body = json.dumps({"query": query, "prompts": texts, "raw_scores": True}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            return np.array(json.load(answer)["scores"], np.float32)

    def end(self):
        self.process.terminate()
        self.process.wait(60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alate", required=True)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false" if options.threads == 1 else "true"
    folder = options.work / "models" / "bench" / "reranker"
    folder.mkdir(parents=True, exist_ok=True)
    files = export(write_model(folder, options.tokenizer), options.work)
    query, texts = draw_texts()
    alate = AlatePeer(options.alate, folder, options.threads)
    try:
        peers = {"alate": alate} | {name: onnxruntime_peer(path, folder, options.threads) for name, path in files.items()}
        scores = {name: rank(query, texts) for name, rank in peers.items()}  # warms up
        for name, found in scores.items():
            print(f"{name}: correlation with alate {np.corrcoef(found, scores['alate'])[0, 1]:.4f}")
        seconds = {name: [] for name in peers}
        for number in range(options.rounds):
            for name in sorted(peers, reverse=number % 2 == 1):
                begin = time.perf_counter()
                peers[name](query, texts)
                seconds[name].append(time.perf_counter() - begin)
    finally:
        alate.end()
    report = {"threads": options.threads, "seconds": seconds, "ratios": {}}
    for name, found in seconds.items():
        ratios = sorted(peer / own for peer, own in zip(found, seconds["alate"]))
        report["ratios"][name] = ratios
        print(f"{name:16} {statistics.median(found) * 1e3:8.1f} ms   alate/{name} "
              f"{statistics.median(ratios):.2f} [{ratios[0]:.2f}..{ratios[-1]:.2f}]")
    if options.json:
        options.json.write_text(json.dumps(report))


if __name__ == "__main__":
    main()
