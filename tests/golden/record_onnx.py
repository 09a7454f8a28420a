#!/usr/bin/env python3
"""Writes the small ONNX files of tests/golden/onnx, which the tests of the onnx backend open. Needs numpy and onnx.

    record_onnx.py            writes them
    record_onnx.py --check    fails where a file is not what would be written
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "onnx"


def model(nodes, inputs, outputs, initializers=(), opset=18):
    graph = helper.make_graph(nodes, "test", inputs, outputs, list(initializers))
    made = helper.make_model(graph, producer_name="record_onnx", opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    return made


def value(name, dtype, dims):
    return helper.make_tensor_value_info(name, dtype, dims)


WEIGHT = (np.arange(12, dtype=np.float32).reshape(3, 4) - 5) / 4


def dense():
    """y[batch, 4] = x[batch, 3] · w + b; also the number of rows, and a dim without a name."""
    weight = numpy_helper.from_array(WEIGHT, "w")
    bias = numpy_helper.from_array(np.array([1, -2, 3, -4], np.float32), "b")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product"]), helper.make_node("Add", ["product", "b"], ["y"]),
             helper.make_node("NonZero", ["y"], ["places"])]
    return model(nodes, [value("x", TensorProto.FLOAT, ["batch", 3])],
                 [value("y", TensorProto.FLOAT, ["batch", 4]), value("places", TensorProto.INT64, [2, None])],
                 [weight, bias])


def external(location):
    """y = x · w, with the 48 bytes of w from place 16 of another file on."""
    weight = numpy_helper.from_array(WEIGHT, "w")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, text in {"location": location, "offset": "16", "length": "48"}.items():
        entry = weight.external_data.add()
        entry.key, entry.value = key, text
    return model([helper.make_node("MatMul", ["x", "w"], ["y"])], [value("x", TensorProto.FLOAT, ["batch", 3])],
                 [value("y", TensorProto.FLOAT, ["batch", 4])], [weight])


def one_node(op, opset=18, domain=""):
    node = helper.make_node(op, ["x"], ["y"], domain=domain)
    made = model([node], [value("x", TensorProto.FLOAT, [2])], [value("y", TensorProto.FLOAT, [2])], opset=opset)
    if domain:
        made.opset_import.append(helper.make_opsetid(domain, 1))
    return made


def text():
    return model([helper.make_node("Identity", ["words"], ["same"])], [value("words", TensorProto.STRING, ["n"])],
                 [value("same", TensorProto.STRING, ["n"])])


def other_dim():
    """Gives an output a dim of another name than its input's, which has the same extent."""
    return model([helper.make_node("Neg", ["x"], ["y"])], [value("x", TensorProto.FLOAT, ["n"])],
                 [value("y", TensorProto.FLOAT, ["m"])])


def files():
    dense_bytes = dense().SerializeToString()
    return {
        "dense.onnx": dense_bytes,
        "cut_off.onnx": dense_bytes[:len(dense_bytes) // 2],
        "not_onnx.onnx": b"this is no model\n",
        "external.onnx": external("external.data").SerializeToString(),
        "external.data": bytes(16) + WEIGHT.tobytes(),
        "outside.onnx": external("../README.md").SerializeToString(),
        "missing_data.onnx": external("not_there.data").SerializeToString(),
        "unknown_op.onnx": one_node("NoSuchOperator").SerializeToString(),
        "unknown_domain.onnx": one_node("Thing", domain="example.org").SerializeToString(),
        "future_opset.onnx": one_node("Neg", opset=999).SerializeToString(),
        "text.onnx": text().SerializeToString(),
        "other_dim.onnx": other_dim().SerializeToString(),
    }


def main():
    if "--check" not in sys.argv:
        FOLDER.mkdir(exist_ok=True)
        for name, content in files().items():
            (FOLDER / name).write_bytes(content)
        return 0
    different = [name for name, content in files().items() if (FOLDER / name).read_bytes() != content]
    for name in different:
        print(f"{name} is not what record_onnx.py writes")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
