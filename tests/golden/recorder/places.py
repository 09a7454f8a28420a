"""gather and scatter."""

import numpy as np

from recorder.family import (
    COMPLEX,
    FLOATS,
    INTS,
    NIBBLES,
    Family,
    dense,
    edges,
    is_int,
    numbers,
    small,
    stablehlo,
    tensor_type,
)


def gather(x, indices, result, sizes, vector, **lists):
    """The function and the attributes; `vector` is the axis of index vectors."""
    said = ", ".join(f"{name} = {numbers(values)}" for name, values in lists.items() if values)
    body = (
        f'%r = "stablehlo.gather"(%x0, %x1) {{dimension_numbers = #stablehlo.gather<{said}{", " if said else ""}'
        f"index_vector_dim = {vector}>, slice_sizes = {dense(sizes)}, indices_are_sorted = false}} : "
        f"({tensor_type(x.shape, x.dtype)}, {tensor_type(indices.shape, indices.dtype)}) -> "
        f"{tensor_type(result, x.dtype)}"
    )
    first = ", ".join(
        f"{name}={numbers(lists.get(name, []))}" for name in ("offset_dims", "collapsed_slice_dims", "start_index_map")
    )
    batching = "".join(
        f", {name}={numbers(lists[name])}"
        for name in ("operand_batching_dims", "start_indices_batching_dims")
        if name in lists
    )
    return (
        stablehlo(body, (result, x.dtype)),
        [x, indices],
        f"{first}, index_vector_dim={vector}, slice_sizes={numbers(sizes)}{batching}",
    )


def scatter(op, x, indices, updates, vector, unique=False, **lists):
    names = (
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
    )
    said = ", ".join(f"{name} = {numbers(lists[name])}" for name in names if lists.get(name))
    scalar, whole = tensor_type((), x.dtype), tensor_type(x.shape, x.dtype)
    combine = {"scatter_sum": "add", "scatter_max": "maximum", "scatter_min": "minimum"}.get(op)
    made = f"%c = stablehlo.{combine} %a, %b : {scalar}\n" if combine else ""
    body = (
        f'%r = "stablehlo.scatter"(%x0, %x1, %x2) ({{\n^bb0(%a: {scalar}, %b: {scalar}):\n{made}'
        f"stablehlo.return {'%c' if combine else '%b'} : {scalar}\n}}) {{scatter_dimension_numbers = "
        f"#stablehlo.scatter<{said}{', ' if said else ''}index_vector_dim = {vector}>, "
        f"unique_indices = {str(unique).lower()}}} : ({whole}, {tensor_type(indices.shape, indices.dtype)}, "
        f"{tensor_type(updates.shape, x.dtype)}) -> {whole}"
    )
    attributes = ", ".join(f"{name}={numbers(lists.get(name, []))}" for name in names)
    return (
        stablehlo(body, (x.shape, x.dtype)),
        [x, indices, updates],
        f"{attributes}, index_vector_dim={vector}, unique_indices={str(unique).lower()}",
    )


def gathers(family, random):
    for dtype in [np.bool_, *INTS, *NIBBLES, *FLOATS, *COMPLEX]:
        x = small(random, (5, 3, 4), dtype)
        rows = np.array([3, 0, -7, 99, 4], np.int32)  # clamped where they are outside
        family.add(
            "gather",
            *gather(
                x, rows, (5, 3, 4), (1, 3, 4), 1, offset_dims=[1, 2], collapsed_slice_dims=[0], start_index_map=[0]
            ),
        )
    x = random.integers(-100, 100, (5, 3, 4)).astype(np.float32)
    for index in [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]:
        high = np.iinfo(index).max
        pairs = np.array([[0, 1], [4, 3], [2, high], [high, 0], [3, 2]], index)
        family.add(
            "gather",
            *gather(
                x, pairs, (5, 2), (1, 2, 1), 1, offset_dims=[1], collapsed_slice_dims=[0, 2], start_index_map=[2, 0]
            ),
        )
    pairs = np.array([[[4, 0, 1], [-1, 2, 2]], [[0, 1, 9], [2, 2, 2]]], np.int64)
    family.add(
        "gather", *gather(x, pairs, (2, 3, 3, 2, 3), (3, 3, 2), 1, offset_dims=[1, 2, 3], start_index_map=[2, 0])
    )
    family.add(
        "gather",
        *gather(
            x,
            np.array([2, 0], np.int32),
            (3,),
            (1, 3, 1),
            0,
            offset_dims=[0],
            collapsed_slice_dims=[0, 2],
            start_index_map=[0, 2],
        ),
    )
    # Axis 0 of x goes with axis 1 of the indices.
    batched = np.array([[3, 0, 1, 2, 8], [1, 1, -2, 0, 3]], np.int32)
    family.add(
        "gather",
        *gather(
            x,
            batched,
            (2, 5, 3),
            (1, 3, 1),
            2,
            offset_dims=[2],
            collapsed_slice_dims=[2],
            start_index_map=[2],
            operand_batching_dims=[0],
            start_indices_batching_dims=[1],
        ),
    )
    family.add(
        "gather",
        *gather(
            x,
            np.zeros((0,), np.int32),
            (0, 3, 4),
            (1, 3, 4),
            1,
            offset_dims=[1, 2],
            collapsed_slice_dims=[0],
            start_index_map=[0],
        ),
    )
    family.add(
        "gather",
        *gather(
            x,
            np.array([1, 2], np.int32),
            (2, 0, 4),
            (1, 0, 4),
            1,
            offset_dims=[1, 2],
            collapsed_slice_dims=[0],
            start_index_map=[0],
        ),
    )
    family.add("gather", *gather(np.float32(3), np.zeros((2, 0), np.int32), (2,), (), 1))


def scatters(family, random):
    for op in ("scatter_set", "scatter_sum", "scatter_max", "scatter_min"):
        dtypes = [*INTS, *NIBBLES, *FLOATS]
        if op in ("scatter_set", "scatter_sum"):
            dtypes += [np.bool_, *COMPLEX]
        for dtype in dtypes:
            x, updates = small(random, (5, 3), dtype), small(random, (6, 3), dtype)
            rows = np.array([3, 0, -1, 3, 5, 4], np.int32)  # two are outside, two are equal
            family.add(
                op,
                *scatter(
                    op,
                    x,
                    rows,
                    updates,
                    1,
                    update_window_dims=[1],
                    inserted_window_dims=[0],
                    scatter_dims_to_operand_dims=[0],
                ),
            )
            if op == "scatter_sum" and is_int(dtype):  # sums that wrap
                x = np.resize(edges(dtype), (5, 3))
                family.add(
                    op,
                    *scatter(
                        op,
                        x,
                        rows,
                        np.resize(edges(dtype)[::-1], (6, 3)),
                        1,
                        update_window_dims=[1],
                        inserted_window_dims=[0],
                        scatter_dims_to_operand_dims=[0],
                    ),
                )
        x = random.integers(-9, 9, (4, 5, 3)).astype(np.float32)
        # Windows of [2, 2]; one is outside. Of one that is partly outside, the specification writes the elements
        # that are inside, XLA none.
        corners = np.array([[0, 0, 1], [2, 3, 0], [-5, 1, 1], [1, 2, 0]], np.int64)
        windows = random.integers(-9, 9, (4, 2, 2)).astype(np.float32)
        family.add(
            op,
            *scatter(
                op,
                x,
                corners,
                windows,
                1,
                update_window_dims=[1, 2],
                inserted_window_dims=[2],
                scatter_dims_to_operand_dims=[0, 1, 2],
            ),
        )
        family.add(
            op,
            *scatter(
                op,
                x,
                corners.T[:, :2].copy(),
                windows.transpose(1, 2, 0)[:, :, :2].copy(),
                0,
                update_window_dims=[0, 1],
                inserted_window_dims=[2],
                scatter_dims_to_operand_dims=[0, 1, 2],
            ),
        )
        batched = np.array([[3, 0, 1, 2], [1, 1, -2, 4]], np.int32)  # axis 1 goes with axis 0 of x
        updates = random.integers(-9, 9, (2, 4, 3)).astype(np.float32)
        family.add(
            op,
            *scatter(
                op,
                x,
                batched,
                updates,
                2,
                update_window_dims=[2],
                inserted_window_dims=[1],
                input_batching_dims=[0],
                scatter_indices_batching_dims=[1],
                scatter_dims_to_operand_dims=[1],
            ),
        )
        family.add(
            op,
            *scatter(
                op,
                x,
                np.array([2, 0], np.uint8),
                updates[:, 0],
                1,
                True,
                update_window_dims=[1],
                inserted_window_dims=[0, 1],
                scatter_dims_to_operand_dims=[1],
            ),
        )
        family.add(
            op,
            *scatter(
                op,
                x,
                np.zeros((0,), np.int32),
                np.zeros((0, 5, 3), np.float32),
                1,
                update_window_dims=[1, 2],
                inserted_window_dims=[0],
                scatter_dims_to_operand_dims=[0],
            ),
        )
        # Not several updates of a scalar, which XLA fails to compile.
        family.add(op, *scatter(op, np.float32(3), np.zeros((0,), np.int32), np.float32(-4), 0))
        specials = np.array([np.nan, np.inf, -np.inf, 1, -1, 2], np.float32)
        family.add(
            op,
            *scatter(
                op,
                specials,
                np.arange(6).astype(np.int32),
                np.roll(specials, 1),
                1,
                inserted_window_dims=[0],
                scatter_dims_to_operand_dims=[0],
            ),
        )


def places():
    family, random = Family("places"), np.random.default_rng(9)
    gathers(family, random)
    scatters(family, random)
    family.write()
