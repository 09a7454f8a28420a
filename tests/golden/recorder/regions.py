"""Ops with regions: while_loop, if_else, call, reduce, sort."""

import numpy as np

from recorder.family import COMPLEX, FLOATS, INTS, NIBBLES, Family, dense, edges, numbers, small, stablehlo, tensor_type
from recorder.region import Region

ALL = [np.bool_, *INTS, *NIBBLES, *FLOATS, *COMPLEX]


def types_of(values):
    return ", ".join(tensor_type(np.shape(x), np.asarray(x).dtype) for x in values)


def shapes_of(values):
    return [(np.shape(x), np.asarray(x).dtype) for x in values]


def names_of(count):
    return ", ".join(f"%x{i}" for i in range(count))


def add(family, op, name, inputs, results, regions, attributes="", said=""):
    count = "" if len(results) == 1 else f":{len(results)}"
    given = ", ".join(tensor_type(*result) for result in results)
    body = (
        f'%r{count} = "stablehlo.{name}"({names_of(len(inputs))}) ({", ".join(r.as_mlir() for r in regions)}) '
        f"{{{said}}} : ({types_of(inputs)}) -> ({given})"
    )
    family.add(op, stablehlo(body, *results), inputs, attributes, [r.as_text() for r in regions])


def counting(values):
    """The condition i < limit of loop values i, step, limit, and more."""
    condition = Region(shapes_of(values))
    return condition.give(condition.emit("less", *(condition.parameters[i] for i in (0, 2))))


def while_loops(family, random):
    for dtype in ALL:
        for limit in (0, 3):
            values = [np.int32(0), np.int32(1), np.int32(limit), small(random, (2, 3), dtype), small(random, (), dtype)]
            body = Region(shapes_of(values))
            i, step, end, x, y = body.parameters
            if dtype == np.bool_:
                changed, other = body.emit("logical_not", x), body.emit("logical_or", y, y)
            else:
                changed, other = body.emit("add", x, x), body.emit("sub", y, body.emit("add", y, y))
            body.give(body.emit("add", i, step), step, end, changed, other)
            add(family, "while_loop", "while", values, shapes_of(values), [counting(values), body])
    # Fibonacci numbers: values that change places.
    values = [np.int64(0), np.int64(1), np.int64(40), np.int64(0), np.int64(1)]
    body = Region(shapes_of(values))
    i, step, end, a, b = body.parameters
    body.give(body.emit("add", i, step), step, end, b, body.emit("add", a, b))
    add(family, "while_loop", "while", values, shapes_of(values), [counting(values), body])
    # An if in the body, and a value without elements.
    values = [
        np.uint8(250),
        np.uint8(1),
        np.uint8(255),
        np.uint8(252),
        np.float32([1, -2]),
        np.zeros((0, 2), np.float32),
    ]
    body = Region(shapes_of(values))
    i, step, end, middle, x, nothing = body.parameters
    captured = [i[1], x[1]]
    then, otherwise = Region([((), np.uint8), ((2,), np.float32)], captured), Region(
        [((), np.uint8), ((2,), np.float32)], captured
    )
    then.give(then.emit("add", then.parameters[1], then.parameters[1]))
    otherwise.give(otherwise.emit("mul", otherwise.parameters[1], otherwise.parameters[1]))
    (changed,) = body.if_else(body.emit("less", i, middle), [i, x], then, otherwise)
    body.give(body.emit("add", i, step), step, end, middle, changed, body.emit("add", nothing, nothing))
    add(family, "while_loop", "while", values, shapes_of(values), [counting(values), body])


def if_elses(family, random):
    for dtype in ALL:
        for chosen in (True, False):
            values = [np.bool_(chosen), small(random, (2, 3), dtype), small(random, (2, 3), dtype)]
            regions = []
            for op in ("add", "mul") if dtype != np.bool_ else ("logical_and", "logical_or"):
                region = Region(shapes_of(values[1:]), ["%x1", "%x2"])
                x, y = region.parameters
                regions.append(region.give(region.emit(op, x, y), y if op in ("add", "logical_and") else x))
            results = shapes_of(values[1:])
            body = (
                f'%r:2 = "stablehlo.if"(%x0) ({", ".join(r.as_mlir() for r in regions)}) : (tensor<i1>) -> '
                f"({types_of(values[1:])})"
            )
            family.add("if_else", stablehlo(body, *results), values, "", [r.as_text() for r in regions])


def calls(family, random):
    for dtype in ALL:
        values = [small(random, (3,), dtype), small(random, (3,), dtype), small(random, (0, 2), dtype)]
        region = Region(shapes_of(values))
        x, y, nothing = region.parameters
        region.give(region.emit("add", x, y) if dtype != np.bool_ else region.emit("logical_or", x, y), x, nothing)
        results = shapes_of(values)
        body = f"%r:3 = func.call @callee({names_of(3)}) : ({types_of(values)}) -> ({types_of(values)})"
        family.add(
            "call", stablehlo(body, *results, functions=region.as_function("callee")), values, "", [region.as_text()]
        )


def reduces(family, random):
    def fold(inputs, starts, axes, build):
        region = Region(shapes_of(starts) * 2)
        half = len(starts)
        region.give(*build(region, region.parameters[:half], region.parameters[half:]))
        dims = tuple(n for i, n in enumerate(np.shape(inputs[0])) if i not in axes)
        results = [(dims, x.dtype) for x in inputs]
        add(
            family,
            "reduce",
            "reduce",
            [*inputs, *starts],
            results,
            [region],
            f"axes={numbers(axes)}",
            f"dimensions = {dense(axes)}",
        )

    one = lambda op: lambda region, before, new: [region.emit(op, before[0], new[0])]
    for dtype in ALL:
        x, kind = small(random, (3, 2, 4), dtype), np.dtype(dtype)
        zero, ones = np.zeros((), dtype), np.ones((), dtype)
        sums = "add" if dtype != np.bool_ else "logical_or"
        for axes in ([1], [0, 2], [0, 1, 2], []) if dtype == np.float32 else ([0, 2],):
            fold([x], [zero], axes, one(sums))
        fold([x[:, :0]], [ones], [1], one(sums))
        if kind.kind not in "cb":
            fold([x], [x[0, 0, 0]], [0, 1], one("max"))
        if dtype != np.bool_:
            fold(
                [x, x[::-1]],
                [zero, ones],
                [1],
                lambda region, before, new: [
                    region.emit("add", before[0], new[0]),
                    region.emit("mul", before[1], new[1]),
                ],
            )
    # The largest value and its place, the first of several.
    for dtype in (np.float32, np.int16):
        x = random.integers(0, 4, (4, 6)).astype(dtype)
        place = np.broadcast_to(np.arange(6, dtype=np.int32), (4, 6))

        def largest(region, before, new):
            (value, at), (other, there) = before, new
            wins = region.emit("greater", value, other)
            first = region.emit("logical_and", region.emit("equal", value, other), region.emit("less", at, there))
            keeps = region.emit("logical_or", wins, first)
            return [region.emit("select", keeps, value, other), region.emit("select", keeps, at, there)]

        fold([x, place], [np.array(-1, dtype), np.int32(99)], [1], largest)


def sorts(family, random):
    def order(inputs, axis, build, stable=True):
        takes = [scalar for x in inputs for scalar in [((), x.dtype)] * 2]
        region = Region(takes)
        region.give(build(region, *region.parameters))
        add(
            family,
            "sort",
            "sort",
            inputs,
            shapes_of(inputs),
            [region],
            f"axis={axis}, stable={str(stable).lower()}",
            f"dimension = {axis} : i64, is_stable = {str(stable).lower()}",
        )

    first = lambda op: lambda region, a, b, *more: region.emit(op, a, b)
    for dtype in ALL:
        x = small(random, (4, 5), dtype)
        places = np.arange(20, dtype=np.int32).reshape(4, 5)
        if np.dtype(dtype).kind == "c":  # XLA does not order complex numbers in regions: other keys do
            order([random.integers(0, 3, (4, 5)).astype(np.int32), x], 1, first("greater"))
            continue
        for axis in (0, 1):
            order([x, places], axis, first("less"))
            order([x, places], axis, first("greater"))
        order([x], 1, first("less"), False)
        order([x[:, :0]], 1, first("less"))

        # By one key, then where they are equal by another, which is not sorted itself.
        def two_keys(region, a, b, c, d, *more):
            same = region.emit("logical_and", region.emit("equal", a, b), region.emit("greater", c, d))
            return region.emit("logical_or", region.emit("less", a, b), same)

        order([x, random.integers(0, 3, (4, 5)).astype(np.int32), places], 1, two_keys)
        # By the second operand.
        order([places, x], 0, lambda region, a, b, c, d: region.emit("less", c, d))
    for dtype in FLOATS:
        values = np.append(edges(dtype), -edges(dtype)[:1])  # NaN of both signs, both zeros
        values = random.permutation(np.concatenate([values, values[:5]]))
        for op in ("less_total_order", "greater_total_order"):
            order([values, np.arange(values.size, dtype=np.int64)], 0, first(op))
    order([random.integers(0, 50, (700,)).astype(np.float32), np.arange(700, dtype=np.int32)], 0, first("less"))


def regions():
    family, random = Family("regions"), np.random.default_rng(15)
    while_loops(family, random)
    if_elses(family, random)
    calls(family, random)
    reduces(family, random)
    sorts(family, random)
    family.write()
