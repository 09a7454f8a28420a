"""Records what transformers computes for small BERT models, in float32 with plain attention.

usage: record_models.py [--only NAME,...] [--out DIR]     (DIR: the folder `models` beside this file)

Each folder DIR/NAME is a model as a user would have it, and case_*.safetensors with inputs and outputs by the names of
the transformers forward. README.md beside this file says what is in which.
"""
import argparse
import copy
import json
import pathlib
import shutil

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)
from transformers.activations import ACT2CLS

from tiny_bert import fill, tiny_config

# prelu and xielu carry weights of their own, which no BERT checkpoint stores.
ACTIVATIONS = sorted(set(ACT2CLS) - {"prelu", "xielu"})
FORMS = (BertModel, BertForSequenceClassification, BertForTokenClassification, BertForMaskedLM)


# ---- inputs -------------------------------------------------------------------------------------------------------

def draw_inputs(config, mask_rows, seed, drop=(), dtype=torch.int64):
    """Random ids and types under the given mask rows (equal length). Masked positions hold random ids too, not only
    the padding id: they must not be seen."""
    draw = torch.Generator().manual_seed(seed)
    mask = torch.tensor(mask_rows, dtype=dtype)
    inputs = {
        "input_ids": torch.randint(0, config.vocab_size, mask.shape, generator=draw).to(dtype),
        "attention_mask": mask,
        "token_type_ids": torch.randint(0, getattr(config, "type_vocab_size", 1) or 1, mask.shape, generator=draw).to(dtype),
    }
    return {name: value for name, value in inputs.items() if name not in drop}


def right_padded(lengths, width=None):
    width = width or max(lengths)
    return [[1] * n + [0] * (width - n) for n in lengths]


def left_padded(lengths):
    return [row[::-1] for row in right_padded(lengths)]


HOLES = [
    [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1],
    [0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0],
    [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
]
ZERO_ROWS = [[0] * 7, [1] * 7, [0] * 7, [1, 1, 1, 0, 0, 0, 0], [0] * 7]


def full_cases(config):
    """Every mask pattern and every way to leave an input out."""
    return {
        "mixed_lengths": draw_inputs(config, right_padded([17, 1, 40, 2, 33, 8, 40, 5]), 1),
        "left_padded": draw_inputs(config, left_padded([9, 3, 1, 12]), 2),
        "holes": draw_inputs(config, HOLES, 3),
        "zero_rows": draw_inputs(config, ZERO_ROWS, 4),
        "only_zero_rows": draw_inputs(config, [[0] * 3] * 2, 5),
        "no_mask": draw_inputs(config, [[1] * 9] * 3, 6, drop=("attention_mask",)),
        "no_types": draw_inputs(config, right_padded([6, 11]), 7, drop=("token_type_ids",)),
        "ids_only": draw_inputs(config, [[1] * 13] * 2, 8, drop=("attention_mask", "token_type_ids")),
        "one_token": draw_inputs(config, [[1]], 9),
        "int32": draw_inputs(config, right_padded([4, 10, 7]), 10, dtype=torch.int32),
    }


def short_cases(config):
    return {
        "mixed_lengths": draw_inputs(config, right_padded([5, 1, 12, 8]), 11),
        "holes": draw_inputs(config, HOLES, 12),
    }


def one_case(config):
    return {"mixed_lengths": draw_inputs(config, right_padded([14, 1, 10, 16]), 13)}


def long_case(config):
    return {"mixed_lengths": draw_inputs(config, right_padded([1, 511, 128, 512, 33]), 14)}


# ---- the reference ------------------------------------------------------------------------------------------------

def reference(model, inputs):
    """The model's outputs, with zeros at positions whose mask is 0 and in rows without a visible token."""
    with torch.no_grad():
        result = model(**{name: value.long() for name, value in inputs.items()})
    ids = inputs["input_ids"]
    mask = inputs.get("attention_mask", torch.ones_like(ids)).bool()
    outputs = {}
    for name in ("last_hidden_state", "pooler_output", "logits"):
        value = getattr(result, name, None)
        if value is None:
            continue
        per_token = value.dim() == 3
        visible = mask if per_token else mask.any(dim=1)
        outputs[name] = torch.where(visible.unsqueeze(-1), value, torch.zeros(())).contiguous()
        assert torch.isfinite(outputs[name]).all()
    return outputs


def distance(left, right):
    """Largest difference over all outputs, as a part of the output's largest value."""
    return max(float((left[n] - right[n]).abs().max() / left[n].abs().max().clamp(min=1e-9)) for n in left)


def check_rounding(model, inputs):
    """float32 against float64: the recorded numbers must be far better than the 1e-5 that tests ask for."""
    exact = reference(copy.deepcopy(model).double(), inputs)
    noise = distance(exact, reference(model, inputs))
    assert noise < 3e-6, f"float32 noise {noise}"


def check_every_tensor_shows(model, inputs, name):
    """A tensor left out (zero; one for a norm's scale) must move the output well beyond the tolerance of the tests."""
    truth = reference(model, inputs)
    for key, _ in model.named_parameters():
        # A bias on keys adds the same score to all keys of a query; softmax removes it.
        if key.endswith("key.bias"):
            continue
        broken = copy.deepcopy(model)
        with torch.no_grad():
            broken.get_parameter(key).fill_(1.0 if key.endswith("LayerNorm.weight") else 0.0)
        moved = distance(truth, reference(broken, inputs))
        assert moved > 3e-4, f"{name}: without {key} the output moves by {moved} only"


# ---- folders ------------------------------------------------------------------------------------------------------

def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def edit_config(folder, drop=(), **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config.update(changes)
    write_json(path, {key: value for key, value in config.items() if key not in drop})


def rename_tensors(folder, rename, extra=None):
    """Rewrites model.safetensors with the tensor names that `rename` gives; None leaves a tensor out."""
    path = folder / "model.safetensors"
    tensors = {rename(name): value for name, value in load_file(path).items()}
    tensors.pop(None, None)
    tensors.update(extra or {})
    save_file(tensors, path, metadata={"format": "pt"})


def old_names(folder):
    """A checkpoint as the first BERT conversions wrote it: gamma and beta, a prefix, the position buffer."""
    def rename(name):
        return "bert." + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    rename_tensors(folder, rename, {"bert.embeddings.position_ids": torch.arange(64).unsqueeze(0)})
    edit_config(folder, drop=("dtype", "tie_word_embeddings", "is_decoder", "add_cross_attention"),
                gradient_checkpointing=False, position_embedding_type="absolute")


def as_pytorch_shards(folder):
    """An old checkpoint of torch.save in two files, one of them as torch wrote before 1.6; a tensor is a view."""
    old_names(folder)
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    key = "bert.encoder.layer.0.attention.self.query.weight"
    tensors[key] = tensors[key].t().contiguous().t()
    halves = {"pytorch_model-00001-of-00002.bin": names[:len(names) // 2],
              "pytorch_model-00002-of-00002.bin": names[len(names) // 2:]}
    for file, part in halves.items():
        torch.save({name: tensors[name] for name in part}, folder / file,
                   _use_new_zipfile_serialization=file.startswith("pytorch_model-00001"))
    write_json(folder / "pytorch_model.bin.index.json",
               {"metadata": {}, "weight_map": {name: file for file, part in halves.items() for name in part}})


def without_pooler(folder):
    rename_tensors(folder, lambda name: None if name.startswith("pooler.") else name)


def as_base_model(folder):
    """The checkpoint of a head whose configuration asks for the base model: prefix `bert.`, head tensors unused."""
    edit_config(folder, architectures=["BertModel"])


class Recipe:
    """How one folder is made: a configuration, a head, how the weights are stored, which cases are recorded."""

    def __init__(self, form=BertModel, cases=short_cases, seed=1, finish=None, dtype=None, shard=None, scale=None,
                 read_as=None, pooler=True, sure=True, **config):
        self.form, self.cases, self.seed, self.finish, self.dtype = form, cases, seed, finish, dtype
        self.shard, self.scale, self.read_as, self.pooler, self.sure = shard, scale or {}, read_as or form, pooler, sure
        self.config = config

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        model = fill(self.form(tiny_config(**self.config)), self.seed, **self.scale)
        if self.dtype:
            model = model.to(self.dtype)
        model.save_pretrained(folder, **({"max_shard_size": self.shard} if self.shard else {}))
        if self.finish:
            self.finish(folder)
        for path in folder.iterdir():
            path.chmod(0o644)

    def read(self, folder):
        extra = {} if self.pooler else {"add_pooling_layer": False}
        model, info = self.read_as.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                                   output_loading_info=True, **extra)
        assert not info["missing_keys"] and not info["mismatched_keys"], info
        return model.eval()

    def record(self, folder):
        self.write(folder)
        model = self.read(folder)
        cases = self.cases(model.config)
        for name, inputs in cases.items():
            outputs = reference(model, inputs)
            if any(value.abs().max() > 0 for value in outputs.values()):
                check_rounding(model, inputs)
            save_file({**inputs, **outputs}, folder / f"case_{name}.safetensors")
        if self.sure:
            check_every_tensor_shows(model, cases["mixed_lengths"], folder.name)
        return cases


def activation(name):
    # From a narrow to a wide spread, so that both the bend at zero and the clipped and saturated ends are met.
    return Recipe(cases=one_case, hidden_act=name, vocab_size=29, hidden_size=12, intermediate_size=16,
                  max_position_embeddings=16, scale={"intermediate_scales": (0.7, 6.0)}, seed=5, sure=False)


def three_labels():
    return {"id2label": {0: "low", 1: "middle", 2: "high"}, "label2id": {"low": 0, "middle": 1, "high": 2}}


RECIPES = {
    "odd_sizes": Recipe(cases=full_cases, vocab_size=99, hidden_size=36, num_attention_heads=3, intermediate_size=37),
    "two_layers": Recipe(cases=full_cases, vocab_size=99, hidden_size=32, num_attention_heads=4, num_hidden_layers=2,
                         intermediate_size=64, hidden_act="gelu_new", seed=2),
    "long_positions": Recipe(cases=long_case, hidden_size=12, num_attention_heads=2, max_position_embeddings=512),
    "one_head": Recipe(num_attention_heads=1, hidden_size=5, intermediate_size=7, vocab_size=11),
    "no_pooler": Recipe(finish=without_pooler, pooler=False, seed=3),
    "prefixed": Recipe(form=BertForSequenceClassification, finish=as_base_model, read_as=BertModel, seed=4),
    "prefixed_no_pooler": Recipe(form=BertForMaskedLM, finish=as_base_model, read_as=BertModel, pooler=False, seed=6),
    "old_names": Recipe(finish=old_names, seed=7),
    "stored_f16": Recipe(dtype=torch.float16, seed=8),
    "stored_bf16": Recipe(dtype=torch.bfloat16, seed=9),
    "sharded": Recipe(num_hidden_layers=2, shard="6KB", seed=10),
    "pytorch_shards": Recipe(finish=as_pytorch_shards, seed=17, hidden_size=8, num_attention_heads=2),
    # Sums of embeddings with a variance near epsilon, where its value decides.
    "norm_epsilon": Recipe(layer_norm_eps=1e-5, scale={"embedding_scale": 2e-3}, seed=11),
    "one_type": Recipe(type_vocab_size=1, seed=12),
    "three_types": Recipe(type_vocab_size=3, seed=13),
    "sequence_classification": Recipe(form=BertForSequenceClassification, seed=14, cases=full_cases, **three_labels()),
    "token_classification": Recipe(form=BertForTokenClassification, seed=15, num_labels=5),
    "masked_lm": Recipe(form=BertForMaskedLM, seed=16),
}
RECIPES.update({f"act_{name}": activation(name) for name in ACTIVATIONS})


def check_choices_show(out):
    """Folders that differ by one setting must differ in their numbers, or a reader that ignores it would pass."""
    same = [{"gelu", "gelu_python"}, {"gelu_accurate", "gelu_fast", "gelu_new", "gelu_python_tanh", "gelu_pytorch_tanh"},
            {"silu", "swish"}]
    seen = {name: load_file(out / f"act_{name}" / "case_mixed_lengths.safetensors")["last_hidden_state"]
            for name in ACTIVATIONS if (out / f"act_{name}").exists()}
    for left in seen:
        for right in seen:
            if left < right and not any({left, right} <= group for group in same):
                moved = distance({"x": seen[left]}, {"x": seen[right]})
                assert moved > 5e-5, f"{left} and {right} differ by {moved} only"
    for name, wrong in {"norm_epsilon": 1e-12}.items():
        recipe, folder = RECIPES[name], out / name
        model = recipe.read(folder)
        inputs = recipe.cases(model.config)["mixed_lengths"]
        truth = reference(model, inputs)
        for module in model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.eps = wrong
        assert distance(truth, reference(model, inputs)) > 1e-2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "models")
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = [name for name in options.only.split(",") if name] or list(RECIPES)
    for name in chosen:
        cases = RECIPES[name].record(options.out / name)
        print(f"{name}: {', '.join(cases)}")
    if len(chosen) == len(RECIPES):
        check_choices_show(options.out)


if __name__ == "__main__":
    main()
