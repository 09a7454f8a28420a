#!/usr/bin/env python3
"""Runs what exchange/stablehlo.h writes in XLA, and compares with the goldens of tests/golden/ops.

    write_stablehlo FOLDER tests/golden/ops/*.safetensors      (a program of the build)
    check_stablehlo.py FOLDER [OP...]                          needs jax and numpy; all ops where none is named
    check_stablehlo.py --every N FOLDER [OP...]                every Nth graph of an op alone

Each golden is a graph of one op with inputs and outputs. FOLDER/FAMILY/N.mlir is compiled and run by XLA's client for
the processor. Results of ops that round must be as close as conformance/tolerances.cpp asks of backends; those of the
others must be the same, but for which of several NaN it is. Prints a line for each op: how many graphs gave equal
results, differed, were refused by XLA and were not written.
"""

import collections
import json
import pathlib
import re
import struct
import sys

import jax
import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jax._src.lib import xla_client

from recorder.family import BITS, FOLDER, NAMES

DTYPES = {text: np.dtype(getattr(ml_dtypes, name, name)) for name, (text, _, _) in NAMES.items()}

# Units in the last place of f32 and f64, and whether of each element or of the largest; halves have 1, or 2.
OF_LARGEST = {
    **dict.fromkeys(["reduce_sum", "dot_general", "cumulative_sum", "scatter_sum", "conv_general"], 16),
    **dict.fromkeys(["reduce_window", "select_and_scatter_max", "select_and_scatter_min"], 16),
    **dict.fromkeys(["reduce_product", "cumulative_product", "fft", "batch_norm_gradient"], 64),
    **dict.fromkeys(["batch_norm_inference", "batch_norm_training"], 32),
}
OF_ELEMENT = {
    **dict.fromkeys(["exp", "log"], 3),
    **dict.fromkeys(["expm1", "log1p", "logistic", "sin", "cos", "cbrt", "pow"], 4),
    **dict.fromkeys(["tanh", "erf", "tan", "atan2"], 5),
    "rsqrt": 2,
}
UNORDERED_ZEROS = {"max", "min", "reduce_max", "reduce_min", "reduce_window", *OF_LARGEST}


def read(path):
    """Metadata and a function that gives a tensor of the text form's dtype and dims."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    data = content[8 + length :]

    def tensor(name, dtype, dims):
        begin, end = header[name]["data_offsets"]
        bits = BITS.get(DTYPES[dtype].name)
        if bits is None:
            return np.frombuffer(data[begin:end], DTYPES[dtype]).reshape(dims)
        each = 8 // bits
        elements = np.repeat(np.frombuffer(data[begin:end], np.uint8), each)
        elements = (elements >> np.tile(bits * np.arange(each, dtype=np.uint8), end - begin)) & ((1 << bits) - 1)
        elements = elements[: int(np.prod(dims))].reshape(dims)
        if dtype == "f4e2m1fn":
            return elements.view(DTYPES[dtype])
        values = elements.astype(np.int16)
        if dtype[0] == "i":
            values -= (values >> (bits - 1)) << bits
        return values.astype(DTYPES[dtype])

    return header["__metadata__"], tensor


def shapes(text, pattern):
    found = re.findall(pattern, text)
    return [(dtype, [int(n) for n in dims.split(",") if n]) for dtype, dims in found]


def run(text, inputs):
    backend = xla_bridge.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
    program = backend.compile_and_load(text, devices, xla_client.CompileOptions())
    return [np.asarray(x) for x in program.execute([jax.device_put(x) for x in inputs])]


def wide(x):
    """All elements one after the other, complex ones as two numbers."""
    x = np.ascontiguousarray(x).reshape(-1)
    return x.astype(np.complex128).view(np.float64) if x.dtype.kind == "c" else x.astype(np.float64)


def unit(dtype, size):
    """One unit in the last place of numbers of this size."""
    part = np.dtype({"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name))
    info = ml_dtypes.finfo(part)
    return np.ldexp(float(info.eps), np.frexp(np.maximum(np.abs(size), float(info.tiny)))[1] - 1)


def is_close(op, found, wanted):
    """Whether results are the same, or as close as the op's are asked to be."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    is_rounded = found.dtype.kind == "c" or np.issubdtype(found.dtype, np.floating) or "float" in found.dtype.name
    if not is_rounded:
        return np.array_equal(found, wanted)
    x, y = wide(found), wide(wanted)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if op not in UNORDERED_ZEROS and found.dtype.kind != "c":
        same &= (np.signbit(x) == np.signbit(y)) | np.isnan(x)
    of_largest, of_element = OF_LARGEST.get(op, 0), OF_ELEMENT.get(op, 0)
    if found.dtype.kind == "c" and not of_largest and op not in ("complex", "select", "real", "imag", "conj"):
        of_element = of_element or 4
    ulps = max(of_largest, of_element)
    if found.dtype.itemsize <= 2 and ulps:
        ulps = 2 if op.startswith("batch_norm") else 1
    if not ulps:
        return bool(same.all())
    size = np.repeat(np.abs(wanted.reshape(-1).astype(np.complex128)), 2) if found.dtype.kind == "c" else y
    finite = np.isfinite(y) & np.isfinite(size)
    if of_largest and finite.any():
        size = np.full(y.shape, np.abs(y[finite]).max())
    with np.errstate(all="ignore"):
        close = finite & (np.abs(x - y) <= ulps * unit(found.dtype, size))
    return bool((same | close).all())


def check(metadata, tensor, folder, number):
    """Nothing, or what went wrong: (kind, text)."""
    graph = metadata[number]
    refused = folder / f"{number}.unsupported"
    if refused.exists():
        return "unwritten", refused.read_text().strip()
    op = graph.split('"')[1]
    inputs = shapes(graph, r'\n  %\d+ = parameter "x\d+" : (\w+)\[([\d,]*)\]')
    inputs = [tensor(f"{number}/in{i}", *shape) for i, shape in enumerate(inputs)]
    try:
        found = run((folder / f"{number}.mlir").read_text(), inputs)
    except Exception as error:  # XLA's errors have no type of their own
        return "refused", str(error).splitlines()[0]
    for i, x in enumerate(found):
        dtype = NAMES[x.dtype.name][0]
        wanted = tensor(f"{number}/out{i}", dtype, list(x.shape))
        if not is_close(op, x, wanted):
            return "different", f"result {i}: {x.reshape(-1)[:12]} not {wanted.reshape(-1)[:12]}"
    return None


def main(folder, ops, every):
    seen, counts = collections.Counter(), collections.defaultdict(collections.Counter)
    for path in sorted(FOLDER.glob("*.safetensors")):
        metadata, tensor = read(path)
        for number in sorted(metadata, key=int):
            op = metadata[number].split('"')[1]
            seen[op] += 1
            if (ops and op not in ops) or (seen[op] - 1) % every != 0:
                continue
            wrong = check(metadata, tensor, pathlib.Path(folder) / path.stem, number)
            counts[op][wrong[0] if wrong else "equal"] += 1
            if wrong:
                print(f"{path.stem}/{number} {op}: {wrong[0]}: {wrong[1]}", flush=True)
    for op in sorted(counts):
        print(f"{op}: " + ", ".join(f"{count} {kind}" for kind, count in counts[op].most_common()))
    total = sum(counts.values(), collections.Counter())
    print("all: " + ", ".join(f"{count} {kind}" for kind, count in total.most_common()))
    return 0 if set(total) <= {"equal"} else 1


if __name__ == "__main__":
    arguments = sys.argv[1:]
    step = int(arguments[1]) if arguments[0] == "--every" else 1
    arguments = arguments[2:] if arguments[0] == "--every" else arguments
    sys.exit(main(arguments[0], arguments[1:], step))
