"""Records jax's gradients of some ops, for tests/unit/graph/gradients_golden_test.cpp.

Run with a Python that has jax:  python record_gradients.py > gradients.txt
Each line: NAME KEY=NUMBERS ..., numbers joined by commas ("-" for none). dimsN and xN are the operands, c the cotangent
of the result, gN the gradients of the operands that are floats or complex. kinds has for each operand 0 (f64), 1 (c128,
numbers in pairs) or 2 (i32). The attributes of a NAME are in the test.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)

KINDS = {np.dtype(np.float64): 0, np.dtype(np.complex128): 1, np.dtype(np.int32): 2}


def numbers(values):
    array = np.asarray(values)
    if array.dtype == np.complex128:
        array = array.reshape(-1).view(np.float64)
    return ",".join(repr(value) for value in array.reshape(-1).tolist()) or "-"


def record(name, function, *operands):
    operands = [np.asarray(operand) for operand in operands]
    result, back = jax.vjp(function, *operands)
    count = result.size * (2 if result.dtype == np.complex128 else 1)
    cotangent = ((5 * np.arange(count) + 3) % 7 + 1.0).view(result.dtype).reshape(result.shape)
    gradients = back(cotangent)
    fields = {"kinds": [KINDS[operand.dtype] for operand in operands]}
    for i, operand in enumerate(operands):
        fields |= {f"dims{i}": operand.shape, f"x{i}": operand}
    fields["c"] = cotangent
    for i, gradient in enumerate(gradients):
        if operands[i].dtype != np.int32:
            fields[f"g{i}"] = gradient
    print(name, *(f"{key}={numbers(value)}" for key, value in fields.items()))


inf, nan = np.inf, np.nan
edges = np.array([-inf, -2.5, -1, -0.5, -1e-300, -0.0, 0, 1e-300, 0.5, 1, 1.5, 3, inf, nan])
for name, function in {
    "abs": lax.abs, "neg": lax.neg, "sign": lax.sign, "exp": lax.exp, "expm1": lax.expm1, "log": lax.log,
    "log1p": lax.log1p, "logistic": lax.logistic, "tanh": lax.tanh, "sin": lax.sin, "cos": lax.cos, "tan": lax.tan,
    "erf": lax.erf, "sqrt": lax.sqrt, "rsqrt": lax.rsqrt, "cbrt": lax.cbrt, "floor": lax.floor, "ceil": lax.ceil,
}.items():  # fmt: skip
    record(name, function, edges)

some = np.array([-inf, -2.0, -1, -0.5, -0.0, 0, 0.5, 1, 2, inf, nan])
left, right = (grid.reshape(-1) for grid in np.meshgrid(some, some))
for name, function in {
    "add": lax.add, "sub": lax.sub, "mul": lax.mul, "div": lax.div, "rem": lax.rem, "max": lax.max,
    "min": lax.min, "atan2": lax.atan2,
}.items():  # fmt: skip
    record(name, function, left, right)
# Of x^0, jax gives NaN at 0 and where x is NaN; ours is 0 everywhere, as it is for jax's integer exponents.
record("pow", lax.pow, left[right != 0], right[right != 0])

z, w = np.array([1 + 2j, -0.5 + 0.3j, 2j, -3, 0.1 - 1j]), np.array([0.5 - 1j, 2 + 1j, 1, 0.3j, -1 - 1j])
for name, function in {
    "abs": lax.abs, "exp": lax.exp, "log": lax.log, "log1p": lax.log1p, "expm1": lax.expm1, "sin": lax.sin,
    "cos": lax.cos, "tanh": lax.tanh, "sqrt": lax.sqrt, "rsqrt": lax.rsqrt, "real": lax.real, "imag": lax.imag,
    "conj": lax.conj,
}.items():  # fmt: skip
    record(name, function, z)
record("abs", lax.abs, np.array([0j]))
for name, function in {"mul": lax.mul, "div": lax.div, "pow": lax.pow}.items():
    record(name, function, z, w)
record("complex", lax.complex, z.real.copy(), w.imag.copy())

bound = np.array([-2.0, -1, 0, 1, 2])
record("clamp", lax.clamp, bound * 0 - 1, bound, bound * 0 + 1)
record("clamp", lax.clamp, bound * 0 + 1, bound, bound * 0 + 1)

ties = np.array([[1.0, 3, 3, 2], [2, 2, 2, 2], [-1, 0, -0.0, 0]])
record("reduce_sum", lambda x: x.sum(1), ties)
record("reduce_max", lambda x: lax.reduce_max(x, (1,)), ties)
record("reduce_min", lambda x: lax.reduce_min(x, (1,)), ties)
record("reduce_product", lambda x: lax.reduce_prod(x, (1,)), ties)
record("cumulative_sum", lambda x: lax.cumsum(x, 1), ties)
record("cumulative_product", lambda x: lax.cumprod(x, 1), ties)
record("cumulative_sum_reverse", lambda x: lax.cumsum(x, 1, reverse=True), ties)
record("cumulative_product_reverse", lambda x: lax.cumprod(x, 1, reverse=True), ties)
record("cumulative_max", lambda x: lax.cummax(x, 1), np.array([[1.0, 0, 2, 5], [4, 3, 6, 1]]))
record("top_k", lambda x: lax.top_k(x, 2)[0], ties)

image = np.array([[1.0, 1, 2, 0, 2], [3, 3, 1, 0, 0], [1, 2, 2, 4, 4], [0, 5, 5, 1, 1]])
for name, start, function in (("max", -inf, lax.max), ("min", inf, lax.min), ("sum", 0.0, lax.add)):
    record("window_" + name,
           lambda x: lax.reduce_window(x, start, function, (2, 3), (1, 2), ((1, 0), (0, 1))), image)  # fmt: skip
record("convolution",
       lambda x, k: lax.conv_general_dilated(x, k, (2, 1), ((1, 0), (2, 1)), (1, 2), (2, 1), feature_group_count=2),
       image.reshape(1, 4, 5, 1), image[:, :4].reshape(4, 2, 2, 1))  # fmt: skip

place = np.array([[0], [2], [2], [9], [-3]], np.int32)
record("gather", lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 4), mode="clip"),
       ties, place)  # fmt: skip
record("scatter_sum", lambda x, i, u: lax.scatter_add(
    x, i, u, lax.ScatterDimensionNumbers((1,), (0,), (0,)), mode="drop"), ties, place, image[:, :4].repeat(2, 0)[:5])  # fmt: skip
record("dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 2)), ties, np.int32(7), np.int32(1))
record("dynamic_update_slice", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), ties, image[:2, :2],
       np.int32(-4), np.int32(3))  # fmt: skip



def attention(scale, causal=False, left=None, cap=0, has_lengths=False, has_bias=False, has_sinks=False):
    def function(query, key, value, *more):
        more = list(more)
        group = query.shape[2] // key.shape[2]
        key, value = jnp.repeat(key, group, 2), jnp.repeat(value, group, 2)
        scores = jnp.einsum("bqhw,bkhw->bhqk", query, key) * scale
        if cap:
            scores = cap * jnp.tanh(scores / cap)
        q, k = jnp.arange(query.shape[1])[:, None], jnp.arange(key.shape[1])
        sees = (k <= q if causal else k >= 0) & (q - k <= (query.shape[1] if left is None else left))
        if has_lengths:
            sees = sees & (k < more.pop(0)[:, None, None, None])
        if has_bias:
            scores = scores + more.pop(0)
        scores = jnp.where(sees, scores, -jnp.inf)
        if has_sinks:
            sinks = jnp.broadcast_to(more.pop(0)[:, None, None], scores.shape[:-1] + (1,))
            scores = jnp.concatenate([scores, sinks], -1)
        weights = jax.nn.softmax(scores, -1)[..., : key.shape[1]]
        return jnp.einsum("bhqk,bkhw->bqhw", weights, value)

    return function


def waves(*extents):
    return np.sin(np.arange(np.prod(extents)) * 1.7 + len(extents)).reshape(extents)


record("attention", attention(0.5), waves(2, 3, 2, 4), waves(2, 5, 2, 4) * 2, waves(2, 5, 2, 3) + 0.25)
record("attention_causal", attention(0.7, causal=True, left=1), waves(1, 4, 4, 2), waves(1, 4, 2, 2) * 2,
       waves(1, 4, 2, 3))  # fmt: skip
record("attention_all", attention(0.6, left=2, cap=1.5, has_lengths=True, has_bias=True, has_sinks=True),
       waves(2, 3, 4, 2) * 2, waves(2, 4, 2, 2), waves(2, 4, 2, 3), np.array([4, 2], np.int32), waves(1, 4, 3, 4),
       waves(4))  # fmt: skip

for name, kind, length in (("fft", "fft", 5), ("ifft", "ifft", 5), ("irfft8", "irfft", 8), ("irfft9", "irfft", 9)):
    record(name, lambda x: lax.fft(x, kind, (length,)), z)
record("rfft", lambda x: lax.fft(x, "rfft", (4,)), ties)
record("dot", lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))), ties, image)
record("pad", lambda x, v: lax.pad(x, v, ((-1, 2, 1), (1, -2, 0))), ties, np.float64(0.5))
record("slice", lambda x: lax.slice(x, (0, 1), (3, 4), (2, 2)), ties)
