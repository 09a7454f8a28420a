"""Compares the speed of `alate bench` with ONNX Runtime and torch on every architecture, at real widths with random weights.

usage: peers_architectures.py --work DIR --alate PROGRAM [--only bert,t5,...] [--layers N] [--threads 1] [--rounds 5]
                              [--peers ort,torch] [--workloads 1x128,mixed] [--json FILE]

DIR keeps the models and the ONNX files exported from them. Needs numpy, torch, transformers, onnx, onnxscript and
onnxruntime. All compute in float32; README.md beside this file describes the workloads and how to read the result.
"""
import argparse
import json
import pathlib
import sys

import numpy as np
import torch
import transformers

from peers_encoder import describe, machine, measure, time_peer
from workloads import AlateFailed, time_alate, workloads

BASE = dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072)
SMALL = dict(hidden_size=384, num_hidden_layers=12, num_attention_heads=12, intermediate_size=1536)
V3 = dict(relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"],
          max_relative_positions=-1, position_biased_input=False, type_vocab_size=0, layer_norm_eps=1e-7)
# An architecture: the class and its settings, those of a published model but for the vocabulary.
MODELS = {
    "bert": ("BertModel", SMALL),
    "roberta": ("RobertaModel", dict(BASE, max_position_embeddings=514)),
    "distilbert": ("DistilBertModel", dict(dim=768, n_layers=6, n_heads=12, hidden_dim=3072)),
    "electra": ("ElectraModel", dict(hidden_size=256, embedding_size=128, num_hidden_layers=12, num_attention_heads=4, intermediate_size=1024)),
    "albert": ("AlbertModel", dict(BASE, embedding_size=128)),
    "mpnet": ("MPNetModel", dict(BASE, max_position_embeddings=514)),
    "deberta": ("DebertaModel", dict(BASE, relative_attention=True, pos_att_type=["c2p", "p2c"], position_biased_input=False, type_vocab_size=0)),
    "deberta-v2": ("DebertaV2Model", dict(BASE, **V3)),
    "modernbert": ("ModernBertModel", dict(hidden_size=768, num_hidden_layers=22, num_attention_heads=12, intermediate_size=1152)),
    "nomic_bert": ("NomicBertModel", BASE),
    "gte": ("GteModel", BASE),
    "jina_embeddings_v3": ("JinaEmbeddingsV3Model", BASE),
    "eurobert": ("EuroBertModel", dict(BASE, num_key_value_heads=12)),
    "t5": ("T5EncoderModel", dict(d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12)),
    "llama": ("LlamaModel", dict(hidden_size=576, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3, intermediate_size=1536)),
    "qwen2": ("Qwen2Model", dict(hidden_size=896, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2, intermediate_size=4864)),
    "qwen3": ("Qwen3Model", dict(hidden_size=1024, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8, head_dim=128,
                                 intermediate_size=3072)),
    "gemma3": ("Gemma3TextModel", dict(hidden_size=768, num_hidden_layers=24, num_attention_heads=3, num_key_value_heads=1, head_dim=256,
                                       intermediate_size=1152, use_bidirectional_attention=True)),
}
ONLY_EAGER = ("deberta", "deberta-v2", "mpnet")  # whose classes have no other attention
LAYERS = ("num_hidden_layers", "n_layers", "num_layers")
VOCABULARY = 30522


def write_tokenizer(folder):
    """Words w0, w1, …: `alate bench` draws ids, but a model has a tokenizer."""
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "unk_token": "w0", "vocab": {f"w{i}": i for i in range(VOCABULARY)}}}))


def make_model(name, layers, folder):
    family, settings = MODELS[name]
    settings = {**settings, **{key: min(settings[key], layers) for key in LAYERS if layers and key in settings}}
    model_class = getattr(transformers, family)
    config = model_class.config_class(**settings, vocab_size=VOCABULARY, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    torch.manual_seed(1)
    model = model_class(config).eval()
    if not (folder / "model.safetensors").exists():
        model.save_pretrained(folder)
        config.save_pretrained(folder)
        write_tokenizer(folder)
    return model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager" if name in ONLY_EAGER else "sdpa").eval()


class HiddenState(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def export_onnx(model, path):
    names = ["input_ids", "attention_mask"]
    example = torch.full((2, 16), 1000), torch.ones(2, 16, dtype=torch.long)
    axes = {name: {0: "texts", 1: "tokens"} for name in [*names, "last_hidden_state"]}
    shapes = [{0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}] * 2
    try:
        torch.onnx.export(HiddenState(model).eval(), example, str(path), input_names=names, output_names=["last_hidden_state"],
                          dynamo=True, dynamic_shapes=shapes, external_data=False)
    except Exception as error:  # noqa: BLE001: exporters fail in many ways
        print(f"  exporting once more in the older way: {str(error).splitlines()[0][:120]}", flush=True)
        torch.onnx.export(HiddenState(model).eval(), example, str(path), input_names=names, output_names=["last_hidden_state"],
                          opset_version=17, dynamic_axes=axes, dynamo=False)


def onnxruntime_peer(model, path, threads):
    import onnxruntime
    if not path.exists():
        with torch.inference_mode():
            export_onnx(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda ids, mask: session.run(None, {"input_ids": ids, "attention_mask": mask})[0]


def torch_peer(model, _path, threads):
    def run(ids, mask):
        torch.set_num_threads(threads)
        with torch.inference_mode():
            return model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state.numpy()
    return run


PEERS = {"ort": onnxruntime_peer, "torch": torch_peer}


def differs(run, truth):
    """Whether a peer computes something else than transformers, of a batch with padding."""
    ids = np.random.default_rng(1).integers(1000, 29000, (2, 40))
    mask = np.ones_like(ids)
    mask[1, 25:] = 0
    one, other = (np.asarray(f(ids * mask, mask))[mask == 1] for f in (run, truth))
    return float(np.abs(one - other).max() / np.abs(other).max()) > 1e-2


def measure_architecture(name, options):
    folder = options.work / f"{name}-{options.layers or 'all'}"
    model, engines, rng, rows = make_model(name, options.layers, folder), {}, np.random.default_rng(8), []
    for threads in map(int, options.threads.split(",")):
        truth = torch_peer(model, None, threads)
        for peer in options.peers.split(","):
            try:
                run = PEERS[peer](model, folder / "model.onnx", threads)
                wrong = differs(run, truth)
            except Exception as error:  # noqa: BLE001: exporters and runtimes fail in many ways
                print(f"  {peer} does not run it: {str(error).splitlines()[0][:160]}", flush=True)
                continue
            if wrong:
                print(f"  {peer} computes something else and is left out", flush=True)
                continue
            engines[peer] = lambda workload, run=run: time_peer(run, workload, rng)
        engines["alate"] = lambda workload: time_alate([options.alate], folder, workload, threads)
        for workload in options.workloads.split(","):
            rows.append({"architecture": name, **describe(workloads()[workload], threads,
                                                          measure(engines, workloads()[workload], options.rounds))})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--alate", required=True)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--layers", type=int, default=0, help="the most layers of a model (all)")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="ort,torch")
    parser.add_argument("--workloads", default="1x128,mixed")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    for name in options.only.split(","):
        print(name, flush=True)
        rows += measure_architecture(name, options)
        if options.json:
            options.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except AlateFailed as failure:
        sys.exit(f"peers_architectures: {failure}")
