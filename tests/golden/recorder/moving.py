"""Ops that move elements."""

import ml_dtypes
import numpy as np
from jax import lax

from recorder.family import COMPLEX, FLOATS, INTS, NIBBLES, STORED, Family, numbers, plain_op, text_name


def rearranged(family, x, filler):
    family.add("transpose", lambda v: lax.transpose(v, (2, 0, 1)), [x], "permutation=[2,0,1]")
    family.add("reverse", lambda v: lax.rev(v, (0, 2)), [x], "axes=[0,2]")
    family.add(
        "slice",
        lambda v: lax.slice(v, (0, 1, 0), (3, 4, 5), (2, 1, 3)),
        [x],
        "starts=[0,1,0], limits=[3,4,5], strides=[2,1,3]",
    )
    family.add(
        "pad",
        lambda v, p: lax.pad(v, p, ((1, 0, 0), (-1, 2, 1), (0, -1, 2))),
        [x, filler],
        "low=[1,-1,0], high=[0,2,-1], interior=[0,1,2]",
    )


def data():
    family, random = Family("data"), np.random.default_rng(5)
    for dtype in [np.bool_, *INTS, *FLOATS]:
        x = random.integers(0, 100, (3, 4, 5)).astype(dtype)
        rearranged(family, x, np.ones((), dtype))
        family.add("select", lambda c, a, b: lax.select(c, a, b), [x.astype(np.int64) % 2 == 0, x, x[::-1]])
        family.add(
            "dynamic_slice",
            lambda v, a, b, c: lax.dynamic_slice(v, (a, b, c), (2, 2, 2)),
            [x, np.int32(2), np.int32(9), np.int32(1)],
            "slice_sizes=[2,2,2]",
        )
        family.add("concatenate", lambda a, b: lax.concatenate((a, b), 1), [x, x[:, :2]], "axis=1")
    family.write()


ANY = [np.bool_, *INTS, *NIBBLES, *FLOATS, *COMPLEX]
NARROW = [ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu]


def shapes():
    """What data leaves, for every dtype: iota, reshape, broadcasts, updates of slices; and scalars and nothing."""
    family, random = Family("shapes"), np.random.default_rng(8)
    for dtype in [*INTS, *NIBBLES, *FLOATS]:
        for dims, axis in (((3, 4, 2), 1), ((9,), 0), ((2, 0), 0)):
            # The numbers that do not fit wrap, or round.
            function = plain_op("iota", [], (dims, dtype), attributes=f"iota_dimension = {axis} : i64")
            family.add("iota", function, [], f"dtype={text_name(dtype)}, dims={numbers(dims)}, axis={axis}")
    for dtype in [*ANY, *STORED, *NARROW]:
        x = random.integers(1, 7, (3, 4, 2)).astype(dtype)
        kept = (x.shape, dtype)
        family.add("reshape", plain_op("reshape", [x], ((2, 6, 1, 2), dtype)), [x], "dims=[2,6,1,2]")
        family.add(
            "broadcast_in_dim",
            plain_op(
                "broadcast_in_dim",
                [x[:, :1]],
                ((2, 3, 4, 2), dtype),
                attributes="broadcast_dimensions = array<i64: 1, 2, 3>",
            ),
            [x[:, :1]],
            "dims=[2,3,4,2], mapping=[1,2,3]",
        )
        update = x[:2, ::-1][:, :3]
        for starts in ((0, 1, 0), (5, -3, 0)):  # the second is outside
            inputs = [x, update, *map(np.int32, starts)]
            family.add("dynamic_update_slice", plain_op("dynamic_update_slice", inputs, kept), inputs)
        family.add(
            "dimension_size",
            plain_op("get_dimension_size", [x], ((), np.int32), attributes="dimension = 1 : i64"),
            [x],
            "axis=1",
        )
        # XLA compiles no dynamic_reshape whose extents are an operand: they are those of the static one.
        family.add(
            "dynamic_reshape",
            lambda v, _: plain_op("reshape", [v], ((4, 6), dtype))(v),
            [x, np.array([4, 6])],
            "dims=[4,6]",
        )
        # Those that data does not have; XLA aborts on concatenations of two bits.
        if np.dtype(dtype) in map(np.dtype, [*NIBBLES, *STORED, *NARROW[2:]]):
            family.add("identity", plain_op("optimization_barrier", [x], kept), [x])
            family.add(
                "transpose",
                plain_op("transpose", [x], ((2, 3, 4), dtype), attributes="permutation = array<i64: 2, 0, 1>"),
                [x],
                "permutation=[2,0,1]",
            )
            family.add(
                "reverse", plain_op("reverse", [x], kept, attributes="dimensions = array<i64: 0, 2>"), [x], "axes=[0,2]"
            )
            family.add(
                "concatenate",
                plain_op("concatenate", [x, x[:, :1]], ((3, 5, 2), dtype), attributes="dimension = 1 : i64"),
                [x, x[:, :1]],
                "axis=1",
            )
            family.add(
                "slice",
                plain_op(
                    "slice",
                    [x],
                    ((2, 2, 1), dtype),
                    attributes="start_indices = array<i64: 0, 1, 1>, limit_indices = "
                    "array<i64: 3, 4, 2>, strides = array<i64: 2, 2, 1>",
                ),
                [x],
                "starts=[0,1,1], limits=[3,4,2], strides=[2,2,1]",
            )
            family.add(
                "pad",
                plain_op(
                    "pad",
                    [x, x[0, 0, 0]],
                    ((4, 7, 3), dtype),
                    attributes="edge_padding_low = array<i64: 1, -1, 0>, edge_padding_high = "
                    "array<i64: 0, 1, 1>, interior_padding = array<i64: 0, 1, 0>",
                ),
                [x, x[0, 0, 0]],
                "low=[1,-1,0], high=[0,1,1], interior=[0,1,0]",
            )
            inputs = [x, *map(np.int32, (2, 1, 9))]
            family.add(
                "dynamic_slice",
                plain_op("dynamic_slice", inputs, ((2, 2, 1), dtype), attributes="slice_sizes = array<i64: 2, 2, 1>"),
                inputs,
                "slice_sizes=[2,2,1]",
            )
            choice = random.integers(0, 2, x.shape).astype(bool)
            family.add("select", plain_op("select", [choice, x, x[::-1]], kept), [choice, x, x[::-1]])
    for dtype in (np.float32, np.int8):
        nothing, scalar = np.zeros((3, 0, 2), dtype), np.array(3, dtype)
        family.add("reshape", lambda v: lax.reshape(v, (0, 5)), [nothing], "dims=[0,5]")
        family.add("reshape", lambda v: lax.reshape(v, (1, 1)), [scalar], "dims=[1,1]")
        family.add(
            "broadcast_in_dim", lambda v: lax.broadcast_in_dim(v, (2, 3), ()), [scalar], "dims=[2,3], mapping=[]"
        )
        family.add(
            "broadcast_in_dim",
            lambda v: lax.broadcast_in_dim(v, (3, 0, 2), (0, 1, 2)),
            [nothing],
            "dims=[3,0,2], mapping=[0,1,2]",
        )
        family.add("transpose", lambda v: lax.transpose(v, (1, 0, 2)), [nothing], "permutation=[1,0,2]")
        family.add("reverse", lambda v: lax.rev(v, (0,)), [nothing], "axes=[0]")
        family.add(
            "pad",
            lambda v, p: lax.pad(v, p, ((0, 0, 0), (1, 1, 0), (0, 0, 0))),
            [nothing, scalar],
            "low=[0,1,0], high=[0,1,0], interior=[0,0,0]",
        )
        family.add(
            "concatenate", lambda a, b: lax.concatenate((a, b), 1), [nothing, np.ones((3, 1, 2), dtype)], "axis=1"
        )
        family.add(
            "slice",
            lambda v: lax.slice(v, (1, 0, 0), (1, 0, 2)),
            [nothing],
            "starts=[1,0,0], limits=[1,0,2], strides=[1,1,1]",
        )
        family.add("dynamic_slice", lambda v: v, [scalar], "slice_sizes=[]")
        family.add("dynamic_update_slice", lambda v, u: u, [scalar, scalar + 1])
    family.write()
