"""conv_general, reduce_window and select_and_scatter, of small whole numbers: all sums are exact."""

import numpy as np
from jax import lax

from recorder.family import (
    COMPLEX,
    FLOATS,
    INTS,
    NIBBLES,
    Family,
    dense,
    dense_pairs,
    edges,
    is_int,
    numbers,
    small,
    stablehlo,
    tensor_type,
)
from recorder.sums import extremes_of
from recorder.sums import window as by_window

ONE, TWO, LAST, THREE = (0, 1, 2), (0, 1, 2, 3), (0, 3, 1, 2), (0, 1, 2, 3, 4)
HWIO = (3, 2, 0, 1)  # where the output channels, the input channels, height and width are
# x, kernel, strides, low, high, dilations of x, of the kernel, (axes of x, of the kernel, of the result),
# feature groups, batch groups
CONVOLUTIONS = [
    ((2, 3, 5, 4), (4, 3, 3, 2), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (TWO, TWO, TWO), 1, 1),
    ((2, 3, 5, 4), (4, 3, 3, 2), (2, 1), (1, 2), (2, 0), (1, 1), (1, 1), (TWO, TWO, TWO), 1, 1),
    ((2, 3, 5, 4), (4, 3, 3, 2), (1, 2), (-1, 0), (1, -1), (2, 1), (1, 2), (TWO, TWO, TWO), 1, 1),
    ((2, 5, 4, 3), (3, 2, 3, 4), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1), (LAST, HWIO, LAST), 1, 1),
    ((2, 5, 4, 3), (3, 2, 3, 4), (1, 3), (2, 1), (1, 4), (3, 2), (2, 3), (LAST, HWIO, TWO), 1, 1),
    ((2, 5, 4, 3), (1, 1, 3, 4), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (LAST, HWIO, LAST), 1, 1),
    ((1, 5, 4, 6), (3, 3, 1, 6), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (LAST, HWIO, LAST), 6, 1),
    ((2, 6, 5, 4), (12, 1, 3, 2), (2, 1), (1, 0), (0, 1), (1, 1), (1, 1), (TWO, TWO, TWO), 6, 1),
    ((2, 5, 4, 6), (3, 3, 2, 9), (1, 2), (1, 1), (0, 1), (1, 1), (1, 1), (LAST, HWIO, LAST), 3, 1),
    ((4, 3, 5, 4), (6, 3, 2, 2), (1, 1), (0, 1), (0, 0), (1, 1), (1, 1), (TWO, TWO, TWO), 1, 2),
    ((2, 3, 7), (5, 3, 4), (3,), (2,), (1,), (1,), (1,), (ONE, ONE, ONE), 1, 1),
    ((7, 2, 3), (4, 3, 5), (1,), (0,), (3,), (2,), (2,), ((1, 2, 0), (2, 1, 0), (2, 0, 1)), 1, 1),
    ((2, 3), (5, 3), (), (), (), (), (), ((0, 1), (0, 1), (0, 1)), 1, 1),
    ((2, 2, 3, 4, 3), (4, 2, 2, 2, 2), (1, 2, 1), (0, 1, 0), (1, 0, 0), (1, 1, 2), (1, 2, 1), (THREE,) * 3, 1, 1),
    ((1, 3, 4, 3, 2), (2, 2, 2, 1, 4), (1, 1, 1), (0, 0, 1), (0, 0, 1), (1, 1, 1), (1, 1, 1),
     ((0, 4, 1, 2, 3), (4, 3, 0, 1, 2), (0, 4, 1, 2, 3)), 2, 1),
    ((2, 3, 2, 2), (4, 3, 3, 3), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (TWO, TWO, TWO), 1, 1),  # no window
    ((0, 3, 5, 4), (4, 3, 3, 2), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (TWO, TWO, TWO), 1, 1),
    ((2, 0, 5, 4), (4, 0, 3, 2), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (TWO, TWO, TWO), 1, 1),
]  # fmt: skip


def convolutions(family, random):
    for dtype in [*INTS, *NIBBLES, *FLOATS, *COMPLEX]:
        chosen = CONVOLUTIONS if dtype == np.float32 else CONVOLUTIONS[2:9:6] if is_int(dtype) else CONVOLUTIONS[2:14:3]
        for x, kernel, strides, low, high, lhs, rhs, specs, features, batches in chosen:
            function = lambda a, b: lax.conv_general_dilated(
                a,
                b,
                strides,
                list(zip(low, high)),
                lhs,
                rhs,
                lax.ConvDimensionNumbers(*specs),
                features,
                batches,
                precision="highest",
            )
            said = {
                "strides": strides,
                "padding_low": low,
                "padding_high": high,
                "lhs_dilation": lhs,
                "rhs_dilation": rhs,
            }
            text = ", ".join(f"{name}={numbers(values)}" for name, values in said.items())
            names = (
                ("input_batch", "input_feature", "input_spatial"),
                ("kernel_output", "kernel_input", "kernel_spatial"),
                ("output_batch", "output_feature", "output_spatial"),
            )
            places = {}
            for group, spec in zip(names, specs):
                places |= {group[0]: spec[0], group[1]: spec[1], group[2]: numbers(spec[2:])}
            order = (
                "input_batch",
                "input_feature",
                "input_spatial",
                "kernel_input",
                "kernel_output",
                "kernel_spatial",
                "output_batch",
                "output_feature",
                "output_spatial",
            )
            text += "".join(f", {name}={places[name]}" for name in order)
            family.add(
                "conv_general",
                function,
                [small(random, x, dtype), small(random, kernel, dtype)],
                f"{text}, feature_groups={features}, batch_groups={batches}",
            )


# x, window, strides, dilations of x, of the window, low, high
WINDOWS = [
    ((4, 5), (2, 3), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
    ((4, 5), (2, 3), (2, 2), (1, 1), (1, 1), (1, 0), (0, 2)),
    ((4, 5), (2, 2), (1, 3), (2, 3), (3, 2), (2, 0), (1, 3)),
    ((4, 5), (3, 2), (1, 1), (1, 1), (1, 1), (-1, 0), (0, -2)),
    ((2, 3, 4), (1, 2, 2), (1, 2, 1), (1, 1, 1), (1, 1, 2), (0, 1, 0), (0, 0, 1)),
    ((1, 6, 5, 2), (1, 3, 3, 1), (1, 2, 2, 1), (1, 1, 1, 1), (1, 1, 1, 1), (0, 1, 1, 0), (0, 1, 1, 0)),
    ((), (), (), (), (), (), ()),
    ((3,), (5,), (1,), (1,), (1,), (0,), (0,)),
    ((2,), (2,), (2,), (3,), (1,), (4,), (4,)),  # windows that see nothing
    ((7,), (7,), (1,), (1,), (1,), (6,), (0,)),
    ((0, 3), (1, 2), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
]


def reduce_windows(family, random):
    for dtype in [*INTS, *NIBBLES, *FLOATS, *COMPLEX]:
        is_complex = np.dtype(dtype).kind == "c"
        zero, one = ("0", "1") if is_int(dtype) else ("(0.0, 0.0)", "(1.0, 0.0)") if is_complex else ("0.0", "1.0")
        reductions = [("sum", "add", zero), ("product", "multiply", one)]
        if not is_complex:
            lowest, highest = extremes_of(dtype)
            reductions += [("max", "maximum", lowest), ("min", "minimum", highest)]
        for reduction, name, start in reductions:
            for case in WINDOWS if dtype == np.float32 else WINDOWS[2:4]:
                dims, window, strides, base, dilations, low, high = case
                x = small(random, dims, dtype)
                if reduction in ("max", "min") and dims == (4, 5):
                    x = np.resize(edges(dtype), dims)  # with NaN and infinities
                window_op(family, x, reduction, name, start, window, strides, base, dilations, low, high)


def window_op(family, x, reduction, name, start, window, strides, base, dilations, low, high):
    family.add(
        "reduce_window",
        by_window(name, start, x, window, strides, base, dilations, low, high),
        [x],
        f"reduction={reduction}, window_dimensions={numbers(window)}, strides={numbers(strides)}, "
        f"base_dilations={numbers(base)}, window_dilations={numbers(dilations)}, padding_low={numbers(low)}, "
        f"padding_high={numbers(high)}",
    )


SELECTIONS = [
    ((4, 5), (2, 2), (2, 2), (0, 0), (0, 1)),
    ((4, 5), (3, 2), (1, 1), (1, 0), (1, 1)),
    ((2, 7), (1, 3), (1, 2), (0, 1), (0, 1)),
    ((2, 3, 4, 1), (1, 2, 2, 1), (1, 1, 2, 1), (0,) * 4, (0,) * 4),
    ((0, 4), (1, 2), (1, 2), (0, 0), (0, 0)),
]  # not of scalars, on which XLA aborts


def select_and_scatters(family, random):
    for dtype in [*INTS, *NIBBLES, *FLOATS]:
        for op, direction in (("select_and_scatter_max", "GE"), ("select_and_scatter_min", "LE")):
            chosen = SELECTIONS if dtype == np.float32 else SELECTIONS[2:3] if dtype in NIBBLES else SELECTIONS[1:3]
            for dims, window, strides, low, high in chosen:
                sources = tuple((n + lo + hi - w) // s + 1 for n, w, s, lo, hi in zip(dims, window, strides, low, high))
                sources = (0, *sources[1:]) if 0 in dims else sources
                # No two equal ones: which of them is chosen is not said, and is not always the first in XLA.
                lowest = 0 if "u" in np.dtype(dtype).name[:1] else -7
                x = (random.permutation(int(np.prod(dims))) + lowest).reshape(dims).astype(dtype)
                source = small(random, sources, dtype)
                scalar, whole = tensor_type((), dtype), tensor_type(dims, dtype)
                kind = "FLOAT" if not is_int(dtype) else "UNSIGNED" if "u" in np.dtype(dtype).name[:1] else "SIGNED"
                body = (
                    f"%s = stablehlo.constant dense<{'0' if is_int(dtype) else '0.0'}> : {scalar}\n"
                    f'%r = "stablehlo.select_and_scatter"(%x0, %x1, %s) ({{\n^bb0(%a: {scalar}, %b: {scalar}):\n'
                    f"%c = stablehlo.compare {direction}, %a, %b, {kind} : ({scalar}, {scalar}) -> tensor<i1>\n"
                    f"stablehlo.return %c : tensor<i1>\n}}, {{\n^bb0(%a: {scalar}, %b: {scalar}):\n"
                    f"%c = stablehlo.add %a, %b : {scalar}\nstablehlo.return %c : {scalar}\n}}) "
                    f"{{window_dimensions = {dense(window)}, window_strides = {dense(strides)}, "
                    f"padding = {dense_pairs(low, high)}}} : ({whole}, {tensor_type(sources, dtype)}, {scalar}) -> "
                    f"{whole}"
                )
                family.add(
                    op,
                    stablehlo(body, (dims, dtype)),
                    [x, source],
                    f"window_dimensions={numbers(window)}, strides={numbers(strides)}, "
                    f"padding_low={numbers(low)}, padding_high={numbers(high)}",
                )


def windows():
    family, random = Family("windows"), np.random.default_rng(11)
    convolutions(family, random)
    reduce_windows(family, random)
    select_and_scatters(family, random)
    family.write()
