"""Records what sentence-transformers' CrossEncoder says of tiny Qwen3 models: language models that judge by a token, and a
classifier, with chat templates that write pairs.

usage: record_generative_rerankers.py [--out DIR]     (DIR: rerankers beside this file)

DIR/qwen3_causal and DIR/qwen3_sequence have config.json, the tokenizer's files and shapes.json; DIR/generative.json has a
query, texts, the text of one rendered pair, and of each case the model, further files, the prompt, the length and the
scores of `predict`.
"""
import argparse
import json
import pathlib
import shutil
import tempfile

import tokenizers
import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import CrossEncoder

from golden_folder import pack_folders
from record_architectures import fill
from record_models import write_json
from tiny_weights import weight

HERE = pathlib.Path(__file__).parent
TOKENIZER = HERE / "tokenizer_corpus" / "qwen.json"
LIMIT = 280
QUERY = "Where did the cat sit?"
TEXTS = ["The cat sat on the mat.", "", "fox", "A caf\u00e9, na\u00efve \u732b <|im_end|> yes", "the quick brown fox, " * 40]

# Qwen3-Reranker's prompt as its documentation gives it, in the roles that CrossEncoder writes.
PREFIX = ("<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
          "Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n")
SUFFIX = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
DEFAULT = "Given a web search query, retrieve relevant passages that answer the query"
TEMPLATE = (
    "{%- set instruction = messages | selectattr('role', 'eq', 'system') | map(attribute='content') | first "
    "| default('" + DEFAULT + "', true) -%}\n"
    "{{- " + json.dumps(PREFIX) + " + '<Instruct>: ' + instruction + '\\n<Query>: ' -}}\n"
    "{{- messages | selectattr('role', 'eq', 'query') | map(attribute='content') | first -}}\n"
    "{{- '\\n<Document>: ' -}}\n"
    "{{- messages | selectattr('role', 'eq', 'document') | map(attribute='content') | first -}}\n"
    "{{- " + json.dumps(SUFFIX) + " -}}")
PARTS = (
    "{%- for m in messages -%}{{ m.role | upper }}: {% for c in m.content if c.type == 'text' %}{{ c.text | trim }}{% endfor %}\n"
    "{%- endfor -%}{% if add_generation_prompt %}\nanswer:{% endif %}")


def saved(task, output, true_token=None, false_token=None, **settings):
    """What CrossEncoder.save_pretrained writes beside the model."""
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}]
    files = {"sentence_bert_config.json": {"transformer_task": task, "module_output_name": output} | settings.pop("bert", {}),
             "config_sentence_transformers.json": {"model_type": "CrossEncoder"} | settings}
    modality = {"method": "forward", "method_output_name": "logits"}
    form = files["sentence_bert_config.json"].pop("form", "flat")
    files["sentence_bert_config.json"]["modality_config"] = {"text": modality, "message": modality | {"format": form}}
    if true_token is not None:
        modules.append({"idx": 1, "name": "1", "path": "1_LogitScore",
                        "type": "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"})
        files["1_LogitScore/config.json"] = {"true_token_id": true_token, "false_token_id": false_token,
                                             "module_input_name": "causal_logits"}
    return {"modules.json": modules} | files


def causal(*tokens, **settings):
    return saved("text-generation", "causal_logits", *tokens, **settings)


RECIPES = [
    # No modules.json: the words "yes" and "no", and the built-in template here.
    {"name": "published", "model": "qwen3_causal", "template": TEMPLATE, "is_built_in": True},
    {"name": "own_tokens", "model": "qwen3_causal", "template": TEMPLATE, "files": causal(7, 11)},
    {"name": "one_token", "model": "qwen3_causal", "template": TEMPLATE, "files": causal(7)},
    {"name": "instruction", "model": "qwen3_causal", "template": TEMPLATE, "files": causal(7, 11),
     "prompt": "Find animals"},
    {"name": "named_prompt", "model": "qwen3_causal", "template": TEMPLATE,
     "files": causal(7, 11, prompts={"animals": "Find animals"}, default_prompt_name="animals"), "prompt_name": "animals"},
    {"name": "identity", "model": "qwen3_causal", "template": TEMPLATE,
     "files": causal(7, 11, activation_fn="torch.nn.modules.linear.Identity")},
    {"name": "parts", "model": "qwen3_causal", "template": PARTS,
     "files": causal(7, 11, bert={"form": "structured",
                                  "processing_kwargs": {"chat_template": {"add_generation_prompt": True}}})},
    {"name": "sequence", "model": "qwen3_sequence", "template": TEMPLATE,
     "files": saved("sequence-classification", "scores")},
]


def tokenizer_text():
    """The tiny tokenizer with "yes" and "no", as words that no other token has parts of."""
    described = json.loads(TOKENIZER.read_text())
    first = 1 + max([*described["model"]["vocab"].values(), *(token["id"] for token in described["added_tokens"])])
    described["added_tokens"] += [
        {"id": first + i, "content": word, "single_word": True, "lstrip": False, "rstrip": False, "normalized": False,
         "special": False} for i, word in enumerate(["yes", "no"])]
    return json.dumps(described)


def write_recorded(folder, head, seed, vocabulary, **fields):
    """config.json, the tokenizer's files and shapes.json."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = transformers.Qwen3Config(
        vocab_size=vocabulary, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=12,
        intermediate_size=20, max_position_embeddings=512, pad_token_id=0, bos_token_id=None, eos_token_id=None,
        rope_parameters={"rope_theta": 10000.0, "rope_type": "default"}, **fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, "Qwen3" + head)(config).eval()
    shapes = fill(model, seed)
    config.architectures = ["Qwen3" + head]
    write_json(folder / "config.json", json.loads(config.to_json_string()))
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LIMIT,
                                                  "pad_token": "<|endoftext|>", "eos_token": "<|im_end|>"})
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")


def load(recorded, recipe, folder):
    for name in ("config.json", "tokenizer_config.json"):
        shutil.copy(recorded / name, folder / name)
    (folder / "tokenizer.json").write_text(tokenizer_text())
    described = json.loads((recorded / "shapes.json").read_text())
    save_file({name: torch.from_numpy(weight(name, tuple(shape), described["seed"]))
               for name, shape in described["shapes"].items()}, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "chat_template.jinja").write_text(recipe["template"])
    for name, content in recipe.get("files", {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        write_json(folder / name, content)
    return CrossEncoder(str(folder), device="cpu")


def record(root, recipe):
    with tempfile.TemporaryDirectory() as parent:
        model = load(root / recipe["model"], recipe, pathlib.Path(parent))
        call = {"prompt_name": recipe.get("prompt_name"), "prompt": recipe.get("prompt")}
        scores = [float(model.predict([[QUERY, text]], **call)[0]) for text in TEXTS]
        rows = [model.preprocess([[QUERY, text]], prompt=recipe.get("prompt"))["input_ids"].shape[1] for text in TEXTS]
    print(recipe["name"], rows, [round(x, 4) for x in scores])
    assert rows[-1] == LIMIT
    return recipe | {"scores": scores}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "rerankers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    vocabulary = tokenizers.Tokenizer.from_str(tokenizer_text()).get_vocab()
    size = max(vocabulary.values()) + 1
    print("tokens", size, [vocabulary[word] for word in ("yes", "no", "<|im_start|>", "<|im_end|>", "<|endoftext|>")])
    write_recorded(options.out / "qwen3_causal", "ForCausalLM", 81, size, tie_word_embeddings=True)
    write_recorded(options.out / "qwen3_sequence", "ForSequenceClassification", 82, size, num_labels=1)
    cases = [record(options.out, recipe) for recipe in RECIPES]
    for case in cases:
        case["template"] = {TEMPLATE: "qwen3", PARTS: "parts"}[case["template"]]
    write_json(options.out / "generative.json", {"query": QUERY, "texts": TEXTS, "cases": cases,
                                                 "templates": {"qwen3": TEMPLATE, "parts": PARTS}})
    pack_folders(options.out)


if __name__ == "__main__":
    main()
