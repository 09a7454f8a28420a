"""Barriers, and collectives of one device."""

import numpy as np

from recorder.family import COMPLEX, FLOATS, INTS, NIBBLES, Family, plain_op, small, stablehlo, tensor_type

GROUPS = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"


def reducing(name, x, reduction, more=""):
    """A collective that combines the devices' values: with one device, none."""
    scalar, whole = tensor_type((), x.dtype), tensor_type(x.shape, x.dtype)
    return stablehlo(
        f'%r = "stablehlo.{name}"(%x0) ({{\n^bb0(%a: {scalar}, %b: {scalar}):\n'
        f"%c = stablehlo.{reduction} %a, %b : {scalar}\nstablehlo.return %c : {scalar}\n}}) "
        f"{{{more}{GROUPS}}} : ({whole}) -> {whole}",
        (x.shape, x.dtype),
    )


def devices():
    family, random = Family("devices"), np.random.default_rng(13)
    for dtype in [np.bool_, *INTS, *NIBBLES, *FLOATS, *COMPLEX]:
        for dims in [(2, 3), (), (0,)] if dtype == np.float32 else [(2, 3)]:
            x, kept = small(random, dims, dtype), (dims, dtype)
            y = small(random, (4,), np.int32)
            # StableHLO has one barrier; the other differs in when things run.
            for op in ("optimization_barrier", "scheduling_barrier"):
                family.add(op, plain_op("optimization_barrier", [x, y], kept, (y.shape, y.dtype)), [x, y])
            reductions = [("sum", "add"), ("product", "multiply")]
            if dtype in (np.float32, np.int32):
                reductions += [("max", "maximum"), ("min", "minimum")]
            if dtype == np.bool_:
                reductions = [("logical_and", "and"), ("logical_or", "or"), ("logical_xor", "xor")]
            elif dtype == np.int32:
                reductions += [("bitwise_and", "and"), ("bitwise_or", "or"), ("bitwise_xor", "xor")]
            for reduction, name in reductions:
                run = reducing("all_reduce", x, name)
                if reduction.startswith("bitwise") or reduction == "logical_xor":  # which XLA has not on the processor
                    run = plain_op("optimization_barrier", [x], kept)
                for groups in ("[[0]]", "[]")[: 2 if dtype == np.float32 else 1]:
                    family.add("all_reduce", run, [x], f"reduction={reduction}, replica_groups={groups}")
            if len(dims) == 2:
                family.add(
                    "reduce_scatter",
                    reducing("reduce_scatter", x, reductions[0][1], "scatter_dimension = 1 : i64, "),
                    [x],
                    f"reduction={reductions[0][0]}, axis=1, replica_groups=[[0]]",
                )
                family.add(
                    "all_gather",
                    plain_op("all_gather", [x], kept, attributes=f"all_gather_dim = 1 : i64, {GROUPS}"),
                    [x],
                    "axis=1, replica_groups=[[0]]",
                )
                family.add(
                    "all_to_all",
                    plain_op(
                        "all_to_all",
                        [x],
                        kept,
                        attributes="split_dimension = 0 : i64, "
                        f"concat_dimension = 1 : i64, split_count = 1 : i64, {GROUPS}",
                    ),
                    [x],
                    "split_axis=0, concat_axis=1, split_count=1, replica_groups=[[0]]",
                )
            # XLA has none on the processor: of one device it is the operand, as all_reduce.
            family.add("collective_broadcast", reducing("all_reduce", x, reductions[0][1]), [x], "replica_groups=[[0]]")
            for pairs in ("dense<[[0, 0]]> : tensor<1x2xi64>", "dense<> : tensor<0x2xi64>"):
                run = plain_op("collective_permute", [x], kept, attributes=f"source_target_pairs = {pairs}")
                family.add(
                    "collective_permute", run, [x], f"source_target_pairs={'[[0,0]]' if '1x2' in pairs else '[]'}"
                )
    family.add("replica_id", plain_op("replica_id", [], ((), np.uint32)), [])
    family.add("partition_id", plain_op("partition_id", [], ((), np.uint32)), [])
    family.write()
