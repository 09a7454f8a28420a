"""Element-wise ops on numbers that are not complex."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from recorder.family import FLOATS, INTS, NIBBLES, Family, edges, plain_op


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
    functions = {
        "abs": lax.abs,
        "neg": lax.neg,
        "sign": lax.sign,
        "exp": lax.exp,
        "expm1": lax.expm1,
        "log": lax.log,
        "log1p": lax.log1p,
        "logistic": lax.logistic,
        "tanh": lax.tanh,
        "erf": lax.erf,
        "sqrt": lax.sqrt,
        "rsqrt": lax.rsqrt,
        "floor": lax.floor,
        "ceil": lax.ceil,
        "sin": lax.sin,
        "cos": lax.cos,
        "tan": lax.tan,
        "cbrt": lax.cbrt,
        "is_finite": lax.is_finite,
        "is_nan": jnp.isnan,
        "round_nearest_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    }
    for op, function in functions.items():
        for dtype in FLOATS:
            values = edges(dtype)
            if op in ("sin", "cos", "tan"):  # of huge arguments XLA's own functions are inexact
                values = values[np.abs(values.astype(np.float64)) < 1e4]
            family.add(op, function, [values])
    for op, function in {
        "abs": lax.abs,
        "neg": lax.neg,
        "sign": lax.sign,
        "bitwise_not": lax.bitwise_not,
        "popcnt": lax.population_count,
        "count_leading_zeros": lax.clz,
    }.items():
        for dtype in INTS:
            if op == "abs" and np.dtype(dtype).kind == "u":
                continue
            family.add(op, function, [edges(dtype)])
    family.add("logical_not", jnp.logical_not, [edges(np.bool_)])
    family.write()


def binary():
    family = Family("binary")
    arithmetic = {
        "add": lax.add,
        "sub": lax.sub,
        "mul": lax.mul,
        "div": lax.div,
        "rem": lax.rem,
        "max": lax.max,
        "min": lax.min,
    }
    comparisons = {
        "equal": lax.eq,
        "not_equal": lax.ne,
        "less": lax.lt,
        "less_or_equal": lax.le,
        "greater": lax.gt,
        "greater_or_equal": lax.ge,
    }
    for op, function in {**arithmetic, **comparisons, "pow": lax.pow, "atan2": lax.atan2}.items():
        for dtype in FLOATS:
            operands = pairs(edges(dtype))
            plain = {
                "add": np.add,
                "sub": np.subtract,
                "mul": np.multiply,
                "div": np.divide,
                "rem": np.fmod,
                "pow": np.power,
                "atan2": np.arctan2,
            }.get(op)
            family.add(op, function, without_denormal_results(plain, operands) if plain else operands)
    for op, function in {
        **arithmetic,
        **comparisons,
        "bitwise_and": lax.bitwise_and,
        "bitwise_or": lax.bitwise_or,
        "bitwise_xor": lax.bitwise_xor,
        "shift_left": lax.shift_left,
        "shift_right_arithmetic": lax.shift_right_arithmetic,
        "shift_right_logical": lax.shift_right_logical,
    }.items():
        for dtype in INTS:
            family.add(op, function, pairs(edges(dtype)))
    for op, function in {
        "logical_and": jnp.logical_and,
        "logical_or": jnp.logical_or,
        "logical_xor": jnp.logical_xor,
    }.items():
        family.add(op, function, pairs(edges(np.bool_)))
    family.write()


def total_order(direction):
    def run(x, y):
        bool_, compared = (x.shape, np.bool_), f"#stablehlo<comparison_direction {direction}>"
        kind = "#stablehlo<comparison_type TOTALORDER>"
        return plain_op(
            "compare", [x, y], bool_, attributes=f"comparison_direction = {compared}, compare_type = {kind}"
        )(x, y)

    return run


def rest():
    """What unary and binary leave: total orders, clamp, powers of integers, bool, four bits, scalars and nothing."""
    family = Family("elementwise")
    directions = {
        "equal": "EQ",
        "not_equal": "NE",
        "less": "LT",
        "less_or_equal": "LE",
        "greater": "GT",
        "greater_or_equal": "GE",
    }
    for op, direction in directions.items():
        for dtype in FLOATS:
            values = np.append(edges(dtype)[[0, 1, 2, 3, 4, 5, 7, 8, 9, 15]], -edges(dtype)[:1])  # NaN of both signs
            family.add(op + "_total_order", total_order(direction), pairs(values))
    for dtype in [np.bool_, *INTS, *NIBBLES, *FLOATS]:
        values = edges(dtype)
        family.add("identity", lambda x: plain_op("optimization_barrier", [x], (x.shape, x.dtype))(x), [values])
        low, high = pairs(values)
        low, high = low[::3], high[::3]
        x = np.roll(low, 5)
        if np.dtype(dtype) in map(np.dtype, FLOATS):  # XLA's clamp of crossed bounds with NaN differs among dtypes
            keep = ~(np.isnan(low.astype(float)) | np.isnan(high.astype(float)))
            low, x, high = low[keep], x[keep], high[keep]
        clamp = lambda a, b, c: plain_op("clamp", [a, b, c], (b.shape, b.dtype))(a, b, c)
        family.add("clamp", clamp, [low, x, high])
        family.add("clamp", clamp, [values[3], values, values[2]])
        if dtype == np.float32:
            family.add("clamp", clamp, [values[3], values[:0], values[2]])
    for dtype in INTS + NIBBLES:
        base, exponent = pairs(edges(dtype))
        keep = exponent < 64  # XLA looks at the lowest six bits of larger ones
        family.add(
            "pow", lambda a, b: plain_op("power", [a, b], (a.shape, a.dtype))(a, b), [base[keep], exponent[keep]]
        )
    names = {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "div": "divide",
        "rem": "remainder",
        "max": "maximum",
        "min": "minimum",
        "bitwise_and": "and",
        "bitwise_or": "or",
        "bitwise_xor": "xor",
        "shift_left": "shift_left",
        "shift_right_arithmetic": "shift_right_arithmetic",
        "shift_right_logical": "shift_right_logical",
    }
    for op, name in names.items():
        run = lambda a, b, name=name: plain_op(name, [a, b], (a.shape, a.dtype))(a, b)
        for dtype in NIBBLES:
            family.add(op, run, pairs(edges(dtype)))
        if op in ("add", "mul", "max", "min"):
            family.add(op, run, pairs(edges(np.bool_)))
    for op, name in {
        "neg": "negate",
        "abs": "abs",
        "sign": "sign",
        "bitwise_not": "not",
        "popcnt": "popcnt",
        "count_leading_zeros": "count_leading_zeros",
    }.items():
        for dtype in NIBBLES:
            if name in ("abs", "sign") and ml_dtypes.iinfo(dtype).min == 0:
                continue
            if name == "popcnt" and dtype == ml_dtypes.int4:  # XLA counts the sign's copies in a byte
                continue
            family.add(op, lambda x: plain_op(name, [x], (x.shape, x.dtype))(x), [edges(dtype)])
    for op, direction in directions.items():
        for dtype in [np.bool_, *NIBBLES]:
            sign = "SIGNED" if dtype == ml_dtypes.int4 else "UNSIGNED"
            run = lambda a, b: plain_op(
                "compare",
                [a, b],
                (a.shape, np.bool_),
                attributes=f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
                f"compare_type = #stablehlo<comparison_type {sign}>",
            )(a, b)
            family.add(op, run, pairs(edges(dtype)))
    for dtype in INTS[4:] + NIBBLES[1:]:
        family.add("abs", jnp.abs, [edges(dtype)])
    family.add("sign", lambda x: lax.sign(x.astype(np.uint8)).astype(x.dtype), [edges(NIBBLES[1])])
    for dtype in FLOATS[:2]:
        family.add("real", lambda x: x, [edges(dtype)])
        family.add("imag", jnp.zeros_like, [edges(dtype)])
    for dims in [(), (0,), (3, 0, 2), (1, 1)]:
        x = np.full(dims, 2.5, np.float32)
        for op, function in {
            "neg": lax.neg,
            "exp": lax.exp,
            "floor": lax.floor,
            "is_finite": lax.is_finite,
            "real": lax.abs,
        }.items():
            family.add(op, function, [x])
        for op, function in {"add": lax.add, "div": lax.div, "pow": lax.pow, "less": lax.lt, "max": lax.max}.items():
            family.add(op, function, [x, x + 1])
        family.add("bitwise_not", lax.bitwise_not, [x.astype(np.int16)])
        family.add("logical_and", jnp.logical_and, [x > 0, x < 0])
        family.add("select", lax.select, [x > 0, x, -x])
    family.write()
