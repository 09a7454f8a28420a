"""Records what ml_dtypes makes of the small floats that are stored but not computed with, for
tests/unit/tensor/small_float_test.cpp.

Run with a Python that has numpy and ml_dtypes:  python record_small_floats.py > small_floats.txt
A line "widen NAME PATTERN…" has every pattern of the type as f64, in hexadecimal, NaN as 7ff8000000000000. A line
"round NAME COUNT HASH" has FNV-1a (64 bits) over what floats become, a byte each: every f32 at a stride of 4097
patterns (NaNs too), then every midpoint between neighbours with the floats next to it, of both signs, where the type's
exponents go on above its largest number. Doubles are not recorded: ml_dtypes rounds them twice, by way of f32.
"""

import ml_dtypes
import numpy as np

np.seterr(all="ignore")

TYPES = {
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
}


def fnv1a(array):
    hash_ = 0xCBF29CE484222325
    for byte in array.tobytes():
        hash_ = (hash_ ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return hash_


def main():
    strided = (np.arange(1 << 20, dtype=np.uint64) * 4097).astype(np.uint32).view(np.float32)
    for name, dtype in TYPES.items():
        patterns = np.arange(16 if name == "f4e2m1fn" else 256).astype(np.uint8)
        wide = patterns.view(dtype).astype(np.float64)
        bits = np.where(np.isnan(wide), 0x7FF8000000000000, wide.view(np.uint64))
        print("widen", name, *(f"{b:x}" for b in bits))
        values = np.unique(np.abs(wide[np.isfinite(wide)]))
        above = np.append(values[1:], values[-1] + (values[-1] - values[-2]))
        middle = ((values + above) / 2).astype(np.float32).view(np.uint32)
        near = np.stack([middle - 1, middle, middle + 1], axis=1).reshape(-1).view(np.float32)
        floats = np.concatenate([strided, near, -near])
        if name == "f8e8m0fnu":
            # ml_dtypes rounds these subnormal floats up, although 2^-127 is the nearer neighbour.
            floats[(floats > 2.0**-127) & (floats < 1.5 * 2.0**-127)] = 1
        small = floats.astype(dtype).view(np.uint8)
        print("round", name, small.size, f"{fnv1a(small):016x}")


main()
