"""Reductions, cumulative ops, products, and what orders elements."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from recorder.family import (
    FLOATS,
    INTS,
    NIBBLES,
    Family,
    dense,
    dense_pairs,
    edges,
    is_int,
    numbers,
    plain_op,
    small,
    stablehlo,
    tensor_type,
    text_name,
)


def both_ways(family, op, function, x):
    for reverse in (False, True):
        family.add(
            op,
            lambda v: function(v, axis=1, reverse=reverse),
            [x],
            f"axis=1, reverse={str(reverse).lower()}, exclusive=false",
        )


def batched_product(family, x, y):
    family.add(
        "dot_general",
        lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))),
        [x, y],
        "lhs_batch=[0], rhs_batch=[0], lhs_contracting=[2], rhs_contracting=[1]",
    )


def sums():
    family, random = Family("sums"), np.random.default_rng(6)
    for dtype in [*INTS, *FLOATS]:
        x = random.integers(0, 9, (3, 4, 5)).astype(dtype)
        for op, function in {
            "reduce_sum": jnp.sum,
            "reduce_max": jnp.max,
            "reduce_min": jnp.min,
            "reduce_product": jnp.prod,
        }.items():
            reduced = x if op != "reduce_product" else x[:, :, :2]
            family.add(op, lambda v: function(v, axis=(0, 2)).astype(v.dtype), [reduced], "axes=[0,2]")
        for op, function in {
            "cumulative_sum": lax.cumsum,
            "cumulative_max": lax.cummax,
            "cumulative_min": lax.cummin,
        }.items():
            both_ways(family, op, function, x)
        batched_product(family, x, x.transpose(0, 2, 1))
        for is_min, function in ((False, lax.argmax), (True, lax.argmin)):
            family.add(
                "arg_min_max",
                lambda v: function(v, 1, np.int32),
                [x],
                f"axis=1, dtype=i32, is_min={str(is_min).lower()}",
            )
    family.write()


def reduction(name, start, x, axes):
    """StableHLO's reduce by one op from a start, which keeps its dtype whatever jax makes of sums of small integers."""
    scalar, whole = tensor_type((), x.dtype), tensor_type(x.shape, x.dtype)
    dims = [dim for i, dim in enumerate(x.shape) if i not in axes]
    body = (
        f"%s = stablehlo.constant dense<{start}> : {scalar}\n"
        f'%r = "stablehlo.reduce"(%x0, %s) ({{\n^bb0(%a: {scalar}, %b: {scalar}):\n'
        f"%c = stablehlo.{name} %a, %b : {scalar}\nstablehlo.return %c : {scalar}\n}}) "
        f"{{dimensions = {dense(axes)}}} : ({whole}, {scalar}) -> {tensor_type(dims, x.dtype)}"
    )
    return stablehlo(body, (dims, x.dtype)), [x], f"axes={numbers(axes)}"


def window(name, start, x, sizes, strides, base, dilations, low, high):
    """StableHLO's reduce_window by one op from a start."""
    scalar, whole = tensor_type((), x.dtype), tensor_type(x.shape, x.dtype)
    result = tuple(
        max(0, (max(0, (n - 1) * b + 1 if n else 0) + lo + hi - ((w - 1) * d + 1)) // s + 1)
        for n, w, s, b, d, lo, hi in zip(x.shape, sizes, strides, base, dilations, low, high)
    )
    body = (
        f"%s = stablehlo.constant dense<{start}> : {scalar}\n"
        f'%r = "stablehlo.reduce_window"(%x0, %s) ({{\n^bb0(%a: {scalar}, %b: {scalar}):\n'
        f"%c = stablehlo.{name} %a, %b : {scalar}\nstablehlo.return %c : {scalar}\n}}) "
        f"{{window_dimensions = {dense(sizes)}, window_strides = {dense(strides)}, base_dilations = {dense(base)}, "
        f"window_dilations = {dense(dilations)}, padding = {dense_pairs(low, high)}}} : ({whole}, {scalar}) -> "
        f"{tensor_type(result, x.dtype)}"
    )
    return stablehlo(body, (result, x.dtype))


def last_bits(dtype):
    return -1 if ml_dtypes.iinfo(dtype).min < 0 else ml_dtypes.iinfo(dtype).max


def extremes_of(dtype):
    """What max and min begin with."""
    if not is_int(dtype):
        bits = {"float16": "7C00", "bfloat16": "7F80", "float32": "7F800000", "float64": "7FF0000000000000"}
        plus = bits[np.dtype(dtype).name]
        return f"0x{'F' + plus[1:]}", f"0x{plus}"
    info = ml_dtypes.iinfo(dtype)
    return info.min, info.max


AXES = [[0, 2], [1], [0, 1, 2], []]


def reductions():
    """All reductions over several axes, of no element too; cumulative ops; top_k; products; on every dtype."""
    family, random = Family("reductions"), np.random.default_rng(10)
    for dtype in [*INTS, *NIBBLES]:
        x = np.resize(edges(dtype), (2, 3, 4))
        for op, name, start in (
            ("reduce_bitwise_and", "and", last_bits(dtype)),
            ("reduce_bitwise_or", "or", 0),
            ("reduce_bitwise_xor", "xor", 0),
        ):
            for axes in AXES[:2]:
                family.add(op, *reduction(name, start, x, axes))
            family.add(op, *reduction(name, start, x[:, :0], [1]))
    for op, name, start in (
        ("reduce_and", "and", "true"),
        ("reduce_or", "or", "false"),
        ("reduce_xor", "xor", "false"),
        ("reduce_sum", "or", "false"),
        ("reduce_product", "and", "true"),
    ):
        for axes in AXES:
            for x in (random.integers(0, 4, (3, 2, 5)) > 0, np.zeros((2, 0, 3), bool)):
                family.add(op, *reduction(name, start, x, axes))
    for dtype in [*INTS, *NIBBLES, *FLOATS]:
        lowest, highest = extremes_of(dtype)
        zero, one = ("0", "1") if is_int(dtype) else ("0.0", "1.0")
        x = small(random, (3, 2, 4), dtype)
        # Integers of every size, which wrap; of floats, one infinite or NaN beside numbers.
        wild = np.resize(edges(dtype), (4, 7) if is_int(dtype) else (7, 3))
        for op, name, start in (
            ("reduce_sum", "add", zero),
            ("reduce_product", "multiply", one),
            ("reduce_max", "maximum", lowest),
            ("reduce_min", "minimum", highest),
        ):
            for axes in AXES[1:] if dtype in (np.float32, np.int32) else AXES[1:2]:
                family.add(op, *reduction(name, start, x, axes))
            family.add(op, *reduction(name, start, x[:, :0], [1]))
            if is_int(dtype) or op in ("reduce_max", "reduce_min"):
                family.add(op, *reduction(name, start, wild, [1]))
    for dtype in [*INTS, *NIBBLES, *FLOATS]:
        cumulative(family, small(random, (3, 4, 2), dtype))
    for op, function in {"cumulative_sum": jnp.logical_or, "cumulative_product": jnp.logical_and}.items():
        for x in (np.array([0, 0, 1, 0, 1, 0, 0], bool), np.array([1, 1, 0, 1, 1], bool)):
            family.add(op, lambda v: lax.associative_scan(function, v), [x], "axis=0, reverse=false, exclusive=false")
    orders(family, random)
    products(family, random)
    rounded(family, random)
    specials(family)
    family.write()


def cumulative(family, x):
    for op, function in {
        "cumulative_sum": lax.cumsum,
        "cumulative_product": lax.cumprod,
        "cumulative_max": lax.cummax,
        "cumulative_min": lax.cummin,
    }.items():
        if x.dtype in map(np.dtype, NIBBLES):  # jax has no cumulative ops of four bits: windows that see what is before
            lowest, highest = extremes_of(x.dtype)
            name, start = {
                "cumulative_sum": ("add", 0),
                "cumulative_product": ("multiply", 1),
                "cumulative_max": ("maximum", lowest),
                "cumulative_min": ("minimum", highest),
            }[op]
            family.add(
                op,
                window(name, start, x, (1, 4, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1), (0, 3, 0), (0, 0, 0)),
                [x],
                "axis=1, reverse=false, exclusive=false",
            )
            continue
        if op == "cumulative_product":
            for axis, reverse in ((0, False), (2, True)):
                family.add(
                    op,
                    lambda v: function(v, axis=axis, reverse=reverse),
                    [x],
                    f"axis={axis}, reverse={str(reverse).lower()}, exclusive=false",
                )
        if op not in ("cumulative_sum", "cumulative_product"):
            continue
        # Without the value at the place: those before it, after what a sum or product of nothing is.
        start = np.array(0 if op == "cumulative_sum" else 1, x.dtype)
        exclusive = lambda v: function(lax.pad(v, start, ((0, 0, 0), (1, -1, 0), (0, 0, 0))), axis=1)
        family.add(op, exclusive, [x], "axis=1, reverse=false, exclusive=true")
        family.add(op, lambda v: function(v, axis=1), [x[:, :0]], "axis=1, reverse=false, exclusive=false")


def whole_bytes(x):
    """XLA puts integers of four bits in no order."""
    return x.astype(np.int8) if np.dtype(x.dtype) in map(np.dtype, NIBBLES) else x


def top_k(x, k):
    values, places = lax.top_k(whole_bytes(x), k)
    return values.astype(x.dtype), places


def orders(family, random):
    for dtype in [*INTS, *FLOATS, *NIBBLES]:
        if is_int(dtype):
            values = np.resize(edges(dtype), (3, 9))
        else:  # -NaN too, both zeros, and equal ones
            values = np.append(np.resize(edges(dtype), 26), -edges(dtype)[:1]).reshape(3, 9)
        for k in (1, 4, 9, 0) if dtype == np.float32 else (4,):
            family.add("top_k", lambda v: top_k(v, k), [values], f"k={k}")
        family.add("top_k", lambda v: top_k(v, 2), [np.zeros((0, 3), dtype)], "k=2")
        for is_min, function in ((False, lax.argmax), (True, lax.argmin)):
            for index in (np.int32, np.int64, np.uint8) if dtype == np.float32 else (np.int32,):
                family.add(
                    "arg_min_max",
                    lambda v: function(whole_bytes(v), 1, np.int32).astype(index),
                    [values],
                    f"axis=1, dtype={text_name(index)}, is_min={str(is_min).lower()}",
                )
    for is_min, function in ((False, lax.argmax), (True, lax.argmin)):
        x = np.array([[False, True, True], [False, False, False], [True, True, False]])
        family.add(
            "arg_min_max", lambda v: function(v, 1, np.int32), [x], f"axis=1, dtype=i32, is_min={str(is_min).lower()}"
        )


def products(family, random):
    cases = [
        ((3, 4), (4, 2), [], [], [1], [0]),
        ((4, 3), (2, 4), [], [], [0], [1]),
        ((3,), (3,), [], [], [0], [0]),
        ((3,), (2,), [], [], [], []),
        ((2, 3, 4, 5), (5, 2, 4, 6), [0], [1], [2, 3], [2, 0]),
        ((2, 0), (0, 3), [], [], [1], [0]),
        ((0, 2), (2, 3), [], [], [1], [0]),
        ((), (), [], [], [], []),
        ((2, 3, 4), (3, 2, 4), [0, 1], [1, 0], [], []),
    ]
    for dtype in (np.bool_, *INTS, *NIBBLES, *FLOATS):
        for left, right, left_batch, right_batch, left_sum, right_sum in cases if dtype == np.float32 else cases[:5]:
            x, y = small(random, left, dtype), small(random, right, dtype)
            numbers_of = ((left_sum, right_sum), (left_batch, right_batch))
            said = (
                f"lhs_batching_dimensions = {numbers(left_batch)}, rhs_batching_dimensions = {numbers(right_batch)}, "
                f"lhs_contracting_dimensions = {numbers(left_sum)}, rhs_contracting_dimensions = {numbers(right_sum)}"
            )
            result = lax.dot_general(np.zeros(left), np.zeros(right), numbers_of).shape
            run = plain_op(
                "dot_general", [x, y], (result, dtype), attributes=f"dot_dimension_numbers = #stablehlo.dot<{said}>"
            )
            family.add(
                "dot_general",
                run,
                [x, y],
                f"lhs_batch={numbers(left_batch)}, rhs_batch={numbers(right_batch)}, "
                f"lhs_contracting={numbers(left_sum)}, rhs_contracting={numbers(right_sum)}",
            )


def rounded(family, random):
    """Sums and products that are rounded. XLA's cumulative ops round halves at every step, and are left out."""
    for dtype in FLOATS:
        x, y = (random.standard_normal(dims).astype(dtype) for dims in ((6, 33), (33, 5)))
        family.add("reduce_sum", lambda v: jnp.sum(v, axis=1), [x], "axes=[1]")
        family.add("reduce_product", lambda v: jnp.prod(v, axis=0), [x], "axes=[0]")
        family.add(
            "dot_general",
            lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), precision="highest"),
            [x, y],
            "lhs_batch=[], rhs_batch=[], lhs_contracting=[1], rhs_contracting=[0]",
        )
        if dtype in (np.float32, np.float64):
            for op, function in {"cumulative_sum": lax.cumsum, "cumulative_product": lax.cumprod}.items():
                family.add(op, lambda v: function(v, axis=1), [x], "axis=1, reverse=false, exclusive=false")


def specials(family):
    """Infinities and NaN among the terms."""
    x = np.array([[1, 2, np.inf], [np.inf, 1, -np.inf], [np.nan, 1, 2], [-np.inf, -1, 0], [0, -0.0, -0.0]])
    y = np.array([[1, 0, np.inf], [0, np.nan, 1], [2, 1, -1]])
    for dtype in FLOATS:
        a, b = x.astype(dtype), y.astype(dtype)
        for op, function in {"reduce_sum": jnp.sum, "reduce_product": jnp.prod}.items():
            family.add(op, lambda v: function(v, axis=1), [a], "axes=[1]")
        family.add(
            "dot_general",
            lambda v, w: lax.dot_general(v, w, (((1,), (0,)), ((), ()))),
            [a, b],
            "lhs_batch=[], rhs_batch=[], lhs_contracting=[1], rhs_contracting=[0]",
        )
        for op, function in {
            "cumulative_sum": lax.cumsum,
            "cumulative_max": lax.cummax,
            "cumulative_min": lax.cummin,
        }.items():
            family.add(op, lambda v: function(v, axis=1), [a], "axis=1, reverse=false, exclusive=false")
