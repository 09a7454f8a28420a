"""Records the tokens that transformers' greedy search gives for tiny models of each causal architecture, in float32 with
plain attention and a cache.

usage: record_greedy.py [--only NAME,...] [--out FILE]     (FILE: greedy.json beside this file; --only keeps the others in it)

The models are those of architectures/NAME (record_architectures.py), some with other settings, and those of
greedy_models.py. FILE has for each a list of {"model", "config", "prompts", "ids"}: what config.json has besides, rows
of token ids, and the tokens that follow each. Of the second kind "config" is all of config.json, and "shapes" and "seed"
are as in shapes.json, by the names that the weights are stored under.
"""
import argparse
import copy
import json
import pathlib
import random
import tempfile

import torch
import transformers

from golden_folder import unpack
from greedy_models import MODELS as WHOLE_MODELS
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


def stored_name(name, prefixes):
    for now, then in prefixes:
        if name.startswith(now):
            return then + name[len(now):]
    return name


def whole_model(recipe, seed):
    """The model with weights by the names of its file, and the extents of these."""
    config = transformers.AutoConfig.for_model(**copy.deepcopy(recipe.config))
    config._attn_implementation = "eager"
    model = getattr(transformers, recipe.architecture)(config).eval()
    tied, shapes = getattr(model, "all_tied_weights_keys", {}), {}
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if not any(part in key for part in ("vision_tower", "multi_modal_projector")):
                key = stored_name(tied.get(key, key), recipe.prefixes)
                parameter.copy_(torch.from_numpy(weight(key, tuple(parameter.shape), seed)))
                shapes[key] = list(parameter.shape)
    model.tie_weights()
    return model, shapes


def check_weights_are_seen(model, name):
    """No parameter may be left out unseen."""
    ids = torch.arange(3, 33).unsqueeze(0)
    with torch.no_grad():
        truth = model(ids, use_cache=False).logits
        for key, parameter in model.named_parameters():
            if "vision_tower" in key or "multi_modal_projector" in key or key.endswith("k_proj.bias"):
                continue
            kept = parameter.clone()
            parameter.fill_(1.0 if key.endswith("weight") and parameter.dim() == 1 else 0.0)
            moved = (model(ids, use_cache=False).logits - truth).abs().max()
            assert moved > 3e-4, f"{name}: without {key} the logits move by {moved} only"
            parameter.copy_(kept)


def continued(model, prompt, has_cache=True):
    """The tokens by a cache, which must be those without one; None where two logits are nearly the same. Where a longer
    text has other rotary angles, transformers' generate() begins anew, as here without `has_cache`."""
    ids, cache, given, found = list(prompt), None, torch.tensor([prompt]), []
    for _ in range(COUNT):
        with torch.no_grad():
            logits = model(torch.tensor([ids]), use_cache=False).logits[0, -1]
            if has_cache:
                step = model(given, past_key_values=cache, use_cache=True)
                cache = step.past_key_values
                assert (step.logits[0, -1] - logits).abs().max() < LEAST_GAP / 2
        best = torch.topk(logits, 2)
        if best.values[0] - best.values[1] < LEAST_GAP:
            return None
        found.append(int(best.indices[0]))
        ids.append(found[-1])
        given = torch.tensor([[found[-1]]])
    return found


def record(model, draw, has_cache=True):
    prompts, ids = [], []
    for length in LENGTHS:
        found = None
        while found is None:
            prompt = [draw.randrange(model.config.get_text_config().vocab_size) for _ in range(length)]
            found = continued(model, prompt, has_cache)
        prompts.append(prompt)
        ids.append(found)
    assert len({tuple(row[-20:]) for row in ids}) > 1
    return {"prompts": prompts, "ids": ids}


def recipes():
    """Of each model its name and what records it, given a number of its own."""
    def of_architecture(name, settings):
        return lambda number: {"model": name, "config": {"max_position_embeddings": 128, **settings},
                               **record(model_of(name, settings), random.Random(number))}

    def of_recipe(name, recipe):
        def recorded(number):
            seed = 900 + number
            model, shapes = whole_model(recipe, seed)
            check_weights_are_seen(model, name)
            config = model.config.to_diff_dict() if recipe.is_saved else recipe.config
            return {"model": name, "config": {**config, "architectures": [recipe.architecture]}, "seed": seed, "shapes": shapes,
                    **record(model, random.Random(seed), recipe.has_cache)}
        return recorded

    return [(name, of_architecture(name, settings)) for name, settings in MODELS] + [(name, of_recipe(name, recipe)) for name, recipe in WHOLE_MODELS.items()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "greedy.json")
    options = parser.parse_args()
    kept = json.loads(options.out.read_text()) if options.only else []
    recorded = []
    for number, (name, recipe) in enumerate(recipes()):
        is_kept = options.only and name not in options.only.split(",")
        recorded.append(kept[number] if is_kept else recipe(number))
        assert recorded[-1]["model"] == name
        print(name, [len(set(row)) for row in recorded[-1]["ids"]])
    lines = ",\n".join(json.dumps(each) for each in recorded)
    options.out.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
