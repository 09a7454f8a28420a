"""Regions in both spellings: the text form's and StableHLO's."""

import numpy as np

from recorder.family import tensor_type, text_name

COMPARISONS = {
    "equal": "EQ",
    "not_equal": "NE",
    "less": "LT",
    "less_or_equal": "LE",
    "greater": "GT",
    "greater_or_equal": "GE",
}
SPELLINGS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "max": "maximum",
    "min": "minimum",
    "select": "select",
    "logical_and": "and",
    "logical_or": "or",
    "logical_not": "not",
    "bitwise_xor": "xor",
    "neg": "negate",
}


def text_shape(dims, dtype):
    return f"{text_name(dtype)}[{','.join(map(str, dims))}]"


class Region:
    """What it takes is a list of (dims, dtype). Values are (text, StableHLO, dims, dtype)."""

    made = 0

    def __init__(self, takes, captured=None):
        Region.made += 1
        self.name, self.count, self.text, self.mlir = f"v{Region.made}_", 0, [], []
        self.parameters, self.outputs = [], []
        for i, (dims, dtype) in enumerate(takes):
            self.text.append(f'%{i} = parameter "p{i}" : {text_shape(dims, dtype)}')
            # A region of stablehlo.if takes nothing: it reads values of around it.
            spelled = captured[i] if captured else f"%{self.name}{i}"
            self.parameters.append((f"%{i}", spelled, tuple(dims), np.dtype(dtype)))
        self.block = (
            ""
            if captured
            else ("^bb0(" + ", ".join(f"{v[1]}: {tensor_type(v[2], v[3])}" for v in self.parameters) + "):")
        )
        self.count = len(takes)

    def emit(self, op, *operands):
        _, _, dims, dtype = operands[1] if op == "select" else operands[0]
        direction = COMPARISONS.get(op.removesuffix("_total_order"))
        place, name = f"%{self.count}", f"%{self.name}{self.count}"
        result = (place, name, dims, np.dtype(bool) if direction else dtype)
        self.text.append(f"{place} = {op}({', '.join(v[0] for v in operands)}) : {text_shape(dims, result[3])}")
        types = ", ".join(tensor_type(v[2], v[3]) for v in operands)
        names = ", ".join(v[1] for v in operands)
        attributes = ""
        if direction:
            unsigned = dtype.name == "bool" or dtype.name.startswith("uint")
            kind = "UNSIGNED" if unsigned else "SIGNED" if dtype.name.startswith("int") else "FLOAT"
            kind = "TOTALORDER" if op.endswith("_total_order") else kind
            attributes = (
                f" {{comparison_direction = #stablehlo<comparison_direction {direction}>, "
                f"compare_type = #stablehlo<comparison_type {kind}>}}"
            )
        spelling = "compare" if direction else SPELLINGS[op]
        self.mlir.append(
            f'{name} = "stablehlo.{spelling}"({names}){attributes} : ({types}) -> ' f"{tensor_type(dims, result[3])}"
        )
        self.count += 1
        return result

    def if_else(self, condition, operands, then, otherwise):
        """Values of an if inside; the regions' captured names are the operands'."""
        shapes = [(v[2], v[3]) for v in then.outputs]
        place, name = f"%{self.count}", f"%{self.name}{self.count}"
        types = ", ".join(text_shape(*s) for s in shapes)
        types = types if len(shapes) == 1 else f"({types})"
        operands_text = ", ".join(v[0] for v in [condition, *operands])
        self.text.append(f"{place} = if_else({operands_text}) : {types}\n{then.as_text()}\n{otherwise.as_text()}")
        self.mlir.append(
            f"{name}{':' + str(len(shapes)) if len(shapes) > 1 else ''} = \"stablehlo.if\"({condition[1]}) "
            f"({then.as_mlir()}, {otherwise.as_mlir()}) : (tensor<i1>) -> "
            f"({', '.join(tensor_type(*s) for s in shapes)})"
        )
        self.count += 1
        if len(shapes) == 1:
            return [(place, name, *shapes[0])]
        return [(f"{place}.{i}", f"{name}#{i}", *s) for i, s in enumerate(shapes)]

    def give(self, *values):
        self.outputs = values
        return self

    def as_text(self):
        outputs = [f'output "o{i}" = {v[0]}' for i, v in enumerate(self.outputs)]
        return f'graph "region" {{\n' + "\n".join([*self.text, *outputs]) + "\n}"

    def returned(self, word):
        return (
            f"{word} {', '.join(v[1] for v in self.outputs)} : "
            f"{', '.join(tensor_type(v[2], v[3]) for v in self.outputs)}"
        )

    def as_mlir(self):
        return "{\n" + "\n".join([self.block, *self.mlir, self.returned("stablehlo.return")]) + "\n}"

    def as_function(self, name):
        taken = ", ".join(f"{v[1]}: {tensor_type(v[2], v[3])}" for v in self.parameters)
        given = ", ".join(tensor_type(v[2], v[3]) for v in self.outputs)
        return (
            f"func.func private @{name}({taken}) -> ({given}) {{\n"
            + "\n".join([*self.mlir, self.returned("return")])
            + "\n}\n"
        )
