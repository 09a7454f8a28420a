"""Records embeddings of models with an adapter for each task.

usage: record_adapters.py [--out DIR]     (DIR: the folder `modules` beside this file; needs the package peft)

DIR/adapters_of_code is in the spelling of Jina's own code (config.json's `lora_adaptations`): its adapters are in the
model's file, which tiny_weights.py makes from shapes.json. What they do is written here from that code's formula, over
transformers' JinaEmbeddingsV3Model. DIR/adapters_of_peft is transformers' spelling, with adapters that peft saved and
computes. embed_*.json and .safetensors are as in record_modules.py.
"""
import argparse
import json
import pathlib
import shutil

import numpy as np
import peft
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, JinaEmbeddingsV3Config, JinaEmbeddingsV3Model

from golden_folder import pack_folders
from record_embeddings import TEXTS, VOCAB, write_json, write_tokenizer
from tiny_weights import weight

SIZES = dict(vocab_size=len(VOCAB), hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
             max_position_embeddings=40, type_vocab_size=1, pad_token_id=0, layer_norm_eps=1e-5)
THETA, RANK, ALPHA = 50.0, 2, 3
TASKS = ["text-matching", "retrieval.query", "retrieval.passage"]
PROMPTS = {"retrieval.query": "the fox: ", "retrieval.passage": "the cat: ", "text-matching": ""}
CALLS = {"plain": None, "matching": "text-matching", "query": "query", "passage": "retrieval.passage"}
LIST = TEXTS[:6]


def model_of(tensors, **sizes):
    model = JinaEmbeddingsV3Model(JinaEmbeddingsV3Config(**{**SIZES, **sizes}, rope_parameters={"rope_type": "default", "rope_theta": THETA}))
    model.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in tensors.items()})
    return model.eval()


def embed(model, tokenizer, texts, prompt):
    batch = tokenizer([prompt + text for text in texts], padding=True, return_tensors="pt")
    with torch.no_grad():
        states = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    return (states * mask).sum(1) / mask.sum(1)


def write_calls(folder, embeddings):
    for name, task in CALLS.items():
        write_json(folder / f"embed_{name}.json", {"texts": LIST, **({"task": task} if task else {})})
        save_file({"embeddings": embeddings[name].contiguous()}, folder / f"embed_{name}.safetensors")
    assert (embeddings["plain"] - embeddings["matching"]).abs().max() > 0.05


def begin(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_tokenizer(folder, only_vocab=True, model_max_length=40)
    return AutoTokenizer.from_pretrained(folder)


def of_code(folder, seed=801):
    tokenizer = begin(folder)
    hidden, wide, count = SIZES["hidden_size"], SIZES["intermediate_size"], len(TASKS)
    linear = {"pooler.dense": (hidden, hidden)}
    norms = ["emb_ln"]
    for i in range(SIZES["num_hidden_layers"]):
        layer = f"encoder.layers.{i}."
        linear |= {layer + "mixer.Wqkv": (3 * hidden, hidden), layer + "mixer.out_proj": (hidden, hidden),
                   layer + "mlp.fc1": (wide, hidden), layer + "mlp.fc2": (hidden, wide)}
        norms += [layer + "norm1", layer + "norm2"]
    tables = {"embeddings.word_embeddings": (len(VOCAB), hidden), "embeddings.token_type_embeddings": (1, hidden)}
    shapes = {}
    for name, (out, into) in {**linear, **tables}.items():
        part = f"roberta.{name}.parametrizations.weight."
        is_table = name in tables
        shapes[part + "original"] = [out, into]
        shapes[part + "0.lora_A"] = [count, out, RANK] if is_table else [count, RANK, into]
        shapes[part + "0.lora_B"] = [count, RANK, into] if is_table else [count, out, RANK]
        if not is_table:
            shapes[f"roberta.{name}.bias"] = [out]
    for name in norms:
        shapes |= {f"roberta.{name}.weight": [hidden], f"roberta.{name}.bias": [hidden]}
    tensors = {name: weight(name, tuple(shape), seed) for name, shape in shapes.items()}
    write_json(folder / "shapes.json", {"seed": seed, "shapes": shapes})
    code = "jinaai/xlm-roberta-flash-implementation--"
    write_json(folder / "config.json", {
        **SIZES, "model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"], "hidden_act": "gelu",
        "auto_map": {"AutoConfig": code + "configuration_xlm_roberta.XLMRobertaFlashConfig",
                     "AutoModel": code + "modeling_lora.XLMRobertaLoRA"},
        "position_embedding_type": "rotary", "rotary_emb_base": THETA, "lora_adaptations": TASKS,
        "lora_rank": RANK, "lora_alpha": ALPHA, "task_instructions": PROMPTS})

    def adapted(task):
        renamed = {}
        for name in [*linear, *tables]:
            part = f"roberta.{name}.parametrizations.weight."
            matrix = tensors[part + "original"]
            if task is not None:
                a, b = tensors[part + "0.lora_A"][TASKS.index(task)], tensors[part + "0.lora_B"][TASKS.index(task)]
                matrix = matrix + (a @ b if name in tables else b @ a) * np.float32(ALPHA / RANK)
            renamed[name + ".weight"] = matrix
            if name in linear:
                renamed[name + ".bias"] = tensors[f"roberta.{name}.bias"]
        for name in norms:
            renamed |= {f"{name}.{end}": tensors[f"roberta.{name}.{end}"] for end in ("weight", "bias")}
        today = {}
        for name, value in renamed.items():
            name = name.replace("encoder.layers", "layers").replace("emb_ln", "embeddings.LayerNorm")
            name = name.replace("mixer.out_proj", "self_attn.o_proj").replace("norm1", "post_attention_layernorm").replace("norm2", "post_mlp_layernorm")
            if "mixer.Wqkv" in name:
                for part, piece in zip("qkv", np.split(value, 3)):
                    today[name.replace("mixer.Wqkv", f"self_attn.{part}_proj")] = piece
            else:
                today[name] = value
        return model_of(today)

    answers = {}
    for name, task in CALLS.items():
        task = "retrieval.query" if task == "query" else task
        answers[name] = embed(adapted(task), tokenizer, LIST, PROMPTS.get(task, ""))
    write_calls(folder, answers)


def of_peft(folder, seed=811):
    tokenizer = begin(folder)
    sizes = dict(num_hidden_layers=1)
    fresh = JinaEmbeddingsV3Model(JinaEmbeddingsV3Config(**{**SIZES, **sizes}))
    shapes = {name: list(value.shape) for name, value in fresh.named_parameters()}
    model = model_of({name: weight(name, tuple(shape), seed) for name, shape in shapes.items()}, **sizes)
    model.config.architectures = ["JinaEmbeddingsV3Model"]
    write_json(folder / "shapes.json", {"seed": seed, "shapes": shapes})
    write_json(folder / "config.json", json.loads(model.config.to_json_string()))
    names = [task.replace(".", "_") for task in TASKS]
    modules = ["q_proj", "k_proj", "v_proj", "o_proj", "fc1", "fc2", "word_embeddings"]
    for number, name in enumerate(names):
        # One of them is scaled by the root of its rank.
        config = peft.LoraConfig(r=RANK + number, lora_alpha=ALPHA, target_modules=modules, use_rslora=number == 1)
        model = peft.get_peft_model(model, config, adapter_name=name) if number == 0 else model
        if number > 0:
            model.add_adapter(name, config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.copy_(torch.from_numpy(weight(name, tuple(parameter.shape), seed)) * 0.5)
    model.eval()
    model.save_pretrained(folder)
    for name in names:
        (folder / name / "README.md").unlink(missing_ok=True)
        (folder / name / "adapter_model.safetensors").chmod(0o644)
    (folder / "README.md").unlink(missing_ok=True)
    answers = {}
    for call, task in CALLS.items():
        task = {"query": "retrieval_query"}.get(task, task and task.replace(".", "_"))
        if task is None:
            with model.disable_adapter():
                answers[call] = embed(model, tokenizer, LIST, "")
        else:
            model.set_adapter(task)
            answers[call] = embed(model, tokenizer, LIST, "")
    write_calls(folder, answers)
    for name in ("matching", "passage"):
        call = json.loads((folder / f"embed_{name}.json").read_text())
        write_json(folder / f"embed_{name}.json", {**call, "task": call["task"].replace(".", "_")})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "modules")
    options = parser.parse_args()
    torch.set_num_threads(1)
    of_code(options.out / "adapters_of_code")
    of_peft(options.out / "adapters_of_peft")
    pack_folders(options.out)


if __name__ == "__main__":
    main()
