"""Records the embeddings of chains of sentence-transformers' modules.

usage: record_modules.py [--only NAME,...] [--out DIR]     (DIR: the folder `modules` beside this file)

Each folder DIR/NAME is a model as sentence-transformers saves it, without weights: where a folder has shapes.json, its
model.safetensors is made by tiny_weights.py from seed and names. embed_*.json has the texts and the options of a call,
embed_*.safetensors its embeddings. DIR/activations.json has the values of torch's activation classes.
"""
import argparse
import json
import logging
import math
import pathlib
import shutil
import tempfile

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as st
from sentence_transformers.sentence_transformer.modules.weighted_layer_pooling import WeightedLayerPooling
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, LlamaConfig, LlamaForCausalLM

from golden_folder import pack_folders
from record_embeddings import SPECIALS, TEXTS, VOCAB, write_json, write_tokenizer
from tiny_weights import weight

HIDDEN = 16
OTHER_VOCAB = SPECIALS + VOCAB[:len(SPECIALS) - 1:-1]  # the same tokens with other ids


def bert_config(**changes):
    return BertConfig(**{**dict(vocab_size=len(VOCAB), hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=2,
                                intermediate_size=20, max_position_embeddings=40, type_vocab_size=2), **changes})


def llama_config(**changes):
    return LlamaConfig(**{**dict(vocab_size=len(VOCAB), hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=2,
                                 num_key_value_heads=1, intermediate_size=20, max_position_embeddings=40), **changes})


def transformer(config=None, model=None, vocab=VOCAB, **options):
    """A Transformer module with weights from the seed."""
    folder = pathlib.Path(tempfile.mkdtemp())
    model = model or BertModel(config or bert_config())
    model.save_pretrained(folder)
    write_tokenizer(folder, only_vocab=True, model_max_length=40)
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")
    return st.Transformer(str(folder), **options)


def dense(width, out, activation="Tanh", **options):
    return st.Dense(width, out, activation_function=getattr(torch.nn, activation)(), **options)


class Chain:
    def __init__(self, make, calls=None, seed=51, settings=None, edit=None, **model):
        self.make, self.calls, self.seed = make, calls or {"texts": {}}, seed
        self.settings, self.edit, self.model = settings or {}, edit, model

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        SentenceTransformer(modules=self.make(), device="cpu", **self.model).save(
            str(folder), create_model_card=False)
        for path in sorted(folder.rglob("tokenizer.json")):
            ids = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
            vocab = next(each for each in (VOCAB, OTHER_VOCAB) if {token: i for i, token in enumerate(each)} == ids)
            (path.parent / "vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")
            path.unlink()
        if self.edit:
            self.edit(folder)
        for path in sorted(folder.rglob("model.safetensors")):
            shapes = {name: list(tensor.shape) for name, tensor in sorted(load_file(path).items())}
            seed = self.seed + path.parent.name.startswith("query_")  # routes differ
            write_json(path.parent / "shapes.json", {"seed": seed, "shapes": shapes})
            save_file({name: torch.from_numpy(weight(name, shape, seed)) for name, shape in shapes.items()}, path,
                      metadata={"format": "pt"})

    def record(self, folder):
        self.write(folder)
        model = SentenceTransformer(str(folder), device="cpu",
                                    model_kwargs={"attn_implementation": "eager", "dtype": "float32"})
        for name, call in self.calls.items():
            texts = call.get("texts", TEXTS)
            options = {key: value for key, value in call.items() if key not in ("texts", "task")}
            encode = {"query": model.encode_query, "document": model.encode_document}.get(call.get("task"))
            if encode is None:
                encode = model.encode
                if "task" in call:
                    options["task"] = call["task"]
            together = encode(texts, batch_size=len(texts), convert_to_tensor=True, **options).clone()
            alone = torch.stack([encode(text, convert_to_tensor=True, **options) for text in texts])
            assert (alone - together).abs().max() <= 5e-6 * together.abs().max(), (alone - together).abs().max()
            write_json(folder / f"embed_{name}.json", {"texts": texts, **{k: v for k, v in call.items() if k != "texts"}})
            save_file({"embeddings": together.float().contiguous()}, folder / f"embed_{name}.safetensors")
        for path in folder.rglob("model.safetensors"):
            path.unlink()
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return model


def edit_json(path, **changes):
    values = json.loads(path.read_text())
    write_json(path, {**{k: v for k, v in values.items() if changes.get(k, 0) is not None},
                      **{k: v for k, v in changes.items() if v is not None}})


def into_own_folder(folder):
    """The layout of early versions: the transformer in 0_Transformer, flags of poolings, former class names."""
    own = folder / "0_Transformer"
    own.mkdir()
    for name in ("config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"):
        (folder / name).rename(own / name)
    (folder / "sentence_bert_config.json").unlink()
    write_json(own / "sentence_roberta_config.json", {"max_seq_length": 24, "do_lower_case": False})
    modules = json.loads((folder / "modules.json").read_text())
    for module in modules:
        module["type"] = "sentence_transformers.models." + module["type"].rsplit(".", 1)[1]
    modules[0]["path"] = "0_Transformer"
    write_json(folder / "modules.json", modules)
    write_json(folder / "1_Pooling" / "config.json", {
        "word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": True, "pooling_mode_max_tokens": True,
        "pooling_mode_mean_sqrt_len_tokens": False})


def without_modules(folder):
    (folder / "modules.json").unlink()
    shutil.rmtree(folder / "1_Pooling")
    for name in ("sentence_bert_config.json", "config_sentence_transformers.json"):
        (folder / name).unlink()


def as_decoder(folder):
    """A causal language model without modules."""
    without_modules(folder)
    LlamaForCausalLM(llama_config()).save_pretrained(folder)
    (folder / "generation_config.json").unlink()


def router_over_one_transformer():
    shared = transformer()
    return [st.Router({"query": [shared, st.Pooling(HIDDEN, "cls"), dense(HIDDEN, 6)],
                    "document": [shared, st.Pooling(HIDDEN, "mean"), dense(HIDDEN, 6, "GELU")]}, default_route="document")]


def small_transformer(**options):
    return transformer(bert_config(hidden_size=8, num_hidden_layers=1, intermediate_size=12), **options)


def router_of_transformers():
    return [st.Router({"query": [small_transformer(max_seq_length=9), st.Pooling(8), dense(8, 6), st.Normalize()],
                       "document": [transformer(), st.Pooling(HIDDEN, "cls"), dense(HIDDEN, 6, "GELU")],
                       "title": [small_transformer(max_seq_length=14), st.Pooling(8, "max"), dense(8, 6)]},
                      default_route="document")]


def asym_of_transformers():
    return [st.Router({"query": [small_transformer(), st.Pooling(8)], "document": [transformer(), st.Pooling(HIDDEN), dense(HIDDEN, 8)]}),
            st.Normalize()]


def router_of_architectures():
    """A DistilBERT with ids of its own, and a BERT that two routes share."""
    small = DistilBertModel(DistilBertConfig(vocab_size=len(OTHER_VOCAB), dim=8, n_layers=1, n_heads=2, hidden_dim=12,
                                             max_position_embeddings=40))
    shared = transformer()
    return [st.Router({"query": [transformer(model=small, vocab=OTHER_VOCAB, max_seq_length=12), st.Pooling(8), dense(8, 6)],
                       "document": [shared, st.Pooling(HIDDEN, "cls"), dense(HIDDEN, 6, "GELU")],
                       "title": [shared, st.Pooling(HIDDEN, "max"), dense(HIDDEN, 6)]}, default_route="title"),
            st.Normalize()]


def as_asym(folder):
    """The file and the class name of earlier versions."""
    place = next(path.parent for path in folder.rglob("router_config.json"))
    config = json.loads((place / "router_config.json").read_text())
    (place / "router_config.json").unlink()
    write_json(place / "config.json", {"types": config["types"], "structure": config["structure"],
                                       "parameters": {"allow_empty_key": True}})
    edit_json_list(folder / "modules.json", "Router", "sentence_transformers.models.Asym")


def edit_json_list(path, old, new):
    modules = json.loads(path.read_text())
    for module in modules:
        if module["type"].rsplit(".", 1)[1] == old:
            module["type"] = new
    write_json(path, modules)


TASKS = {"default": {}, "query": {"task": "query"}, "document": {"task": "document"}}

CHAINS = {
    "own_folder": Chain(lambda: [transformer(), st.Pooling(HIDDEN, ("cls", "max")), st.Dropout(0.3),
                                 dense(2 * HIDDEN, 12, "GELU"), st.LayerNorm(12), st.Normalize()],
                        edit=into_own_folder),
    "token_dense": Chain(lambda: [transformer(max_seq_length=24),
                                  dense(HIDDEN, 10, "Mish", module_input_name="token_embeddings"),
                                  st.Normalize("token_embeddings"), st.Pooling(10, ("mean", "weightedmean", "max"))]),
    "residual_dense": Chain(lambda: [transformer(), st.Pooling(HIDDEN, "lasttoken"),
                                     dense(HIDDEN, HIDDEN, "SiLU", use_residual=True),
                                     dense(HIDDEN, 9, "PReLU", use_residual=True, bias=False),
                                     st.LayerNorm(9)]),
    # A module may write a value of another name; the vectors of texts are what the last one of their name writes.
    "named_values": Chain(lambda: [transformer(), st.Pooling(HIDDEN), dense(HIDDEN, 11, "ReLU", module_output_name="wide"),
                                   dense(11, 8, "Softmax", module_input_name="wide", module_output_name="sentence_embedding"),
                                   st.Normalize("wide")]),
    "two_poolings": Chain(lambda: [transformer(), st.Pooling(HIDDEN, "max"), dense(HIDDEN, 12, "Sigmoid", module_input_name="token_embeddings"),
                                   st.Pooling(12, ("lasttoken", "cls"))]),
    "truncate_dim": Chain(lambda: [transformer(), st.Pooling(HIDDEN), st.Normalize()], truncate_dim=7,
                          calls={"texts": {}, "normalized": {"normalize_embeddings": True}}),
    "truncate_dim_plain": Chain(lambda: [transformer(), st.Pooling(HIDDEN)], truncate_dim=7,
                                calls={"texts": {}, "normalized": {"normalize_embeddings": True},
                                       "wider": {"truncate_dim": 9}, "narrower": {"truncate_dim": 3}}),
    "tasks": Chain(lambda: [transformer(query_length=9, document_length=14), st.Pooling(HIDDEN), st.Normalize()],
                   prompts={"query": "query: ", "document": "the ", "other": "passage "}, default_prompt_name="other",
                   calls={"default": {}, "query": {"task": "query"}, "document": {"task": "document"},
                          "query_other": {"task": "query", "prompt_name": "other"}}),
    "tasks_without_prompts": Chain(lambda: [transformer(), st.Pooling(HIDDEN, include_prompt=False)],
                                   prompts={"other": "passage "}, default_prompt_name="other",
                                   calls={"default": {}, "query": {"task": "query"}, "document": {"task": "document"}}),
    "processing_kwargs": Chain(lambda: [transformer(processing_kwargs={"text": {"max_length": 11, "truncation": True}}),
                                        st.Pooling(HIDDEN)]),
    "layer_pooling": Chain(lambda: [transformer(bert_config(num_hidden_layers=3, output_hidden_states=True)),
                                    WeightedLayerPooling(HIDDEN, 3, 1), st.Pooling(HIDDEN)]),
    # Without output_hidden_states the module does nothing.
    "layer_pooling_unused": Chain(lambda: [transformer(), WeightedLayerPooling(HIDDEN, 2, 1), st.Pooling(HIDDEN)]),
    "router_after": Chain(lambda: [transformer(), st.Pooling(HIDDEN),
                                   st.Router({"query": [dense(HIDDEN, 7), st.Normalize()], "document": [dense(HIDDEN, 7, "ReLU")],
                                           "title": [dense(HIDDEN, 7, "GELU")]}, default_route="document",
                                          route_mappings={("heading", "text"): "title"})],
                          prompts={"query": "query: "}, similarity_fn_name="manhattan",
                          calls={**TASKS, "title": {"task": "title"}, "heading": {"task": "heading"}}),
    "router_first": Chain(router_over_one_transformer, calls=TASKS),
    "asym": Chain(lambda: [transformer(), st.Pooling(HIDDEN, "max"), st.Router({"query": [dense(HIDDEN, 5)], "document": [dense(HIDDEN, 5)]}),
                           st.Normalize()], edit=as_asym, calls=TASKS),
    "router_of_transformers": Chain(router_of_transformers, prompts={"query": "query: "}, calls={**TASKS, "title": {"task": "title"}}),
    "router_of_architectures": Chain(router_of_architectures, calls={**TASKS, "title": {"task": "title"}}),
    "asym_of_transformers": Chain(asym_of_transformers, edit=as_asym, calls=TASKS),
    "router_without_default": Chain(
        lambda: [transformer(), st.Pooling(HIDDEN), st.Router({"query": [dense(HIDDEN, 7)], "document": [dense(HIDDEN, 7, "ReLU")]},
                                                              allow_empty_key=False)],
        calls={name: TASKS[name] for name in ("query", "document")}),
    "no_modules": Chain(lambda: [transformer(), st.Pooling(HIDDEN)], edit=without_modules),
    "causal_without_modules": Chain(lambda: [transformer(), st.Pooling(HIDDEN)], edit=as_decoder),
}

ACTIVATIONS = ["CELU", "Dropout", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity",
               "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax",
               "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink"]


def record_activations(path):
    values = torch.tensor([[-30.0, -7.5, -3.0, -2.5, -1.0, -0.5], [-0.25, -0.0, 0.125, 0.5, 0.75, 1.0],
                           [1.5, 2.5, 3.0, 6.5, 21.0, 40.0]])
    answers = {name: getattr(torch.nn, name)().eval()(values).tolist() for name in ACTIVATIONS}
    assert all(math.isfinite(x) for rows in answers.values() for row in rows for x in row)
    write_json(path, {"x": values.tolist(), "y": answers})
    path.write_text(json.dumps({"x": values.tolist(), "y": answers}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "modules")
    options = parser.parse_args()
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in [name for name in options.only.split(",") if name] or CHAINS:
        CHAINS[name].record(options.out / name)
        print(name)
    record_activations(options.out / "activations.json")
    pack_folders(options.out)


if __name__ == "__main__":
    main()
