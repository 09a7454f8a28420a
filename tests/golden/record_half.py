"""Records what numpy and ml_dtypes make of small floats, for tests/unit/tensor/half_test.cpp.

Run with a Python that has numpy and ml_dtypes:  python record_half.py > half.txt
Each line of the result is "NAME COUNT HASH": FNV-1a (64 bits) over the output patterns, little-endian, every NaN replaced
by one pattern (0x7fc00000 as f32, 0x7e00 as f16, 0x7fc0 as bf16, 0x7e as f8e5m2, 0x7f as f8e4m3fn); signs of NaNs are
tested apart. Lines "case NAME INPUT OUTPUT" are single patterns in hexadecimal, to see what is wrong when a hash differs.
"""

import ml_dtypes
import numpy as np

np.seterr(all="ignore")

TYPES = {
    "f16": (np.float16, np.uint16, 0x7E00),
    "bf16": (ml_dtypes.bfloat16, np.uint16, 0x7FC0),
    "f8e5m2": (ml_dtypes.float8_e5m2, np.uint8, 0x7E),
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, np.uint8, 0x7F),
}


def fnv1a(array):
    hash_ = 0xCBF29CE484222325
    for byte in array.tobytes():
        hash_ = (hash_ ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return hash_


def patterns(bits):
    return np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)


def to_float(name, small):
    dtype, _, _ = TYPES[name]
    wide = small.view(dtype).astype(np.float32)
    out = wide.view(np.uint32).copy()
    out[np.isnan(wide)] = 0x7FC00000
    return out


def from_float(name, wide):
    dtype, unsigned, nan = TYPES[name]
    small = wide.astype(dtype)
    out = small.view(unsigned).copy()
    out[np.isnan(wide)] = nan
    # A type without infinities turns what is too large into NaN; which one is up to the library.
    overflowed = np.isnan(small.astype(np.float32)) & ~np.isnan(wide)
    sign = np.where(np.signbit(wide), 1 << (8 * out.itemsize - 1), 0).astype(unsigned)
    return np.where(overflowed, sign | nan, out).astype(unsigned)


def strided():
    """The whole of f32 at a stride coprime to all powers of two: about a million patterns."""
    return (np.arange(1 << 20, dtype=np.uint64) * 4097).astype(np.uint32).view(np.float32)


def midpoints(name):
    """All midpoints between neighbours, and the floats just below and above them; both signs."""
    dtype, unsigned, _ = TYPES[name]
    top = {"f16": 0x7BFF, "bf16": 0x7F7F, "f8e5m2": 0x7B, "f8e4m3fn": 0x7E}[name]
    values = np.arange(top + 1).astype(unsigned).view(dtype).astype(np.float64)
    # Above the largest finite value is the one that the next pattern would be if the exponents went on.
    above = np.append(values[1:], values[-1] + (values[-1] - values[-2]))
    middle = ((values + above) / 2).astype(np.float32).view(np.uint32)
    three = np.stack([middle - 1, middle, middle + 1], axis=1).reshape(-1)
    return np.concatenate([three, three | 0x80000000]).view(np.float32)


def main():
    for name, (_, unsigned, _) in TYPES.items():
        out = to_float(name, patterns(8 * np.dtype(unsigned).itemsize))
        print(f"{name}_to_float {out.size} {fnv1a(out):016x}")
        for kind, inputs in (("strided", strided()), ("midpoints", midpoints(name))):
            out = from_float(name, inputs)
            print(f"float_to_{name}_{kind} {out.size} {fnv1a(out):016x}")
            if kind == "midpoints":
                for i in range(0, out.size, out.size // 24):
                    print(f"case float_to_{name} {inputs.view(np.uint32)[i]:08x} {out[i]:04x}")
    middle = midpoints("f16").astype(np.float64).view(np.uint64)
    near = np.stack([middle - 1, middle, middle + 1], axis=1).reshape(-1).view(np.float64)
    out = from_float("f16", near)
    print(f"double_to_f16_midpoints {out.size} {fnv1a(out):016x}")


main()
