"""Records the tokens that transformers' greedy search gives for tiny models of each causal architecture, in float32 with
plain attention and a cache.

usage: record_greedy.py [--out FILE]     (FILE: greedy.json beside this file)

The models are those of architectures/NAME (record_architectures.py), some with other settings. FILE has for each a list of
{"model", "config", "prompts", "ids"}: what config.json has besides, rows of token ids, and the tokens that follow each.
"""
import argparse
import json
import pathlib
import random
import tempfile

import torch
import transformers

from golden_folder import unpack
from tiny_weights import weight

HERE = pathlib.Path(__file__).parent
COUNT = 40
LENGTHS = (1, 2, 5, 9, 33, 40)  # pages of a cache have 32 tokens
LEAST_GAP = 1e-4  # between the two largest logits
MODELS = [("llama_causal_lm", {}), ("mistral_causal_lm", {}), ("mistral_causal_lm", {"sliding_window": 7}),
          ("qwen2_causal_lm", {}), ("qwen3_causal_lm", {}), ("gemma3_causal_lm", {}),
          ("modernbert_decoder_causal_lm", {})]


def model_of(name, settings):
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent)
        unpack(HERE / "architectures" / f"{name}.safetensors", folder)
        shapes = json.loads((folder / "shapes.json").read_text())
        known = json.loads((folder / "config.json").read_text())
        config = transformers.AutoConfig.for_model(**{**known, "max_position_embeddings": 128, **settings})
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    tied = getattr(model, "_tied_weights_keys", None) or {}
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            key = tied.get(key, key)
            assert list(parameter.shape) == shapes["shapes"][key], key
            parameter.copy_(torch.from_numpy(weight(key, tuple(parameter.shape), shapes["seed"])))
    model.tie_weights()
    return model


def continued(model, prompt):
    """The tokens by a cache, which must be those without one; None where two logits are nearly the same."""
    ids, cache, given, found = list(prompt), None, torch.tensor([prompt]), []
    for _ in range(COUNT):
        with torch.no_grad():
            step = model(given, past_key_values=cache, use_cache=True)
            whole = model(torch.tensor([ids]), use_cache=False).logits[0, -1]
        cache, logits = step.past_key_values, step.logits[0, -1]
        best = torch.topk(logits, 2)
        assert (logits - whole).abs().max() < LEAST_GAP / 2
        if best.values[0] - best.values[1] < LEAST_GAP:
            return None
        found.append(int(best.indices[0]))
        ids.append(found[-1])
        given = torch.tensor([[found[-1]]])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "greedy.json")
    recorded = []
    for name, settings in MODELS:
        model, draw = model_of(name, settings), random.Random(len(recorded))
        prompts, ids = [], []
        for length in LENGTHS:
            found = None
            while found is None:
                prompt = [draw.randrange(model.config.vocab_size) for _ in range(length)]
                found = continued(model, prompt)
            prompts.append(prompt)
            ids.append(found)
        assert len({tuple(row[-20:]) for row in ids}) > 1, name
        recorded.append({"model": name, "config": {"max_position_embeddings": 128, **settings}, "prompts": prompts, "ids": ids})
        print(name, settings, [len(set(row)) for row in ids])
    lines = ",\n".join(json.dumps(each) for each in recorded)
    parser.parse_args().out.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
