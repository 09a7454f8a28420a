"""Reductions, cumulative ops, products, and what orders elements."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from recorder.family import COMPLEX, FLOATS, INTS, NIBBLES, Family, plain_op, small, stablehlo


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
