"""Tiny decoders whose greedy tokens record_greedy.py records: the settings that families of language models have."""
import dataclasses


@dataclasses.dataclass
class Recipe:
    architecture: str  # transformers' class
    config: dict  # of config.json, as the model's author wrote it
    is_saved: bool = False  # config.json is what transformers writes of it instead
    has_cache: bool = True  # False: the text becomes longer than the one that its first rotary angles are for
    prefixes: tuple = ()  # of stored names: (transformers', the file's)


SIZES = dict(vocab_size=61, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=40,
             max_position_embeddings=128, pad_token_id=0, bos_token_id=1, eos_token_id=2)
SHORT, LONG = [1.0, 1.25, 1.5, 2.0], [1.5, 2.5, 4.0, 7.0]
OLD_PREFIXES = (("model.language_model.", "language_model.model."), ("lm_head.", "language_model.lm_head."))


def of(model_type, architecture, is_saved=False, has_cache=True, prefixes=(), **config):
    return Recipe(architecture, {"model_type": model_type, **SIZES, **config}, is_saved, has_cache, prefixes)


def llama(**config):
    return of("llama", "LlamaForCausalLM", **config)


def phi3(**config):
    return of("phi3", "Phi3ForCausalLM", **config)


GEMMA2 = dict(head_dim=12, query_pre_attn_scalar=12, sliding_window=5)
GEMMA3 = dict(**GEMMA2, sliding_window_pattern=2, rope_theta=500.0, rope_local_base_freq=50.0)
YARN = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32.0, "beta_slow": 1.0,
        "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.3}
MODELS = {
    "llama_biases": llama(attention_bias=True, mlp_bias=True, tie_word_embeddings=True, head_dim=12),
    "llama_linear": llama(rope_theta=100.0, rope_scaling={"type": "linear", "factor": 3.0}),
    "llama_dynamic": llama(rope_parameters={"rope_type": "dynamic", "rope_theta": 100.0, "factor": 3.0}),
    "llama_yarn": llama(is_saved=True, rope_theta=100.0, rope_scaling={
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 8.0, "beta_slow": 2.0, "mscale": 1.5,
        "mscale_all_dim": 0.5}),
    "llama_yarn_factor": llama(rope_theta=100.0, rope_scaling={"rope_type": "yarn", "factor": 2.0, "attention_factor": 1.3}),
    "llama_llama3": llama(is_saved=True, rope_theta=50.0, rope_scaling={
        "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 3.0, "original_max_position_embeddings": 16}),
    "llama_longrope": llama(rope_scaling={"rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG, "factor": 3.0,
                                          "original_max_position_embeddings": 96}),
    "llama_longrope_long": llama(has_cache=False, rope_scaling={"rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG,
                                                                "original_max_position_embeddings": 20}),
    "mistral_heads": of("mistral", "MistralForCausalLM", is_saved=True, head_dim=12, sliding_window=9),
    "ministral": of("ministral", "MinistralForCausalLM", head_dim=8, num_hidden_layers=3, sliding_window=5,
                    layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
    "ministral_default": of("ministral", "MinistralForCausalLM", head_dim=12, sliding_window=6),
    "ministral3": of("ministral3", "Ministral3ForCausalLM", is_saved=True, head_dim=12, rope_parameters=YARN),
    "qwen2_windows": of("qwen2", "Qwen2ForCausalLM", use_sliding_window=True, sliding_window=6, max_window_layers=1),
    "qwen2_without": of("qwen2", "Qwen2ForCausalLM", use_sliding_window=False, sliding_window=6, max_window_layers=1, tie_word_embeddings=True),
    "qwen3_biases": of("qwen3", "Qwen3ForCausalLM", is_saved=True, head_dim=12, attention_bias=True, use_sliding_window=True, sliding_window=6,
                       layer_types=["sliding_attention", "full_attention"]),
    "phi3": phi3(sliding_window=7),
    "phi3_tied": phi3(is_saved=True, tie_word_embeddings=True, num_key_value_heads=4),
    "phi3_longrope": phi3(original_max_position_embeddings=96, partial_rotary_factor=0.75,
                          rope_scaling={"type": "su", "short_factor": SHORT[:3], "long_factor": LONG[:3],
                                        "original_max_position_embeddings": 96}),
    "phi3_longrope_long": phi3(is_saved=True, has_cache=False, original_max_position_embeddings=20, num_key_value_heads=1,
                               rope_scaling={"type": "longrope", "short_factor": SHORT, "long_factor": LONG}),
    "smollm3": of("smollm3", "SmolLM3ForCausalLM", num_hidden_layers=4, rope_theta=500.0),
    "smollm3_windows": of("smollm3", "SmolLM3ForCausalLM", is_saved=True, num_hidden_layers=3, no_rope_layers=[1, 0, 1], use_sliding_window=True,
                          sliding_window=5, tie_word_embeddings=False, attention_bias=True, mlp_bias=True),
    "granite": of("granite", "GraniteForCausalLM", embedding_multiplier=3.0, attention_multiplier=0.2, residual_multiplier=0.7,
                  logits_scaling=2.0, tie_word_embeddings=True),
    "granite_biases": of("granite", "GraniteForCausalLM", is_saved=True, attention_bias=True, mlp_bias=True, attention_multiplier=0.25,
                         rope_parameters={"rope_type": "linear", "rope_theta": 100.0, "factor": 2.0}),
    "gemma": of("gemma", "GemmaForCausalLM", head_dim=12, hidden_act="gelu", num_key_value_heads=1),
    "gemma2": of("gemma2", "Gemma2ForCausalLM", **GEMMA2, num_hidden_layers=3, attn_logit_softcapping=2.0, final_logit_softcapping=3.0),
    "gemma2_uncapped": of("gemma2", "Gemma2ForCausalLM", is_saved=True, **{**GEMMA2, "query_pre_attn_scalar": 20}, attn_logit_softcapping=None, final_logit_softcapping=None,
                          layer_types=["full_attention", "sliding_attention"], tie_word_embeddings=False, attention_bias=True),
    "gemma3_linear": of("gemma3_text", "Gemma3ForCausalLM", **GEMMA3, rope_scaling={"rope_type": "linear", "factor": 4.0}),
    "gemma3_saved": of("gemma3_text", "Gemma3ForCausalLM", is_saved=True, **{**GEMMA3, "query_pre_attn_scalar": 20}, final_logit_softcapping=3.0, num_hidden_layers=3),
    "gemma3_wrapped": Recipe("Gemma3ForConditionalGeneration", {
        "model_type": "gemma3", "text_config": {"model_type": "gemma3_text", **SIZES, **GEMMA3},
        "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
                          "num_attention_heads": 1, "image_size": 28, "patch_size": 14}, "mm_tokens_per_image": 4}, prefixes=OLD_PREFIXES),
    "mistral3_wrapped": Recipe("Mistral3ForConditionalGeneration", {
        "model_type": "mistral3", "text_config": {"model_type": "ministral3", **SIZES, "head_dim": 12, "rope_parameters": YARN},
        "vision_config": {"model_type": "pixtral", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
                          "head_dim": 8, "image_size": 28, "patch_size": 14}, "tie_word_embeddings": False}, is_saved=True),
    "mistral3_wrapped_mistral": Recipe("Mistral3ForConditionalGeneration", {
        "model_type": "mistral3", "text_config": {"model_type": "mistral", **SIZES, "head_dim": 12, "rope_theta": 500.0, "sliding_window": None},
        "vision_config": {"model_type": "pixtral", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
                          "head_dim": 8, "image_size": 28, "patch_size": 14}}, prefixes=OLD_PREFIXES),
}
