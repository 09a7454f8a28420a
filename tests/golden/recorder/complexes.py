"""Ops on complex numbers."""

import numpy as np
from jax import lax

from recorder.elementwise import pairs
from recorder.family import COMPLEX, INTS, FLOATS, Family, plain_op, small, text_name
from recorder.moving import rearranged
from recorder.sums import batched_product, both_ways

# XLA computes with the parts' dtype and by plain formulas, so that it overflows, underflows and cancels where a better
# formula does not. Hence no huge and no tiny values here, and of infinities and NaN only what has one meaning.
PARTS = [0.0, 1, -0.5, -2.5, 3, 0.125, -1]


def values(dtype, parts=PARTS):
    return joined(*pairs(np.array(parts)), dtype)


def joined(real, imaginary, dtype):
    result = np.empty(real.shape, dtype)
    result.real, result.imag = real, imaginary  # a sum would multiply infinities by 0
    return result


def where_accurate(function, exact, operands):
    """The operands of which XLA's result is no farther than 2 units from that of 64 bits of significand."""
    wide = [x.astype(np.clongdouble) for x in operands]
    error = np.abs(np.asarray(function(*operands)).astype(np.clongdouble) - exact(*wide))
    size = np.abs(exact(*wide)).astype(operands[0].real.dtype)
    keep = ~(error > 2 * np.spacing(size))
    return [x[keep] for x in operands]


def compare(direction):
    return lambda a, b: plain_op(
        "compare",
        [a, b],
        (a.shape, np.bool_),
        attributes=f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
        "compare_type = #stablehlo<comparison_type FLOAT>",
    )(a, b)


def either(*functions):
    return lambda a, b: np.logical_or(*(np.asarray(f(a, b)[0]) for f in functions))


def complexes():
    family, random = Family("complex"), np.random.default_rng(7)
    unary = {
        "abs": lax.abs,
        "neg": lax.neg,
        "sign": lax.sign,
        "exp": lax.exp,
        "expm1": lax.expm1,
        "log": lax.log,
        "log1p": lax.log1p,
        "logistic": lax.logistic,
        "tanh": lax.tanh,
        "sin": lax.sin,
        "cos": lax.cos,
        "tan": lax.tan,
        "sqrt": lax.sqrt,
        "rsqrt": lax.rsqrt,
        "real": lax.real,
        "imag": lax.imag,
        "conj": lax.conj,
    }
    specials = [np.nan, np.inf, 0.0, -0.0, -1.5]
    for dtype in COMPLEX:
        x = values(dtype)
        for op, function in unary.items():
            family.add(op, function, [x])
        family.add("identity", lambda v: plain_op("optimization_barrier", [v], (v.shape, v.dtype))(v), [x])
        part = np.float32 if dtype == np.complex64 else np.float64
        edges = pairs(np.array(specials, part))
        family.add("complex", lax.complex, edges)
        special = joined(*edges, dtype)
        family.add(
            "bitcast",
            lambda v: plain_op("bitcast_convert", [v], (v.shape, v.dtype))(v),
            [special],
            f"dtype={text_name(dtype)}",
        )
        for op in ("neg", "conj", "real", "imag"):
            family.add(op, unary[op], [special])
        # The magnitude of an infinite and a NaN part is infinite (IEEE 754's hypot), NaN in XLA.
        family.add("abs", lax.abs, [special[np.isnan(special.real) == np.isnan(special.imag)]])
        family.add("real", lambda v: v, [edges[0]])
        family.add("imag", lambda v: np.zeros_like(v), [edges[0]])

        binary = {
            "add": lax.add,
            "sub": lax.sub,
            "mul": lax.mul,
            "div": lax.div,
            "pow": lax.pow,
            "equal": lax.eq,
            "not_equal": lax.ne,
        }
        for op, function in binary.items():
            # Quotients by zero: parts over zero in numpy and here, NaN in XLA, as most powers of zero.
            some = values(dtype, PARTS[:4] if dtype == np.complex64 else PARTS[1:4])
            a, b = pairs(some)
            keep = np.ones(a.shape, bool) if op not in ("div", "pow") else (b != 0) & ((op == "div") | (a != 0))
            operands = [a[keep], b[keep]]
            family.add(op, function, operands if op != "pow" else where_accurate(lax.pow, np.power, operands))
        for op, function in {"add": lax.add, "sub": lax.sub, "equal": lax.eq, "not_equal": lax.ne}.items():
            family.add(op, function, pairs(special[:12]))
        some = values(dtype, [0.0, -0.0, -np.inf if dtype == np.complex64 else -2])
        # XLA's LE and GE hold for every pair of equal real parts or so; LT and GT are as the specification says.
        less, greater, same = compare("LT"), compare("GT"), compare("EQ")
        family.add("less", less, pairs(some))
        family.add("greater", greater, pairs(some))
        family.add("less_or_equal", either(less, same), pairs(some))
        family.add("greater_or_equal", either(greater, same), pairs(some))
        family.add("max", lax.max, pairs(some))
        family.add("min", lax.min, pairs(some))
        low, high = pairs(some)
        family.add("clamp", lambda a, b, c: lax.min(lax.max(b, a), c), [low, np.roll(low, 7), high])
        family.add("select", lax.select, [x.real > 0, x, -x])
        for target in [*COMPLEX, *FLOATS, *INTS, np.bool_]:
            other = np.zeros(x.shape, target).dtype
            family.add(
                "convert",
                lambda v: plain_op("convert", [v], (v.shape, other))(v),
                [x * 100],
                f"dtype={text_name(target)}",
            )
            if np.dtype(target).kind != "c":
                family.add(
                    "convert",
                    lambda v: plain_op("convert", [v], (v.shape, dtype))(v),
                    [x.real.astype(target)],
                    f"dtype={text_name(dtype)}",
                )
        moving(family, small(random, (3, 4, 5), dtype))
        combining(family, random, dtype)
    family.write()


def moving(family, x):
    rearranged(family, x, x[0, 0, 0])
    family.add("concatenate", lambda a, b: lax.concatenate((a, b), 1), [x, x[:, :2]], "axis=1")
    family.add(
        "dynamic_slice",
        lambda v, a, b, c: lax.dynamic_slice(v, (a, b, c), (2, 2, 2)),
        [x, np.int32(2), np.int32(9), np.int32(1)],
        "slice_sizes=[2,2,2]",
    )
    family.add("reshape", lambda v: lax.reshape(v, (5, 12)), [x], "dims=[5,12]")
    family.add(
        "broadcast_in_dim", lambda v: lax.broadcast_in_dim(v, (2, 4, 5), (1, 2)), [x[0]], "dims=[2,4,5], mapping=[1,2]"
    )


def combining(family, random, dtype):
    """Of small whole numbers, so that all results are exact."""
    x, y = small(random, (3, 4, 5), dtype), small(random, (3, 5, 2), dtype)
    for op, function in {"reduce_sum": np.sum, "reduce_product": np.prod}.items():
        taken = x if op == "reduce_sum" else x[:, :, :2]
        name = "add" if op == "reduce_sum" else "mul"
        start = np.array(0 if name == "add" else 1, dtype)
        computed = lax.add if name == "add" else lax.mul
        family.add(op, lambda v: lax.reduce(v, start, computed, (0, 2)), [taken], "axes=[0,2]")
        family.add(op, lambda v: lax.reduce(v, start, computed, (1,)), [taken[:, :0]], "axes=[1]")
    for op, function in {"cumulative_sum": lax.cumsum, "cumulative_product": lax.cumprod}.items():
        both_ways(family, op, function, x)
    batched_product(family, x, y)
