#!/usr/bin/env python3
"""Records what jax (XLA on the processor) gives for standard ops: tests/golden/ops/FAMILY.safetensors.

    record_ops.py           needs jax and numpy

A file holds cases: metadata `N` is a graph in text form of one op, tensors `N/in0`, … and `N/out0`, … are its inputs and
outputs. `alate-conformance --mode golden` runs them on a backend.
"""
import json
import pathlib
import struct

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

FOLDER = pathlib.Path(__file__).parent / "ops"
NAMES = {"bool": ("bool", "BOOL"), "int8": ("i8", "I8"), "int16": ("i16", "I16"), "int32": ("i32", "I32"),
         "int64": ("i64", "I64"), "uint8": ("u8", "U8"), "uint16": ("u16", "U16"), "uint32": ("u32", "U32"),
         "uint64": ("u64", "U64"), "float16": ("f16", "F16"), "bfloat16": ("bf16", "BF16"),
         "float32": ("f32", "F32"), "float64": ("f64", "F64"), "complex64": ("c64", "C64")}
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def edges(dtype):
    """Edge values, then plain ones. Denormals are left out: XLA flushes them to zero."""
    if dtype == np.bool_:
        return np.array([False, True, True, False])
    if np.dtype(dtype) in map(np.dtype, INTS):
        info = np.iinfo(dtype)
        values = [info.min, info.max, 0, 1, 2, 3, 7, 100, info.max - 1, info.min + 1]
        return np.array(values + ([-1, -2, -7, -100] if info.min < 0 else []), dtype)
    info = ml_dtypes.finfo(dtype)
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, float(info.max), float(info.min), float(info.tiny), 1, -1, 0.5, -0.5,
              1.5, -1.5, 2.5, 0.1, -0.3, 3, -2, 7.25, 40]
    return np.array(values, dtype)


class Family:
    def __init__(self, name):
        self.name, self.metadata, self.tensors = name, {}, {}

    def add(self, op, function, inputs, attributes=""):
        inputs = [np.asarray(x) for x in inputs]
        result = np.asarray(function(*[jnp.asarray(x) for x in inputs]))
        number = str(len(self.metadata))
        lines = [f'  %{i} = parameter "x{i}" : {shape(x)}' for i, x in enumerate(inputs)]
        operands = ", ".join(f"%{i}" for i in range(len(inputs)))
        lines.append(f"  %{len(inputs)} = {op}({operands}){' {' + attributes + '}' if attributes else ''} : {shape(result)}")
        lines.append(f'  output "y" = %{len(inputs)}')
        self.metadata[number] = f'graph "{op}" {{\n' + "\n".join(lines) + "\n}\n"
        for i, x in enumerate(inputs):
            self.tensors[f"{number}/in{i}"] = x
        self.tensors[f"{number}/out0"] = result

    def write(self):
        header, data = {"__metadata__": self.metadata}, b""
        # Wide elements first, so that all are aligned.
        for name, tensor in sorted(self.tensors.items(), key=lambda item: -item[1].dtype.itemsize):
            content = np.ascontiguousarray(tensor).tobytes()
            header[name] = {"dtype": NAMES[tensor.dtype.name][1], "shape": list(tensor.shape),
                            "data_offsets": [len(data), len(data) + len(content)]}
            data += content
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{self.name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
        print(self.name, len(self.metadata), "cases")


def shape(x):
    return f"{NAMES[x.dtype.name][0]}[{','.join(map(str, x.shape))}]"


def pairs(values):
    a, b = np.meshgrid(values, values)
    return [a.ravel(), b.ravel()]


def without_denormal_results(function, operands):
    """Pairs whose result is no denormal number, which XLA flushes to zero."""
    a, b = (x.astype(np.float64) for x in operands)
    result, tiny = np.abs(function(a, b)), float(ml_dtypes.finfo(operands[0].dtype).tiny)
    keep = ~((result > 0) & (result < tiny))
    return [x[keep] for x in operands]


def unary():
    family = Family("unary")
    functions = {"abs": lax.abs, "neg": lax.neg, "sign": lax.sign, "exp": lax.exp, "expm1": lax.expm1, "log": lax.log,
                 "log1p": lax.log1p, "logistic": lax.logistic, "tanh": lax.tanh, "erf": lax.erf, "sqrt": lax.sqrt,
                 "rsqrt": lax.rsqrt, "floor": lax.floor, "ceil": lax.ceil, "sin": lax.sin, "cos": lax.cos,
                 "tan": lax.tan, "cbrt": lax.cbrt, "is_finite": lax.is_finite, "is_nan": jnp.isnan,
                 "round_nearest_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)}
    for op, function in functions.items():
        for dtype in FLOATS:
            values = edges(dtype)
            if op in ("sin", "cos", "tan"):  # of huge arguments XLA's own functions are inexact
                values = values[np.abs(values.astype(np.float64)) < 1e4]
            family.add(op, function, [values])
    for op, function in {"abs": lax.abs, "neg": lax.neg, "sign": lax.sign, "bitwise_not": lax.bitwise_not,
                         "popcnt": lax.population_count, "count_leading_zeros": lax.clz}.items():
        for dtype in INTS:
            if op == "abs" and np.dtype(dtype).kind == "u":
                continue
            family.add(op, function, [edges(dtype)])
    family.add("logical_not", jnp.logical_not, [edges(np.bool_)])
    family.write()


def binary():
    family = Family("binary")
    arithmetic = {"add": lax.add, "sub": lax.sub, "mul": lax.mul, "div": lax.div, "rem": lax.rem, "max": lax.max,
                  "min": lax.min}
    comparisons = {"equal": lax.eq, "not_equal": lax.ne, "less": lax.lt, "less_or_equal": lax.le, "greater": lax.gt,
                   "greater_or_equal": lax.ge}
    for op, function in {**arithmetic, **comparisons, "pow": lax.pow, "atan2": lax.atan2}.items():
        for dtype in FLOATS:
            operands = pairs(edges(dtype))
            plain = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rem": np.fmod,
                     "pow": np.power, "atan2": np.arctan2}.get(op)
            family.add(op, function, without_denormal_results(plain, operands) if plain else operands)
    for op, function in {**arithmetic, **comparisons, "bitwise_and": lax.bitwise_and, "bitwise_or": lax.bitwise_or,
                         "bitwise_xor": lax.bitwise_xor, "shift_left": lax.shift_left,
                         "shift_right_arithmetic": lax.shift_right_arithmetic,
                         "shift_right_logical": lax.shift_right_logical}.items():
        for dtype in INTS:
            family.add(op, function, pairs(edges(dtype)))
    for op, function in {"logical_and": jnp.logical_and, "logical_or": jnp.logical_or,
                         "logical_xor": jnp.logical_xor}.items():
        family.add(op, function, pairs(edges(np.bool_)))
    family.write()


def data():
    family, random = Family("data"), np.random.default_rng(5)
    for dtype in [np.bool_, *INTS, *FLOATS]:
        x = random.integers(0, 100, (3, 4, 5)).astype(dtype)
        family.add("transpose", lambda v: lax.transpose(v, (2, 0, 1)), [x], "permutation=[2,0,1]")
        family.add("reverse", lambda v: lax.rev(v, (0, 2)), [x], "axes=[0,2]")
        family.add("slice", lambda v: lax.slice(v, (0, 1, 0), (3, 4, 5), (2, 1, 3)), [x],
                   "starts=[0,1,0], limits=[3,4,5], strides=[2,1,3]")
        family.add("pad", lambda v, p: lax.pad(v, p, ((1, 0, 0), (-1, 2, 1), (0, -1, 2))), [x, np.ones((), dtype)],
                   "low=[1,-1,0], high=[0,2,-1], interior=[0,1,2]")
        family.add("select", lambda c, a, b: lax.select(c, a, b), [x.astype(np.int64) % 2 == 0, x, x[::-1]])
        family.add("dynamic_slice", lambda v, a, b, c: lax.dynamic_slice(v, (a, b, c), (2, 2, 2)),
                   [x, np.int32(2), np.int32(9), np.int32(1)], "slice_sizes=[2,2,2]")
        family.add("concatenate", lambda a, b: lax.concatenate((a, b), 1), [x, x[:, :2]], "axis=1")
    family.write()


def sums():
    family, random = Family("sums"), np.random.default_rng(6)
    for dtype in [*INTS, *FLOATS]:
        x = random.integers(0, 9, (3, 4, 5)).astype(dtype)
        for op, function in {"reduce_sum": jnp.sum, "reduce_max": jnp.max, "reduce_min": jnp.min,
                             "reduce_product": jnp.prod}.items():
            reduced = x if op != "reduce_product" else x[:, :, :2]
            family.add(op, lambda v: function(v, axis=(0, 2)).astype(v.dtype), [reduced], "axes=[0,2]")
        for op, function in {"cumulative_sum": lax.cumsum, "cumulative_max": lax.cummax,
                             "cumulative_min": lax.cummin}.items():
            for reverse in (False, True):
                family.add(op, lambda v: function(v, axis=1, reverse=reverse), [x],
                           f"axis=1, reverse={str(reverse).lower()}, exclusive=false")
        family.add("dot_general", lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))),
                   [x, x.transpose(0, 2, 1)],
                   "lhs_batch=[0], rhs_batch=[0], lhs_contracting=[2], rhs_contracting=[1]")
        for is_min, function in ((False, lax.argmax), (True, lax.argmin)):
            family.add("arg_min_max", lambda v: function(v, 1, np.int32), [x],
                       f"axis=1, dtype=i32, is_min={str(is_min).lower()}")
    family.write()


def conversions():
    family = Family("convert")
    for source in [np.bool_, *INTS, *FLOATS]:
        for target in [np.bool_, *INTS, *FLOATS]:
            values = edges(source)
            family.add("convert", lambda v: lax.convert_element_type(v, target), [values],
                       f"dtype={NAMES[np.dtype(target).name][0]}")
    family.write()


if __name__ == "__main__":
    np.seterr(all="ignore")
    unary()
    binary()
    data()
    sums()
    conversions()
