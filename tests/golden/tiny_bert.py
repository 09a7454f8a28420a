"""Small BERT models with random weights in which every tensor can be seen in the output."""
import zlib

import torch
from transformers import BertConfig


def tiny_config(**changes):
    """A BERT configuration of a few thousand weights; `changes` override any of its fields."""
    fields = dict(
        vocab_size=61,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=20,
        max_position_embeddings=64,
        type_vocab_size=2,
        hidden_act="gelu",
        layer_norm_eps=1e-12,
    )
    fields.update(changes)
    return BertConfig(**fields)


def fill(model, seed, embedding_scale=1.0, intermediate_scales=(1.0, 1.0)):
    """Gives every parameter values of its own, drawn from its name and the seed.

    The library starts norms at one and biases at zero; a reader that forgets to load them would then pass.
    Drawing by name keeps the values independent of the order in which the library creates its layers.
    The rows of the intermediate layer are scaled from the first to the second of `intermediate_scales`.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            draw = torch.Generator().manual_seed(seed * 1_000_003 + zlib.crc32(name.encode()))
            noise = torch.randn(parameter.shape, generator=draw)
            if "LayerNorm.weight" in name:
                parameter.copy_(1.0 + 0.3 * noise)
            elif name.endswith("bias"):
                parameter.copy_(0.3 * noise)
            elif "embeddings." in name:
                parameter.copy_(embedding_scale * noise)
            else:
                parameter.copy_(noise / parameter.shape[-1] ** 0.5)
            if ".intermediate.dense." in name:
                scales = torch.linspace(*intermediate_scales, parameter.shape[0])
                parameter.mul_(scales.view(-1, *[1] * (parameter.dim() - 1)))
    return model.eval()
