"""Ops that move elements."""
import numpy as np
from jax import lax

from recorder.family import COMPLEX, FLOATS, INTS, NIBBLES, STORED, Family, plain_op


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
