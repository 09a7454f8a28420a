"""Records what gguf-py makes of random ggml blocks, for tests/unit/tensor/encoding_test.cpp.

Run with a Python that has numpy and gguf (0.19):  python record_encodings.py > encodings.txt
Each line: KIND BLOCKS_HEX VALUES_HEX, the values being the bits of little-endian floats; NaNs are not recorded, because
scales are made finite.
"""

import gguf
import numpy as np

# Where a block's f16 scales are, in bytes.
SCALES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": [],
    "TQ1_0": [52], "TQ2_0": [64],
}  # fmt: skip


def main():
    random = np.random.default_rng(5)
    for name, scales in SCALES.items():
        kind = gguf.GGMLQuantizationType[name]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        count = 2 if elements == 256 else 4
        blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
        for at in scales:  # one of them subnormal
            values = np.array([0.0371, -1.25, 3.1e-7, 211.0][:count], np.float16)
            blocks[:, at : at + 2] = values.view(np.uint8).reshape(count, 2)
        if name == "MXFP4":
            blocks[:, 0] = [0, 1, 127, 200]
        values = gguf.quants.dequantize(blocks, kind).astype("<f4")
        assert values.size == count * elements and np.isfinite(values).all()
        print(name.lower(), blocks.tobytes().hex(), values.tobytes().hex())


main()
