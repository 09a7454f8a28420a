"""Records what gguf-py makes of random numbers, for tests/unit/tensor/block_rounding_test.cpp.

Run with a Python that has numpy and gguf (0.19):  python record_block_rounding.py > block_rounding.txt
The first line is VALUES_HEX, the bits of little-endian floats [4, 64]; then each is KIND BLOCKS_HEX.
"""

import gguf
import numpy as np


def main():
    random = np.random.default_rng(7)
    values = random.standard_normal((4, 64)).astype("<f4") * np.array([[1], [1e-3], [250], [1e-7]], "<f4")
    values[1, :32] = 0
    values[2, 40:] = values[2, 40]
    print(values.tobytes().hex())
    for name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"):
        blocks = gguf.quants.quantize(values, gguf.GGMLQuantizationType[name])
        print(name.lower(), blocks.tobytes().hex())


main()
