"""Records what transformers computes for tiny models of each architecture, in float32 with plain attention.

usage: record_architectures.py [--only PREFIX,...] [--out DIR]     (DIR: the folder `architectures` beside this file)

Each folder DIR/NAME has config.json, shapes.json (the seed and the extents of every tensor: tiny_weights.py makes the
weights from them) and case_*.safetensors with inputs and outputs by the names of the transformers forward.
"""
import argparse
import copy
import json
import pathlib
import shutil

import torch
import transformers
from safetensors.torch import save_file

from golden_folder import pack_folders
import remote_models
from record_models import HOLES, ZERO_ROWS, distance, draw_inputs, left_padded, right_padded, write_json
from tiny_weights import weight

OUTPUTS = ("last_hidden_state", "pooler_output", "logits", "start_logits", "end_logits", "prediction_logits",
           "seq_relationship_logits", "sop_logits")


def fill(model, seed):
    """Gives every parameter the values of tiny_weights.py. Returns the extents of the stored tensors by name."""
    shapes = {}
    tied = getattr(model, "_tied_weights_keys", None) or {}  # a name, and the one under which it is stored
    with torch.no_grad():
        scalars = [entry for entry in model.named_buffers() if entry[0].endswith("layer_scalar")]
        for name, parameter in [*model.named_parameters(), *scalars]:  # each tied parameter once, by either name
            name = tied.get(name, name)
            parameter.copy_(torch.from_numpy(weight(name, tuple(parameter.shape), seed)))
            shapes[name] = list(parameter.shape)
    model.tie_weights()
    return shapes


def reference(model, inputs):
    """The model's outputs, with zeros at positions whose mask is 0 and in rows without a visible token."""
    with torch.no_grad():
        result = model(**{name: value.long() for name, value in inputs.items()})
    ids = inputs["input_ids"]
    mask = inputs.get("attention_mask", torch.ones_like(ids)).bool()
    outputs = {}
    for name in OUTPUTS:
        value = getattr(result, name, None)
        if value is None:
            continue
        if ids.dim() == 3:  # choices
            visible = mask.any(dim=2)
        elif value.shape[:2] == mask.shape:
            visible = mask
        else:
            visible = mask.any(dim=1)
        while visible.dim() < value.dim():
            visible = visible.unsqueeze(-1)
        outputs[name] = torch.where(visible, value, torch.zeros((), dtype=value.dtype)).contiguous()
        assert torch.isfinite(outputs[name]).all()
    return outputs


# What changes all scores of a query alike.
NOT_SEEN = {"deberta_v2_wide_convolution": [f"deberta.encoder.layer.{i}.attention.self.key_proj.bias" for i in range(2)],
            "deberta_v2_absolute": [f"deberta.encoder.layer.{i}.attention.self.key_proj.bias" for i in range(2)]}


def check(model, inputs, name):
    """float32 is near float64, and no tensor may be left out unseen."""
    truth = reference(model, inputs)
    assert distance(reference(copy.deepcopy(model).double(), inputs), truth) < 3e-6, name
    for key, _ in model.named_parameters():
        if key.endswith(("key.bias", "layer_norm_k.bias", "attention.k_proj.bias", "k_lin.bias", "attn.k.bias", "pos_key_proj.bias")) or key in NOT_SEEN.get(name, ()):  # softmax removes it
            continue
        broken = copy.deepcopy(model)
        with torch.no_grad():
            parameter = broken.get_parameter(key)
            parameter.fill_(1.0 if key.endswith("weight") and parameter.dim() == 1 else 0.0)
        moved = distance(truth, reference(broken, inputs))
        assert moved > 3e-4, f"{name}: without {key} the output moves by {moved} only"


WITH_TYPES = ("new", "deberta", "deberta-v2", "bert", "roberta", "xlm-roberta", "camembert", "ernie", "data2vec-text", "electra", "albert", "nomic_bert", "gte", "jina_embeddings_v3")


def without_types(config, cases):
    if config.model_type not in WITH_TYPES:
        for inputs in cases.values():
            inputs.pop("token_type_ids", None)
    return cases


def cases_of(config):
    return without_types(config, {
        "mixed_lengths": draw_inputs(config, right_padded([17, 1, 30, 2, 28]), 1),
        "left_padded": draw_inputs(config, left_padded([9, 3, 1, 12]), 2),
        "holes": draw_inputs(config, HOLES, 3),
        "zero_rows": draw_inputs(config, ZERO_ROWS, 4),
        "ids_only": draw_inputs(config, [[1] * 13] * 2, 8, drop=("attention_mask", "token_type_ids")),
        "positions": {**draw_inputs(config, right_padded([4, 7]), 9),
                      "position_ids": torch.tensor([[3, 1, 2, 9, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2]])},
    })


# For windows of 4 places: from the first one a visible token is seen.
NEAR_HOLES = [
    [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1],
    [0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1],
    [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1],
    [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
]


def windowed_cases(config):
    """Heads that read the first place, which may be masked, need a visible token in its window."""
    cases = cases_of(config)
    if "SequenceClassification" in (config.architectures or [""])[0]:
        near = without_types(config, {"holes": draw_inputs(config, NEAR_HOLES, 3), "left_padded": draw_inputs(config, left_padded([9, 8, 12]), 2)})
        cases.update(near)
    return cases


def mixed_case(config):
    return {"mixed_lengths": cases_of(config)["mixed_lengths"]}


def classified_cases(config):
    """Decoders classify by the last token that is not the padding's, masked or not: masked ones are padding here."""
    cases = with_padding_ids(config, cases_of(config))
    cases["visible_padding"] = draw_inputs(config, [[1] * 9] * 2, 12, drop=("attention_mask", "token_type_ids"))
    cases["visible_padding"]["input_ids"][1, 6:] = config.pad_token_id
    return cases


def with_padding_ids(config, cases):
    for inputs in cases.values():
        if "attention_mask" in inputs and config.pad_token_id is not None:
            inputs["input_ids"][inputs["attention_mask"] == 0] = config.pad_token_id
    return cases


def choice_cases(config):
    def of(rows, seed):
        return {name: value.view(2, -1, value.shape[-1]) for name, value in draw_inputs(config, rows, seed).items()}
    return without_types(config, {"mixed_lengths": of(right_padded([17, 4, 30, 2, 28, 6]), 1), "holes": of(HOLES[:4], 3)})


# Ids are drawn from the whole vocabulary, the padding id among them: it has a position of its own wherever it is.
FIELDS = dict(vocab_size=61, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=20,
              max_position_embeddings=40, type_vocab_size=1, layer_norm_eps=1e-5, pad_token_id=1, bos_token_id=0,
              eos_token_id=2)


class FirstSpelling:
    """Weights under the names that a family's own code gave them before transformers knew it."""

    def __init__(self, prefix, renamed, joined, config):
        self.prefix, self.renamed, self.joined, self.config = prefix, renamed, joined, config

    def fill(self, model, seed):
        """As `fill`. `renamed`: parts of transformers' names and those of the first names; `joined`: the first name of a layer,
        and transformers' names of those that it is made of."""
        parameters, shapes = dict(model.named_parameters()), {}
        sources = {name: (name, None) for name in parameters}
        for first, parts in self.joined:
            for name in parameters:
                for number, part in enumerate(parts):
                    if part in name:
                        sources[name] = (name.replace(part, first), (number, len(parts)))
        with torch.no_grad():
            for name, parameter in parameters.items():
                stored, part = sources[name]
                for ours, first in self.renamed:
                    stored = stored.replace(ours, first)
                stored = self.prefix + stored
                shape = list(parameter.shape) if part is None else [parameter.shape[0] * part[1], *parameter.shape[1:]]
                values = torch.from_numpy(weight(stored, tuple(shape), seed))
                parameter.copy_(values if part is None else values.chunk(part[1])[part[0]])
                shapes[stored] = shape
        return shapes


class Recipe:
    def __init__(self, family, form, seed, cases=cases_of, plain=False, name=None, first=None, code=None, written=None, **config):
        """`code`: of a class of remote_models.py, the code that it follows, as auto_map names it. `written`: further fields of config.json."""
        self.family, self.form, self.seed, self.cases, self.config = family, form, seed, cases, config
        self.plain, self.name, self.first = plain, name or family + "Config", first
        self.code, self.written = code, written or {}

    def cases_for(self, config):
        config = copy.copy(config)
        config.model_type = self.written.get("model_type", config.model_type)
        return self.cases(config)

    def record(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        fields = dict(FIELDS) if not self.plain else {key: FIELDS[key] for key in PLAIN}
        if "dim" in self.config:  # DistilBERT's own spelling
            for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "type_vocab_size"):
                del fields[key]
        if "d_model" in self.config:  # T5's own spelling; other fields would be kept without a meaning
            fields = {"vocab_size": FIELDS["vocab_size"]}
        if "text_config" in self.config:
            fields = {}
        config = getattr(transformers, self.name)(**{**fields, **self.config})
        config._attn_implementation = "eager"
        if self.code:
            config.auto_map = {"AutoModel": self.code}
        model = getattr(remote_models if self.code else transformers, self.family + self.form)(config).eval()
        config.architectures = [self.family + self.form]
        shapes = self.first.fill(model, self.seed) if self.first else fill(model, self.seed)
        write_json(folder / "config.json", {**(self.first.config(config) if self.first else json.loads(config.to_json_string())), **self.written})
        (folder / "shapes.json").write_text(
            '{"seed": %d, "shapes": {\n' % self.seed
            + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
        cases = self.cases_for(config.get_text_config())
        for name, inputs in cases.items():
            save_file({**inputs, **reference(model, inputs)}, folder / f"case_{name}.safetensors")
        # In float64 a masked token whose window is all masked makes transformers' results NaN.
        is_windowed = self.cases in (windowed_cases, mixed_case) or self.family in ("ModernBert", "ModernBertDecoder")
        check(model, {key: value for key, value in cases["mixed_lengths"].items() if not is_windowed or key != "attention_mask"}, folder.name)
        return cases


HEADS = {"base": "Model", "masked_lm": "ForMaskedLM", "sequence_classification": "ForSequenceClassification",
         "token_classification": "ForTokenClassification", "question_answering": "ForQuestionAnswering",
         "multiple_choice": "ForMultipleChoice"}
RECIPES = {}
for family, prefix in (("Roberta", "roberta"), ("XLMRoberta", "xlm_roberta")):
    for number, (name, form) in enumerate(HEADS.items()):
        labels = {"num_labels": 3} if "classification" in name else {}
        RECIPES[f"{prefix}_{name}"] = Recipe(family, form, seed=number + (1 if prefix == "roberta" else 101),
                                             cases=choice_cases if name == "multiple_choice" else cases_of, **labels)
MORE = {"pre_training": "ForPreTraining", "next_sentence": "ForNextSentencePrediction"}
NARROW = dict(hidden_size=24, embedding_size=16, num_attention_heads=3, type_vocab_size=2, pad_token_id=0)
DISTIL = dict(dim=16, n_layers=2, n_heads=2, hidden_dim=20, pad_token_id=0)


def add_family(family, prefix, seed, heads, **config):
    for number, head in enumerate(heads):
        labels = {"num_labels": 3} if head in ("sequence_classification", "token_classification") else {}
        RECIPES[f"{prefix}_{head}"] = Recipe(family, {**HEADS, **MORE}[head], seed=seed + number,
                                             cases=choice_cases if head == "multiple_choice" else cases_of, **config, **labels)


add_family("Bert", "bert", 201, ("question_answering", "multiple_choice", "next_sentence", "pre_training"), type_vocab_size=2,
           pad_token_id=0)
add_family("Camembert", "camembert", 221, ("base", "masked_lm", "sequence_classification"))
add_family("DistilBert", "distilbert", 241, HEADS, **DISTIL)
add_family("Electra", "electra", 261, (*HEADS, "pre_training"), **NARROW)
RECIPES["electra_wide"] = Recipe("Electra", "Model", seed=281, **{**NARROW, "embedding_size": 24})
add_family("Albert", "albert", 301, (*HEADS, "pre_training"), **NARROW, num_hidden_layers=3)
# Groups that do not divide the layers, each with two inner ones.
RECIPES["albert_groups"] = Recipe("Albert", "Model", seed=321, **NARROW, num_hidden_layers=5, num_hidden_groups=3, inner_group_num=2)
add_family("MPNet", "mpnet", 341, HEADS, pad_token_id=1, type_vocab_size=1, num_hidden_layers=2, relative_attention_num_buckets=32)
RECIPES["mpnet_far"] = Recipe("MPNet", "Model", seed=351, pad_token_id=1, type_vocab_size=1, max_position_embeddings=300,
                              cases=lambda config: without_types(config, {"mixed_lengths": draw_inputs(config, right_padded([250, 140]), 1)}))


def disentangled_cases(config):
    """Types beyond the table, where there is none, are ignored."""
    cases = {**(choice_cases if "MultipleChoice" in config.architectures[0] else cases_of)(config)}
    if "MultipleChoice" not in config.architectures[0]:
        cases["longest"] = draw_inputs(config, right_padded([40, 1, 39]), 10)
    for inputs in cases.values():
        if config.type_vocab_size == 0 and "token_type_ids" in inputs:
            inputs["token_type_ids"] = inputs["input_ids"] % 2
    return cases


DEBERTA = dict(type_vocab_size=0, pad_token_id=0, hidden_size=24, num_attention_heads=3, num_hidden_layers=2, relative_attention=True,
               position_biased_input=False, pos_att_type="p2c|c2p")
V3 = dict(**DEBERTA, position_buckets=8, share_att_key=True, norm_rel_ebd="layer_norm")
add_family("DebertaV2", "deberta_v2", 361, HEADS, **V3)
RECIPES["deberta_v2_new_head"] = Recipe("DebertaV2", "ForMaskedLM", seed=371, **V3, legacy=False)
RECIPES["deberta_v2_convolution"] = Recipe("DebertaV2", "Model", seed=372, **V3, conv_kernel_size=3, conv_act="gelu")
RECIPES["deberta_v2_wide_convolution"] = Recipe("DebertaV2", "ForSequenceClassification", seed=373, num_labels=3, **{
    **DEBERTA, "position_biased_input": True, "type_vocab_size": 2, "embedding_size": 16, "max_relative_positions": 6, "pos_att_type": ["c2p"],
    "pooler_hidden_act": "tanh"}, conv_kernel_size=5)
RECIPES["deberta_v2_keys"] = Recipe("DebertaV2", "Model", seed=374, **{**DEBERTA, "pos_att_type": "p2c", "max_relative_positions": 25}, position_buckets=12)
RECIPES["deberta_v2_own_keys"] = Recipe("DebertaV2", "Model", seed=375, **{**DEBERTA, "pos_att_type": ["p2c", "c2p"]}, position_buckets=10)
RECIPES["deberta_v2_absolute"] = Recipe("DebertaV2", "ForSequenceClassification", seed=376, **{
    **DEBERTA, "relative_attention": False, "position_biased_input": True, "pos_att_type": "c2p", "type_vocab_size": 2})
RECIPES["deberta_v2_far"] = Recipe("DebertaV2", "Model", seed=377, **{**V3, "hidden_size": 8, "num_attention_heads": 1, "position_buckets": 32},
                                   max_position_embeddings=300)
add_family("Deberta", "deberta", 381, [head for head in HEADS if head != "multiple_choice"], **DEBERTA)
RECIPES["deberta_new_head"] = Recipe("Deberta", "ForMaskedLM", seed=391, **DEBERTA, legacy=False)
RECIPES["deberta_near"] = Recipe("Deberta", "ForSequenceClassification", seed=392, **{
    **DEBERTA, "position_biased_input": True, "type_vocab_size": 2, "embedding_size": 16, "max_relative_positions": 5, "pos_att_type": ["c2p"]})
RECIPES["deberta_keys"] = Recipe("Deberta", "Model", seed=393, **{**DEBERTA, "pos_att_type": ["p2c"]})
for name, recipe in RECIPES.items():
    if name.startswith("deberta"):
        recipe.cases = disentangled_cases
RECIPES["deberta_v2_far"].cases = lambda config: {"mixed_lengths": draw_inputs(config, right_padded([200, 90]), 1),
                                                  "holes": draw_inputs(config, [([1, 1, 0] * 50)[:140]], 2)}
# Rotary positions: sizes are plain, the rest as the families have it.
PLAIN = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings",
         "pad_token_id", "bos_token_id", "eos_token_id")
LAYERS = dict(plain=True, num_hidden_layers=3)
add_family("ModernBert", "modernbert", 401, HEADS, **LAYERS, local_attention=8)
RECIPES["modernbert_biases"] = Recipe("ModernBert", "ForSequenceClassification", seed=411, plain=True, num_labels=3, attention_bias=True, mlp_bias=True,
                                      norm_bias=True, classifier_bias=True, classifier_pooling="mean", hidden_activation="silu",
                                      rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                                                       "sliding_attention": {"rope_type": "default", "rope_theta": 20.0}})
for head in HEADS:
    RECIPES[f"modernbert_{head}"].cases = choice_cases if head == "multiple_choice" else windowed_cases
add_family("NomicBert", "nomic_bert", 421, ("base", "masked_lm", "sequence_classification", "token_classification"), **LAYERS, type_vocab_size=2)
add_family("Gte", "gte", 431, ("base", "masked_lm", "sequence_classification", "token_classification"), **LAYERS, type_vocab_size=2)
RECIPES["gte_no_types"] = Recipe("Gte", "Model", seed=441, **LAYERS, type_vocab_size=0)
NOMIC_FIRST = FirstSpelling(
    "", [("layers.", "encoder.layers."), ("embeddings.LayerNorm", "emb_ln"), ("self_attn.o_proj", "attn.out_proj"), ("up_proj", "fc11"), ("gate_proj", "fc12"),
         ("down_proj", "fc2"), ("post_attention_layernorm", "norm1"), ("post_mlp_layernorm", "norm2")],
    [("attn.Wqkv", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"])],
    lambda config: {"model_type": "nomic_bert", "architectures": ["NomicBertModel"], "vocab_size": config.vocab_size, "n_embd": config.hidden_size,
                    "n_layer": config.num_hidden_layers, "n_head": config.num_attention_heads, "n_inner": config.intermediate_size,
                    "n_positions": config.max_position_embeddings, "layer_norm_epsilon": config.layer_norm_eps, "activation_function": "swiglu",
                    "type_vocab_size": config.type_vocab_size, "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
                    "rotary_scaling_factor": None, "prenorm": False, "use_rms_norm": False})
RECIPES["nomic_bert_first"] = Recipe("NomicBert", "Model", seed=442, **LAYERS, type_vocab_size=2, first=NOMIC_FIRST)
GTE_FIRST = FirstSpelling(
    "new.", [("layers.", "encoder.layer."), ("self_attn.o_proj", "attention.o_proj"), ("post_attention_layernorm", "attn_ln"), ("post_mlp_layernorm", "mlp_ln")],
    [("attention.qkv_proj", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]), ("mlp.up_gate_proj", ["mlp.up_proj", "mlp.gate_proj"])],
    lambda config: {**json.loads(config.to_json_string()), "model_type": "new", "architectures": ["NewModel"], "rope_parameters": None,
                    "rope_theta": 700.0, "position_embedding_type": "rope", "layer_norm_type": "layer_norm", "pack_qkv": True})
RECIPES["gte_first"] = Recipe("Gte", "Model", seed=443, **LAYERS, type_vocab_size=2, rope_parameters={"rope_type": "default", "rope_theta": 700.0},
                              first=GTE_FIRST)
add_family("JinaEmbeddingsV3", "jina_embeddings_v3", 451, ("base", "masked_lm", "sequence_classification", "token_classification", "question_answering"),
           **LAYERS, type_vocab_size=1)
# What transformers writes: the names of Jina's code.
JINA_SAVED = FirstSpelling(
    "", [("embeddings.LayerNorm", "emb_ln"), ("layers.", "encoder.layers."), ("self_attn.o_proj", "mixer.out_proj"), ("post_attention_layernorm", "norm1"),
         ("post_mlp_layernorm", "norm2")],
    [("mixer.Wqkv", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"])], lambda config: json.loads(config.to_json_string()))
RECIPES["jina_embeddings_v3_saved"] = Recipe("JinaEmbeddingsV3", "Model", seed=767, **{**LAYERS, "num_hidden_layers": 2}, type_vocab_size=2, cases=mixed_case,
                                             first=JINA_SAVED)
add_family("EuroBert", "eurobert", 461, ("base", "masked_lm", "sequence_classification", "token_classification"), **LAYERS, num_key_value_heads=1)
for number, pooling in enumerate(("bos", "mean")):
    RECIPES[f"eurobert_{pooling}"] = Recipe("EuroBert", "ForSequenceClassification", seed=471 + number, **LAYERS, num_labels=3, classifier_pooling=pooling)
GROUPED = dict(**LAYERS, num_key_value_heads=1)
MORE["causal_lm"] = "ForCausalLM"
CAUSAL = ("base", "causal_lm", "sequence_classification", "token_classification")
ANSWERS = dict(plain=True, num_hidden_layers=2, num_key_value_heads=1)
add_family("Llama", "llama", 501, CAUSAL, **GROUPED)
add_family("Mistral", "mistral", 511, CAUSAL, **GROUPED, sliding_window=None)
add_family("Qwen2", "qwen2", 521, CAUSAL, **GROUPED)
add_family("Qwen3", "qwen3", 531, CAUSAL, **GROUPED, head_dim=12)
for family in ("llama", "mistral", "qwen2", "qwen3"):
    RECIPES[f"{family}_sequence_classification"].cases = classified_cases
RECIPES["llama_question_answering"] = Recipe("Llama", "ForQuestionAnswering", seed=765, cases=mixed_case, **ANSWERS)
RECIPES["qwen3_question_answering"] = Recipe("Qwen3", "ForQuestionAnswering", seed=766, cases=mixed_case, **ANSWERS, head_dim=12)
RECIPES["llama_llama3"] = Recipe("Llama", "Model", seed=541, **GROUPED, attention_bias=True, mlp_bias=True, head_dim=16,
                                 rope_parameters={"rope_type": "llama3", "rope_theta": 50.0, "factor": 4.0, "low_freq_factor": 1.0,
                                                  "high_freq_factor": 3.0, "original_max_position_embeddings": 16})
RECIPES["llama_yarn"] = Recipe("Llama", "Model", seed=542, **GROUPED, head_dim=16,
                               rope_parameters={"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 10})
RECIPES["llama_linear"] = Recipe("Llama", "Model", seed=543, **GROUPED, rope_parameters={"rope_type": "linear", "rope_theta": 100.0, "factor": 3.0})
RECIPES["llama_dynamic"] = Recipe("Llama", "Model", seed=544, **GROUPED, rope_parameters={"rope_type": "dynamic", "rope_theta": 100.0, "factor": 3.0})
RECIPES["mistral_window"] = Recipe("Mistral", "Model", seed=545, cases=windowed_cases, **GROUPED, sliding_window=5)
RECIPES["qwen2_window"] = Recipe("Qwen2", "Model", seed=546, cases=windowed_cases, **GROUPED, use_sliding_window=True, sliding_window=6, max_window_layers=1)
GEMMA = dict(plain=True, name="Gemma3TextConfig", num_hidden_layers=3, num_key_value_heads=1, head_dim=12, query_pre_attn_scalar=20, sliding_window=7,
             layer_types=["sliding_attention", "full_attention", "sliding_attention"], cases=windowed_cases)
RECIPES["gemma3_base"] = Recipe("Gemma3", "TextModel", seed=551, **GEMMA)
RECIPES["gemma3_both_ways"] = Recipe("Gemma3", "TextModel", seed=552, **GEMMA, use_bidirectional_attention=True)
RECIPES["gemma3_causal_lm"] = Recipe("Gemma3", "ForCausalLM", seed=553, **{**GEMMA, "num_hidden_layers": 1, "layer_types": ["sliding_attention"]},
                                     final_logit_softcapping=30.0)
RECIPES["gemma3_sequence_classification"] = Recipe("Gemma3", "TextForSequenceClassification", seed=768, **{
    **GEMMA, "num_hidden_layers": 1, "layer_types": ["full_attention"], "cases": classified_cases}, num_labels=3)
# Decoders whose config.json says that they attend both ways: windows then count tokens of both sides.
RECIPES["qwen2_both_ways"] = Recipe("Qwen2", "Model", seed=561, cases=mixed_case, **GROUPED, is_causal=False)
RECIPES["mistral_both_ways"] = Recipe("Mistral", "Model", seed=562, cases=mixed_case, **GROUPED, sliding_window=5, is_causal=False)
RECIPES["gemma3_not_causal"] = Recipe("Gemma3", "TextModel", seed=571, **{**GEMMA, "cases": mixed_case}, is_causal=False)
# Full attention in the middle and at the end, with wider heads and fewer keys.
GEMMA2 = dict(vocab_size=61, hidden_size=16, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=4, global_head_dim=6,
              num_global_key_value_heads=1, intermediate_size=20, hidden_size_per_layer_input=6, embedding_dim=10, max_position_embeddings=40,
              sliding_window=4, sliding_window_pattern=2)
RECIPES["embedding_gemma2_text"] = Recipe("EmbeddingGemma2", "TextModel", seed=748, cases=windowed_cases, plain=True, name="EmbeddingGemma2TextConfig", **GEMMA2)
RECIPES["embedding_gemma2_part"] = Recipe("EmbeddingGemma2", "Model", seed=706, cases=windowed_cases, name="EmbeddingGemma2Config",
                                          text_config={**GEMMA2, "num_hidden_layers": 2})


def few_cases(config):
    """For architectures that differ from others in few parts."""
    form = config.architectures[0]
    cases = (windowed_cases if getattr(config, "layer_types", None) else cases_of)(config)
    longest = config.max_position_embeddings - (config.pad_token_id + 1 if config.model_type in ("data2vec-text", "xlm-roberta") else 0)
    mixed = without_types(config, {"mixed_lengths": draw_inputs(config, right_padded([9, 1, longest, 2]), 1)})
    names = ["holes"] + (["left_padded"] + ["positions"] * (config.model_type != "bert") if form.endswith("Model") else [])
    cases = {**mixed, **{name: cases[name] for name in names}}
    return with_padding_ids(config, cases) if form.startswith("ModernBertDecoderForSeq") else cases


FEW = dict(vocab_size=13, max_position_embeddings=20)
add_family("Ernie", "ernie", 631, ("base", "masked_lm", "sequence_classification", "next_sentence"), **FEW, type_vocab_size=2, pad_token_id=0)
RECIPES["ernie_tasks"] = Recipe("Ernie", "Model", seed=641, **FEW, type_vocab_size=2, pad_token_id=0, use_task_id=True, task_type_vocab_size=3)
add_family("Data2VecText", "data2vec_text", 651, ("base", "masked_lm", "sequence_classification"), **FEW)
DECODER = dict(**LAYERS, **FEW, local_attention=8)
RECIPES["modernbert_decoder_base"] = Recipe("ModernBertDecoder", "Model", seed=661, **DECODER)
RECIPES["modernbert_decoder_causal_lm"] = Recipe("ModernBertDecoder", "ForCausalLM", seed=662, **DECODER)
RECIPES["modernbert_decoder_sequence_classification"] = Recipe(
    "ModernBertDecoder", "ForSequenceClassification", seed=664, num_labels=3, **DECODER, attention_bias=True, mlp_bias=True, norm_bias=True,
    classifier_bias=True, classifier_activation="silu")
for name, recipe in RECIPES.items():
    if name.startswith(("ernie", "data2vec", "modernbert_decoder")):
        recipe.cases = few_cases


JINA = dict(FEW, name="BertConfig", cases=few_cases, hidden_size=24, num_attention_heads=3, num_hidden_layers=2, type_vocab_size=2, pad_token_id=0,
            position_embedding_type="alibi", feed_forward_type="geglu", code="jinaai/jina-bert-implementation--modeling_bert.JinaBertModel")
JINA_CODE = dict(JINA, code="jinaai/jina-bert-v2-qk-post-norm--modeling_bert.JinaBertModel")
RECIPES["jina_bert_base"] = Recipe("JinaBert", "Model", seed=671, **{**JINA, "hidden_size": 36, "num_attention_heads": 6, "num_hidden_layers": 1})
RECIPES["jina_bert_masked_lm"] = Recipe("JinaBert", "ForMaskedLM", seed=672, **JINA)
RECIPES["jina_bert_sequence_classification"] = Recipe("JinaBert", "ForSequenceClassification", seed=678, num_labels=3, **{**JINA, "feed_forward_type": "reglu"})
RECIPES["jina_bert_token_classification"] = Recipe("JinaBert", "ForTokenClassification", seed=674, num_labels=3, **{**JINA, "feed_forward_type": "original"})
RECIPES["jina_bert_code_base"] = Recipe("JinaBert", "Model", seed=675, **JINA_CODE)
RECIPES["jina_bert_code_question_answering"] = Recipe("JinaBert", "ForQuestionAnswering", seed=676, **{**JINA_CODE, "feed_forward_type": "original"})
NEW = dict(FEW, name="BertConfig", cases=few_cases, num_hidden_layers=2, type_vocab_size=2, code="Alibaba-NLP/new-impl--modeling.NewModel")
RECIPES["new_alibi"] = Recipe("New", "Model", seed=681, **NEW, position_embedding_type="alibi", pack_qkv=True, written={"model_type": "new"})
RECIPES["new_absolute"] = Recipe("New", "Model", seed=682, **NEW, position_embedding_type="absolute", pack_qkv=False, written={"model_type": "new"})

# Jina's own XLM-RoBERTa with a table of positions, as jina-reranker-v2-base-multilingual configures it.
JINA_XLM = FirstSpelling(
    "", [("encoder.layer.", "encoder.layers."), ("embeddings.LayerNorm", "emb_ln"), ("attention.output.dense", "mixer.out_proj"),
         ("attention.output.LayerNorm", "norm1"), ("intermediate.dense", "mlp.fc1"), (".output.dense", ".mlp.fc2"), (".output.LayerNorm", ".norm2")],
    [("mixer.Wqkv", ["attention.self.query", "attention.self.key", "attention.self.value"])],
    lambda config: {**{key: getattr(config, key) for key in FIELDS if key not in ("bos_token_id", "eos_token_id")},
                    "model_type": "xlm-roberta", "architectures": ["XLMRobertaForSequenceClassification"], "position_embedding_type": "absolute",
                    "num_labels": 1, "lora_adaptations": None,
                    "auto_map": {"AutoConfig": "jinaai/jina-reranker-v2-base-multilingual--configuration_xlm_roberta.XLMRobertaFlashConfig",
                                 "AutoModelForSequenceClassification":
                                     "jinaai/jina-reranker-v2-base-multilingual--modeling_xlm_roberta.XLMRobertaForSequenceClassification"}})
RECIPES["jina_xlm_roberta_sequence_classification"] = Recipe("XLMRoberta", "ForSequenceClassification", seed=721, cases=few_cases, **FEW, num_labels=1,
                                                             num_hidden_layers=2, first=JINA_XLM)


def without_positions(config):
    return {name: inputs for name, inputs in few_cases(config).items() if name != "positions"}


EXPERTS = dict(num_experts=4, moe_top_k=2, moe_every_n_layers=2)
RECIPES["nomic_bert_experts"] = Recipe(
    "NomicBert", "Model", seed=711, name="BertConfig", cases=without_positions, code="nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel",
    **FEW, num_hidden_layers=4, type_vocab_size=1, rotary_emb_base=50.0, **EXPERTS,
    written={"model_type": "nomic_bert", "n_embd": 16, "n_layer": 4, "n_head": 2, "n_inner": 20, "n_positions": 20, "layer_norm_epsilon": 1e-5,
             "activation_function": "gelu", "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False, "rotary_scaling_factor": None,
             "prenorm": False, "use_rms_norm": None, "expert_choice_router": False, "moe_normalize_expert_weights": False, "num_shared_experts": 0,
             "ffn_div": 1})
# Its classes take no position_ids.
def t5_cases(config):
    return {name: inputs for name, inputs in cases_of(config).items() if name != "positions"}


T5 = dict(d_model=16, d_kv=12, d_ff=20, num_layers=3, num_heads=2, pad_token_id=0, cases=t5_cases)
for number, family in enumerate(("T5", "MT5", "UMT5")):
    # Scores that are not scaled amplify roundings; UMT5's third layer would take them past the tests' bound on XLA.
    layers = {"num_layers": 2} if family == "UMT5" else {}
    RECIPES[f"{family.lower()}_encoder"] = Recipe(family, "EncoderModel", seed=601 + number, **{**T5, **layers})
    RECIPES[f"{family.lower()}_token_classification"] = Recipe(family, "ForTokenClassification", seed=611 + number, num_labels=3, **{**T5, "num_layers": 1})
# Distances beyond the last bucket, which are few; a plain activation that is not relu.
RECIPES["t5_buckets"] = Recipe("T5", "EncoderModel", seed=621, **{**T5, "num_layers": 1}, relative_attention_num_buckets=9,
                               relative_attention_max_distance=11, feed_forward_proj="gated-silu", layer_norm_epsilon=0.03)
# Another padding id, two types, several layers, and a head whose activation is not hidden_act.
RECIPES["roberta_padding_5"] = Recipe("Roberta", "ForMaskedLM", seed=21, pad_token_id=5, type_vocab_size=2,
                                      num_hidden_layers=2, hidden_act="relu")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "architectures")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in [name for name in RECIPES if not options.only or name.startswith(tuple(options.only.split(",")))]:
        print(f"{name}: {', '.join(RECIPES[name].record(options.out / name))}")
    pack_folders(options.out)


if __name__ == "__main__":
    main()
