"""convert and bitcast."""

import ml_dtypes
import numpy as np
from jax import lax

from recorder.family import FLOATS, INTS, NIBBLES, STORED, Family, edges, plain_op, text_name


def conversions():
    family = Family("convert")
    for source in [np.bool_, *INTS, *FLOATS]:
        for target in [np.bool_, *INTS, *FLOATS]:
            values = edges(source)
            family.add("convert", lambda v: lax.convert_element_type(v, target), [values], f"dtype={text_name(target)}")
    family.write()


def patterns(dtype):
    """Every value of a dtype of at most 8 bits."""
    if np.dtype(dtype) in map(np.dtype, NIBBLES + NARROW):
        info = ml_dtypes.iinfo(dtype)
        return np.arange(int(info.min), int(info.max) + 1).astype(dtype)
    count = 16 if dtype == ml_dtypes.float4_e2m1fn else 256
    return np.arange(count, dtype=np.uint8).view(dtype)


NARROW = [ml_dtypes.int2, ml_dtypes.uint2]
# Numbers around the limits and between the values of the narrow floats, halves to even among them; no denormal f32.
ROUNDED = np.array(
    [
        0,
        -0.0,
        1,
        -1,
        0.5,
        1.0625,
        1.09375,
        1.125,
        1.1875,
        1.3125,
        -1.75,
        2.5,
        3.5,
        5,
        -5,
        6,
        7,
        9,
        14.9,
        15.5,
        16,
        17,
        29,
        30,
        31,
        120,
        232,
        239,
        240,
        247,
        248,
        249,
        256,
        448,
        463,
        464,
        465,
        480,
        -500,
        57344,
        61439,
        61440,
        65504,
        1e6,
        -1e30,
        2**-6,
        2**-7,
        2**-9,
        2**-10,
        3 * 2**-11,
        2**-14,
        2**-16,
        2**-17,
        3 * 2**-18,
        2**-20,
        1e-20,
        np.inf,
        -np.inf,
        np.nan,
    ]
)


def narrow():
    """convert among all dtypes, the stored ones too; bitcast."""
    family = Family("narrow")
    e8 = ml_dtypes.float8_e8m0fnu
    for dtype in [*NIBBLES, *NARROW, *STORED, ml_dtypes.float4_e2m1fn, e8]:
        values = patterns(dtype)[:: 3 if dtype == e8 else 1]
        is_whole = dtype in NIBBLES + NARROW
        for target in [*FLOATS, np.int8, np.int32, np.uint8, *NIBBLES, np.bool_] + [np.complex64] * (
            dtype in STORED[:1]
        ):
            numbers_ = values
            if target == np.float16 and dtype == e8:  # denormals of f16, which XLA keeps or not
                numbers_ = values[38:]
            if dtype == e8 and target in (np.float32, ml_dtypes.bfloat16, np.bool_):
                numbers_ = numbers_[1:]  # 2^-127, which XLA takes for 0
            if dtype == ml_dtypes.float4_e2m1fn and target in (np.int8, np.int32, np.uint8):
                numbers_ = values[
                    np.abs(values.astype(np.float32)) < 6
                ]  # XLA takes the largest for beyond all integers
            if is_whole or dtype in STORED or target not in NIBBLES:
                add(family, numbers_, target)
        for source in [*FLOATS, np.int32, np.uint8, np.bool_, *NIBBLES]:
            given = ROUNDED.astype(source) if source in FLOATS else edges(source)
            if source in FLOATS:
                given = np.array(
                    [x for x in given if not 0 < abs(float(x)) < float(ml_dtypes.finfo(source).tiny)], source
                )
            add(family, given, dtype)
    for dtype in STORED:
        for target in STORED:
            if target != dtype:
                add(family, patterns(dtype), target)
    bitcasts(family)
    family.write()


def add(family, x, target):
    if target == ml_dtypes.float8_e5m2:  # has several NaN, and which one is made is not said
        x = x[~np.isnan(x.astype(np.float32).astype(target).astype(np.float32))]
    family.add("convert", plain_op("convert", [x], (x.shape, target)), [x], f"dtype={text_name(target)}")


def bitcasts(family):
    random = np.random.default_rng(14)
    same = {
        1: [np.int8, np.uint8, ml_dtypes.float8_e4m3fn],
        2: [np.int16, np.uint16, np.float16, ml_dtypes.bfloat16],
        4: [np.int32, np.uint32, np.float32],
        8: [np.int64, np.uint64, np.float64],
    }
    for size, dtypes in same.items():
        raw = np.frombuffer(random.bytes(2 * 3 * 8), np.uint8).reshape(2, 3, 8)
        for source in dtypes:
            for target_size, targets in same.items():
                x = (
                    raw.view(source)
                    if size * target_size == 8 or target_size > size
                    else raw[..., :size].view(source)[..., 0]
                )
                ratio = target_size // size
                if ratio > 1:
                    x = x[..., :ratio]
                x = np.ascontiguousarray(x)
                for target in targets[:2] if ratio != 1 else targets:
                    dims = (
                        x.shape[:-1] if ratio > 1 else x.shape + ((size // target_size,) if target_size < size else ())
                    )
                    family.add(
                        "bitcast", plain_op("bitcast_convert", [x], (dims, target)), [x], f"dtype={text_name(target)}"
                    )
    for wide in (np.int8, np.uint8, np.int16, np.float32):
        for nibble in NIBBLES:
            x = np.frombuffer(random.bytes(3 * np.dtype(wide).itemsize), wide)
            count = 2 * x.itemsize
            family.add(
                "bitcast", plain_op("bitcast_convert", [x], ((3, count), nibble)), [x], f"dtype={text_name(nibble)}"
            )
            y = random.integers(0, 7, (3, count)).astype(nibble)
            family.add("bitcast", plain_op("bitcast_convert", [y], ((3,), wide)), [y], f"dtype={text_name(wide)}")
