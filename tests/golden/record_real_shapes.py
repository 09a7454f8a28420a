"""Writes the shapes of published models' layers: real widths, but one layer, a small vocabulary and few distances.

usage: record_real_shapes.py [--out DIR]     (DIR: the folder `real_shapes` beside this file)

Each folder DIR/NAME has config.json and shapes.json, of which tiny_weights.py and tiny_weights.h make weights. The
settings are those of the models' own config.json.
"""
import argparse
import json
import pathlib
import shutil

import torch
import transformers

from golden_folder import pack_folders
from record_models import write_json

SMALL = dict(vocab_size=1000, pad_token_id=0, bos_token_id=1, eos_token_id=2)
ONE = dict(num_hidden_layers=1)
BASE = dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
# A folder's name: the class and its settings.
MODELS = {
    "bert_minilm": ("BertModel", dict(**ONE, hidden_size=384, num_attention_heads=12, intermediate_size=1536)),
    "roberta_base": ("RobertaModel", dict(**ONE, **BASE, max_position_embeddings=514, type_vocab_size=1)),
    "distilbert_base": ("DistilBertModel", dict(dim=768, n_layers=1, n_heads=12, hidden_dim=3072)),
    "electra_small": ("ElectraModel", dict(**ONE, hidden_size=256, embedding_size=128, num_attention_heads=4, intermediate_size=1024)),
    "albert_base": ("AlbertModel", dict(num_hidden_layers=2, **BASE, embedding_size=128)),
    "mpnet_base": ("MPNetModel", dict(**ONE, **BASE, max_position_embeddings=514)),
    "modernbert_base": ("ModernBertModel", dict(num_hidden_layers=2, hidden_size=768, num_attention_heads=12, intermediate_size=1152)),
    "modernbert_large": ("ModernBertModel", dict(**ONE, hidden_size=1024, num_attention_heads=16, intermediate_size=2624)),
    "nomic_bert": ("NomicBertModel", dict(**ONE, **BASE)),
    "gte_multilingual": ("GteModel", dict(**ONE, **BASE, type_vocab_size=1)),
    "jina_embeddings_v3": ("JinaEmbeddingsV3Model", dict(**ONE, hidden_size=1024, num_attention_heads=16, intermediate_size=4096, type_vocab_size=1)),
    "eurobert_210m": ("EuroBertModel", dict(**ONE, **BASE, num_key_value_heads=12)),
    "llama_smollm2_135m": ("LlamaModel", dict(**ONE, hidden_size=576, num_attention_heads=9, num_key_value_heads=3, intermediate_size=1536)),
    "llama_smollm2_360m": ("LlamaModel", dict(**ONE, hidden_size=960, num_attention_heads=15, num_key_value_heads=5, intermediate_size=2560)),
    "qwen2_0.5b": ("Qwen2Model", dict(**ONE, hidden_size=896, num_attention_heads=14, num_key_value_heads=2, intermediate_size=4864)),
    "qwen3_0.6b": ("Qwen3Model", dict(**ONE, hidden_size=1024, num_attention_heads=16, num_key_value_heads=8, head_dim=128, intermediate_size=3072)),
    "gemma3_270m": ("Gemma3TextModel", dict(**ONE, hidden_size=640, num_attention_heads=4, num_key_value_heads=1, head_dim=256, intermediate_size=2048)),
    "embeddinggemma_300m": ("Gemma3TextModel", dict(**ONE, hidden_size=768, num_attention_heads=3, num_key_value_heads=1, head_dim=256,
                                                    intermediate_size=1152, use_bidirectional_attention=True)),
    "deberta_v3_base": ("DebertaV2Model", dict(**ONE, **BASE, relative_attention=True, position_buckets=16, norm_rel_ebd="layer_norm",
                                               share_att_key=True, pos_att_type=["p2c", "c2p"], max_relative_positions=-1,
                                               position_biased_input=False, type_vocab_size=0, layer_norm_eps=1e-7)),
    "deberta_base": ("DebertaModel", dict(**ONE, **BASE, relative_attention=True, pos_att_type=["c2p", "p2c"], max_relative_positions=16,
                                          position_biased_input=False, type_vocab_size=0, layer_norm_eps=1e-7)),
    "t5_base": ("T5EncoderModel", dict(num_layers=1, d_model=768, d_kv=64, d_ff=3072, num_heads=12)),
    "mt5_base": ("MT5EncoderModel", dict(num_layers=1, d_model=768, d_kv=64, d_ff=2048, num_heads=12)),
    "embedding_gemma2": ("EmbeddingGemma2TextModel", dict(num_hidden_layers=2, sliding_window_pattern=2)),
    "ernie_base": ("ErnieModel", dict(**ONE, **BASE)),
    "modernbert_decoder": ("ModernBertDecoderModel", dict(**ONE, hidden_size=768, num_attention_heads=12, intermediate_size=1152)),
    "mistral_narrow": ("MistralModel", dict(**ONE, hidden_size=1024, num_attention_heads=8, num_key_value_heads=2, intermediate_size=3584)),
}


def record(name, seed, folder):
    family, settings = MODELS[name]
    model_class = getattr(transformers, family)
    config = model_class.config_class(**{**SMALL, **settings})
    config.architectures = [family]
    with torch.device("meta"):
        model = model_class(config)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shapes = {key: list(parameter.shape) for key, parameter in model.named_parameters() if not key.startswith("pooler.")}
    write_json(folder / "config.json", json.loads(config.to_json_string()))
    (folder / "shapes.json").write_text('{"seed": %d, "shapes": {\n' % seed
                                        + ",\n".join(f"{json.dumps(key)}: {json.dumps(shape)}" for key, shape in shapes.items()) + "}}\n")
    return sum(torch.Size(shape).numel() for shape in shapes.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "real_shapes")
    options = parser.parse_args()
    for number, name in enumerate(MODELS):
        print(f"{name}: {record(name, 601 + number, options.out / name):,} parameters")
    pack_folders(options.out)


if __name__ == "__main__":
    main()
