"""Records sentence-transformers' quantize_embeddings as precisions.safetensors, beside this file (sentence-transformers 6.2.0).

`vectors` are embeddings, `calibration` others; `fixed_PRECISION` are by the range -1 to 1, `calibrated_PRECISION` by the ranges of
the calibration.
"""
import pathlib

import numpy as np
from safetensors.numpy import save_file
from sentence_transformers.util import quantize_embeddings

from tiny_weights import noise


def main():
    width = 21
    vectors = noise("vectors", 7, 12 * width).reshape(12, width).astype(np.float32)
    vectors[:9] /= np.linalg.norm(vectors[:9], axis=1, keepdims=True)
    vectors[9] = np.linspace(-1.2, 1.2, width)  # beyond the range, and zero
    vectors[10] = (np.arange(width) - 10) * np.float32(2 / 255) - 1  # on and beside the borders of steps
    vectors[11, :4] = [0.0, -0.0, np.float32(1e-45), np.float32(-1e-45)]
    calibration = noise("calibration", 7, 5 * width).reshape(5, width).astype(np.float32)
    calibration[:, 3] = 0.25  # a range without width
    fixed = np.array([[-1] * width, [1] * width], dtype=np.float32)
    tensors = {"vectors": vectors, "calibration": calibration}
    for precision in ("int8", "uint8", "binary", "ubinary"):
        tensors["fixed_" + precision] = quantize_embeddings(vectors, precision, ranges=fixed)
        tensors["calibrated_" + precision] = quantize_embeddings(vectors, precision, calibration_embeddings=calibration)
    save_file(tensors, pathlib.Path(__file__).parent / "precisions.safetensors")


if __name__ == "__main__":
    main()
