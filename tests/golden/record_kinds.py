"""Records sparse and multi-vector embeddings of tiny models.

usage: record_kinds.py [--only NAME,...] [--out DIR]     (DIR: the folder `kinds` beside this file)

Each folder DIR/NAME is a model's folder, with shapes.json in place of its weights (tiny_weights.py makes them), and has
case_*.json with case_*.safetensors of the same stem; README.md beside this file says what is in them. SPLADE is
sentence-transformers' SparseEncoder, late interaction its MultiVectorEncoder, which reads folders of PyLate and of
ColBERT's own code too. bge-m3's two layers follow the paper (arXiv:2402.03216, section 3.2): the lexical
weight of a token is relu of a linear layer of its hidden state, equal tokens keep the largest, special tokens have none;
the vectors of all tokens but the first are a linear layer of theirs, of length 1.
"""
import argparse
import json
import pathlib
import shutil
import tempfile

import numpy as np
import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder, SentenceTransformer, SparseEncoder
from sentence_transformers.sentence_transformer.modules import Pooling
from sentence_transformers.sparse_encoder.modules import (Router, SparseAutoEncoder, SparseStaticEmbedding, SpladePooling,
                                                          Transformer)

from golden_folder import pack_folders
import tiny_weights
from record_architectures import fill
from record_embeddings import TEXTS
from record_models import write_json

HERE = pathlib.Path(__file__).parent
TOKENIZER = HERE / "models" / "st_mean" / "tokenizer.json"
LIMIT = 32
SPECIALS = {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"}


def write_folder(folder, family, head, seed, extra_tokens=0, **fields):
    """config.json, the tokenizer, shapes.json, and the weights, which are removed again in the end."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(TOKENIZER, folder / "tokenizer.json")
    write_json(folder / "tokenizer_config.json",
               {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LIMIT, "eos_token": "[SEP]", **SPECIALS})
    vocabulary = tokenizers.Tokenizer.from_file(str(TOKENIZER)).get_vocab()
    config = getattr(transformers, family + "Config")(
        vocab_size=max(vocabulary.values()) + 1 + extra_tokens, **fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, family + head)(config).eval()
    shapes = fill(model, seed)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    return model


BERT = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, max_position_embeddings=40)
DISTILBERT = dict(dim=16, n_layers=1, n_heads=2, hidden_dim=20, max_position_embeddings=40)


def write_modules(folder, modules):
    write_json(folder / "modules.json",
               [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(modules)])


def sparse_json(vector):
    indices = vector.nonzero().flatten()
    return {"indices": indices.tolist(), "values": shortest(vector[indices])}


def shortest(values):
    """The shortest decimals that are these float32 numbers."""
    return [float(str(value)) for value in np.asarray(values, dtype=np.float32)]


def write_case(path, case):
    """A line for each text's embedding."""
    if case["sparse"] is None:
        return path.write_text(json.dumps(case, ensure_ascii=False) + "\n", encoding="utf-8")
    lines = [json.dumps(entry, separators=(",", ":")) for entry in case["sparse"]]
    rest = json.dumps({**case, "sparse": None}, ensure_ascii=False)
    path.write_text(rest.replace('"sparse": null', '"sparse": [\n' + ",\n".join(lines) + "]") + "\n", encoding="utf-8")


def truncated_texts(texts, limit=LIMIT):
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [i for i, text in enumerate(texts) if len(tokenizer.encode(text).ids) > limit]


# ---- SPLADE -------------------------------------------------------------------------------------------------------

def write_splade(folder, spelling, strategy, activation):
    (folder / "1_SpladePooling").mkdir()
    write_json(folder / "1_SpladePooling" / "config.json",
               {"pooling_strategy": strategy, "activation_function": activation, "word_embedding_dimension": None})
    write_json(folder / "config_sentence_transformers.json", {
        "model_type": "SparseEncoder", "prompts": {"query": "", "document": ""}, "default_prompt_name": None,
        "similarity_fn_name": "dot"})
    if spelling == "legacy":
        write_modules(folder, [("", "sentence_transformers.sparse_encoder.models.MLMTransformer"),
                               ("1_SpladePooling", "sentence_transformers.sparse_encoder.models.SpladePooling")])
        write_json(folder / "sentence_bert_config.json", {"max_seq_length": LIMIT, "do_lower_case": False})
        return
    write_modules(folder, [("", "sentence_transformers.base.modules.transformer.Transformer"),
                           ("1_SpladePooling", "sentence_transformers.sparse_encoder.modules.splade_pooling.SpladePooling")])
    write_json(folder / "sentence_bert_config.json", {
        "transformer_task": "fill-mask", "module_output_name": "token_embeddings",
        "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}}})


def record_splade(folder, family, seed, fields, spelling=None, strategy="max", activation="relu"):
    write_folder(folder, family, "ForMaskedLM", seed, **fields)
    if spelling is not None:
        write_splade(folder, spelling, strategy, activation)
    model = SparseEncoder(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    assert [type(module).__name__ for module in model][1] == "SpladePooling"
    assert (model[1].pooling_strategy, model[1].activation_function) == (strategy, activation)
    for name, most in (("texts", None), ("top_5", 5)):
        options = {} if most is None else {"max_active_dims": most}
        vectors = model.encode(TEXTS, convert_to_sparse_tensor=False, batch_size=len(TEXTS), **options).float()
        alone = torch.stack([model.encode(text, convert_to_sparse_tensor=False, **options) for text in TEXTS])
        assert (alone - vectors).abs().max() < 5e-6 * vectors.abs().max()
        counts = (vectors != 0).sum(dim=1)
        assert most is not None or 5 < counts.min() < vectors.shape[1] - 10, counts
        write_case(folder / f"case_{name}.json", {
            "texts": TEXTS, "top_k": most, "sparse": [sparse_json(vector) for vector in vectors],
            "truncated": truncated_texts(TEXTS)})
    return counts.tolist()


# ---- other sparse modules -----------------------------------------------------------------------------------------

def seeded(folder, of_documents, of_queries):
    """shapes.json beside each model.safetensors, whose numbers are made from the seed."""
    for path in sorted(folder.rglob("model.safetensors")):
        seed = of_queries if path.parent.name.startswith("query_") else of_documents
        tensors = load_file(path)
        shapes = {name: list(tensor.shape) for name, tensor in sorted(tensors.items()) if tensor.is_floating_point()}
        (path.parent / "shapes.json").write_text(
            '{"seed": %d, "shapes": {\n' % seed
            + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
        save_file({**tensors, **{name: torch.from_numpy(tiny_weights.weight(name, shape, seed))
                                 for name, shape in shapes.items()}}, path, metadata={"format": "pt"})


def record_sparse_modules(folder, seed, modules, tasks=(None,), most=3, query_seed=None):
    shutil.rmtree(folder, ignore_errors=True)
    SparseEncoder(modules=modules, device="cpu").save_pretrained(str(folder), create_model_card=False)
    seeded(folder, seed, query_seed or seed)
    model = SparseEncoder(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    counts = []
    for task in tasks:
        encode = {"query": model.encode_query, "document": model.encode_document}.get(task, model.encode)
        for name, top in ((task or "texts", None), ((task or "top") + f"_{most}", most)):
            options = {} if top is None else {"max_active_dims": top}
            if task not in (None, "query", "document"):
                options["task"] = task
            vectors = encode(TEXTS, convert_to_sparse_tensor=False, batch_size=len(TEXTS), **options).float()
            alone = torch.stack([encode(text, convert_to_sparse_tensor=False, **options) for text in TEXTS])
            assert (alone - vectors).abs().max() < 5e-6 * vectors.abs().max()
            specials = 0 if task == "query" and query_seed is None else 2  # a table has none
            write_case(folder / f"case_{name}.json", {
                "texts": TEXTS, **({"task": task} if task else {}), "top_k": top,
                "sparse": [sparse_json(vector) for vector in vectors],
                "truncated": truncated_texts(TEXTS, LIMIT + 2 - specials)})
            counts.append((vectors != 0).sum(dim=1).tolist())
    for path in sorted(folder.rglob("model.safetensors")):
        path.unlink()
    return counts


def bert_folder(head, seed):
    folder = pathlib.Path(tempfile.mkdtemp())
    write_folder(folder, "Bert", head, seed, **BERT)
    return str(folder)


def record_codes(folder, seed, normalize):
    transformer = Transformer(bert_folder("Model", seed))
    return record_sparse_modules(folder, seed, [
        transformer, Pooling(16, "mean"), SparseAutoEncoder(16, hidden_dim=28, k=6, normalize=normalize)])


def record_static(folder, seed):
    documents = Transformer(bert_folder("ForMaskedLM", seed), transformer_task="fill-mask")
    router = Router.for_query_document(
        query_modules=[SparseStaticEmbedding(documents.tokenizer)],
        document_modules=[documents, SpladePooling(pooling_strategy="max", activation_function="log1p_relu")])
    return record_sparse_modules(folder, seed, [router], tasks=("query", "document"))


def record_routes(folder, seed):
    """Queries and documents by masked language models of their own, pooled otherwise."""
    def route(strategy, activation):
        return [Transformer(bert_folder("ForMaskedLM", seed), transformer_task="fill-mask"),
                SpladePooling(pooling_strategy=strategy, activation_function=activation)]
    router = Router.for_query_document(query_modules=route("max", "relu"), document_modules=route("sum", "log1p_relu"))
    return record_sparse_modules(folder, seed, [router], tasks=("query", "document"), query_seed=seed + 1)


def record_poolings(folder, seed):
    """Routes over one masked language model, pooled otherwise."""
    shared = Transformer(bert_folder("ForMaskedLM", seed), transformer_task="fill-mask")
    router = Router({"query": [shared, SpladePooling(pooling_strategy="sum", activation_function="log1p_relu")],
                     "document": [shared, SpladePooling(pooling_strategy="max", activation_function="relu")],
                     "title": [shared, SpladePooling(pooling_strategy="max", activation_function="log1p_relu")]},
                    default_route="document")
    return record_sparse_modules(folder, seed, [router], tasks=(None, "query", "document", "title"), query_seed=seed)


# ---- bge-m3 -------------------------------------------------------------------------------------------------------

def layer(name, out, width, seed):
    made = torch.nn.Linear(width, out)
    with torch.no_grad():
        made.weight.copy_(torch.from_numpy(tiny_weights.weight(name + ".weight", [out, width], seed)))
        made.bias.copy_(torch.from_numpy(tiny_weights.weight(name + ".bias", [out], seed)))
    return made


def record_m3(folder, seed):
    model = write_folder(folder, "XLMRoberta", "Model", seed, pad_token_id=0, type_vocab_size=1, **BERT)
    (folder / "1_Pooling").mkdir()
    write_json(folder / "1_Pooling" / "config.json", {
        "word_embedding_dimension": 16, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    write_modules(folder, [("", "sentence_transformers.models.Transformer"), ("1_Pooling", "sentence_transformers.models.Pooling"),
                           ("2_Normalize", "sentence_transformers.models.Normalize")])
    layers = {"sparse_linear": layer("sparse_linear", 1, 16, seed), "colbert_linear": layer("colbert_linear", 12, 16, seed)}
    torch.save(layers["colbert_linear"].state_dict(), folder / "colbert_linear.pt")  # as bge-m3 is published
    save_file(dict(layers["sparse_linear"].state_dict()), folder / "sparse_linear.safetensors")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    left_out = {tokenizer.cls_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id}
    texts = TEXTS + ["the fox the fox the cat the"]  # equal tokens
    sparse, vectors, repeated, dropped = [], [], 0, 0
    for text in texts:
        ids = tokenizer(text, truncation=True, max_length=LIMIT)["input_ids"]
        with torch.no_grad():
            hidden = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
            weights = torch.relu(layers["sparse_linear"](hidden)).flatten().tolist()
            vectors.append(torch.nn.functional.normalize(layers["colbert_linear"](hidden[1:]), dim=-1))
        largest = {}
        for id_, weight in zip(ids, weights):
            repeated += id_ in largest and weight not in (0, largest[id_])
            dropped += id_ in left_out and weight > 0
            if id_ not in left_out and weight > largest.get(id_, 0):
                largest[id_] = weight
        sparse.append({"indices": sorted(largest), "values": shortest([largest[i] for i in sorted(largest)])})
    assert repeated > 5 and dropped > 5
    dense = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    dense = dense.encode(texts, convert_to_tensor=True).clone().float()
    write_case(folder / "case_texts.json", {"texts": texts, "top_k": None, "sparse": sparse, "truncated": truncated_texts(texts),
                                            "vector_counts": [len(rows) for rows in vectors]})
    save_file({"dense": dense.contiguous(), "multi_vectors": torch.cat(vectors).contiguous()}, folder / "case_texts.safetensors")
    return [len(entry["indices"]) for entry in sparse]


# ---- late interaction ---------------------------------------------------------------------------------------------

MARKERS = {"pylate": ["[Q] ", "[D] "], "stanford": ["[unused0]", "[unused1]"]}


def add_markers(folder, markers):
    """As PyLate and ColBERT have them: tokens of the vocabulary, which a text's own characters do not make."""
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.add_tokens([tokenizers.AddedToken(marker, normalized=True, special=False) for marker in markers]) == 2
    tokenizer.save(str(folder / "tokenizer.json"))


def write_projection(folder, out, width, seed):
    folder.mkdir()
    weight = torch.from_numpy(tiny_weights.weight("linear.weight", [out, width], seed))
    save_file({"linear.weight": weight}, folder / "model.safetensors")
    write_json(folder / "config.json", {"in_features": width, "out_features": out, "bias": False,
                                        "activation_function": "torch.nn.modules.linear.Identity"})


def write_pylate(folder, seed, attend):
    write_projection(folder / "1_Dense", 12, 16, seed)
    write_modules(folder, [("", "sentence_transformers.models.Transformer"), ("1_Dense", "pylate.models.Dense.Dense")])
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 31, "do_lower_case": False})
    write_json(folder / "config_sentence_transformers.json", {
        "model_type": "ColBERT", "query_prefix": "[Q] ", "document_prefix": "[D] ", "query_length": 12, "document_length": 24,
        "attend_to_expansion_tokens": attend, "skiplist_words": [".", ",", "!"], "do_query_expansion": True,
        "prompts": {"query": "query: ", "document": ""}, "default_prompt_name": None, "similarity_fn_name": "MaxSim"})


def write_stanford(folder, model, seed):
    """linear.weight in the encoder's file, whose tensors have the names of the whole model."""
    weights = {"bert." + name: value for name, value in model.state_dict().items() if "position_ids" not in name}
    weights["linear.weight"] = torch.from_numpy(tiny_weights.weight("linear.weight", [8, 16], seed))
    for name, value in weights.items():
        value.copy_(torch.from_numpy(tiny_weights.weight(name, list(value.shape), seed)))
    save_file({name: value.contiguous() for name, value in weights.items()}, folder / "model.safetensors")
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(list(value.shape))}" for name, value in weights.items()) + "}}\n")
    config = json.loads((folder / "config.json").read_text())
    write_json(folder / "config.json", {**config, "architectures": ["HF_ColBERT"]})
    (folder / "artifact.metadata").write_text(json.dumps(
        {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_maxlen": 10, "doc_maxlen": 20,
         "mask_punctuation": True, "attend_to_mask_tokens": False, "dim": 8, "similarity": "cosine"}))


def record_late(folder, kind, seed, attend=False):
    family = "XLMRoberta" if attend else "Bert"
    extra = dict(pad_token_id=0, type_vocab_size=1) if attend else {}
    model = write_folder(folder, family, "Model", seed, extra_tokens=2, **extra, **BERT)
    add_markers(folder, MARKERS["stanford" if kind == "stanford" else "pylate"])
    if kind == "stanford":
        write_stanford(folder, model, seed)
    else:
        write_pylate(folder, seed, attend)
    encoder = MultiVectorEncoder(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    if kind == "native":
        write_native(folder, encoder, seed)
        encoder = MultiVectorEncoder(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    counts = {}
    for task, encode in (("query", encoder.encode_query), ("document", encoder.encode_document)):
        vectors = [encode(text).float() for text in TEXTS]
        together = encode(TEXTS, batch_size=len(TEXTS))
        assert all((a - b).abs().max() < 5e-6 for a, b in zip(vectors, together) if len(a) > 0)
        counts[task] = [len(rows) for rows in vectors]
        features = encoder.preprocess(TEXTS, prompt=encoder.prompts[task], task=task)
        limit = {"stanford": {"query": 10, "document": 20}, "native": {"query": 31, "document": 24}}.get(
            kind, {"query": 12, "document": 24})[task]
        whole = [len(encoder.tokenizer(encoder.prompts[task] + text, truncation=False)["input_ids"]) for text in TEXTS]
        write_case(folder / f"case_{task}.json", {
            "texts": TEXTS, "task": task, "top_k": None, "sparse": None, "vector_counts": counts[task],
            "truncated": [i for i, n in enumerate(whole) if n > limit]})
        save_file({"multi_vectors": torch.cat(vectors).contiguous()}, folder / f"case_{task}.safetensors")
        assert features["input_ids"].shape[1] <= limit or kind == "native", features["input_ids"].shape
    return counts


def write_native(folder, encoder, seed):
    """The same model in sentence-transformers' own spelling, with queries of at least 12 tokens."""
    kept = {name: (folder / name).read_bytes() for name in ("shapes.json",)}
    shutil.rmtree(folder)
    encoder[0].query_expansion = {"strategy": "min", "attend": True, "length": 12}
    encoder.save_pretrained(str(folder), create_model_card=False)
    for name, content in kept.items():
        (folder / name).write_bytes(content)


RECIPES = {
    "splade_max": lambda folder: record_splade(folder, "Bert", 81, BERT, "legacy"),
    "splade_sum": lambda folder: record_splade(folder, "DistilBert", 82, DISTILBERT, "current", "sum", "log1p_relu"),
    # No modules.json: the folder of a masked language model, as SPLADE's first models are.
    "masked_lm": lambda folder: record_splade(folder, "Roberta", 83, dict(pad_token_id=0, type_vocab_size=1, **BERT)),
    "autoencoder": lambda folder: record_codes(folder, 89, False),
    "autoencoder_normalized": lambda folder: record_codes(folder, 90, True),
    "static_queries": lambda folder: record_static(folder, 91),
    "splade_routes": lambda folder: record_routes(folder, 92),
    "splade_poolings": lambda folder: record_poolings(folder, 93),
    "m3": lambda folder: record_m3(folder, 84),
    "colbert_pylate": lambda folder: record_late(folder, "pylate", 85),
    "colbert_attending": lambda folder: record_late(folder, "pylate", 86, attend=True),
    "colbert_stanford": lambda folder: record_late(folder, "stanford", 87),
    "colbert_native": lambda folder: record_late(folder, "native", 88),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "kinds")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in [name for name in options.only.split(",") if name] or RECIPES:
        print(name, RECIPES[name](options.out / name))
        (options.out / name / "model.safetensors").unlink(missing_ok=True)
    pack_folders(options.out)


if __name__ == "__main__":
    main()
