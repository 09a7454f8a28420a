"""Weights of tiny models, made from a seed: tiny_weights.h makes the same bytes in C++.

Each tensor has a stream of its own, begun by its name and the seed. Every step is exact or rounded once in float64, so
that both give the same float32 numbers on any machine.
"""
import numpy as np

MASK = (1 << 64) - 1


def fnv1a(text):
    """The 64-bit FNV-1a hash of a text."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def noise(name, seed, count):
    """`count` numbers of variance 1 in float64: uniform in ±sqrt(3), by SplitMix64 (Steele et al. 2014)."""
    state = np.uint64((fnv1a(name) + seed * 0x9E3779B97F4A7C15) & MASK)
    with np.errstate(over="ignore"):
        z = state + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype(np.float64) / 2**23 - 1.0) * 1.7320508075688772


def weight(name, shape, seed):
    """A parameter by its name: norms' scales near 1, biases of 0.3, embeddings of 1, products of 1/sqrt(width)."""
    values = noise(name, seed, int(np.prod(shape, dtype=np.int64)))
    if name.endswith(("weight", "layer_weights")) and len(shape) == 1:
        values = 1.0 + 0.3 * values
    elif name.endswith("bias"):
        values = 0.3 * values
    elif "embeddings." not in name:
        values = values / np.sqrt(np.float64(shape[-1]))
    return values.astype(np.float32).reshape(shape)
