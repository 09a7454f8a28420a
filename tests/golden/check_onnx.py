#!/usr/bin/env python3
"""Runs the goldens of standard ops (record_ops.py) through ONNX models that Alate writes, on ONNX Runtime's processor
provider, and compares with what jax gave.

    check_onnx.py PROGRAM [--opset N] [--family NAME]... [--op NAME]... [--dtypes main|all] [--file CASES]

PROGRAM is alate-write-onnx (a target of the build). Needs numpy and onnxruntime. Prints each case that fails, then
for each dtype how many (op, dtype) pairs are equal in all cases, which are refused and why, and which fail. `main` (the
default) is bool, i32, i64, f32 and f64. Exits with 1 where something fails.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

MAIN = ["bool", "i32", "i64", "f32", "f64"]
NUMPY = {"BOOL": np.bool_, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64, "U8": np.uint8,
         "U16": np.uint16, "U32": np.uint32, "U64": np.uint64, "F16": np.float16, "F32": np.float32, "F64": np.float64,
         "C64": np.complex64}
SHAPE = re.compile(r"^(\w+)\[([^\]]*)\]$")
# Units in the last place of the largest magnitude: sums in another order, transforms.
SUMS = {"reduce_sum", "reduce_product", "dot_general", "cumulative_sum", "cumulative_product", "scatter_sum",
        "conv_general", "reduce_window", "select_and_scatter_max", "select_and_scatter_min", "fft", "reduce",
        "batch_norm_inference", "batch_norm_training", "batch_norm_gradient", "while_loop", "call", "if_else"}
# Units in the last place of each element, as tests/conformance/tolerances.cpp has them.
FUNCTIONS = {"exp": 3, "expm1": 4, "log": 3, "log1p": 4, "logistic": 4, "tanh": 5, "erf": 5, "sin": 4, "cos": 4,
             "tan": 5, "cbrt": 4, "atan2": 5, "rsqrt": 2, "pow": 4, "sqrt": 1, "div": 1, "mul": 1}
# Units of the largest element: fused ops round several times.
FUSED = {"softmax": 32, "gelu": 8, "silu": 8, "normalize": 16, "log_softmax": 16, "rms_norm": 16, "rope": 4,
         "attention_gradient": 128, "layer_norm": 32, "group_norm": 32, "dense": 64, "attention": 64,
         "ragged_attention": 64, "paged_attention": 64, "ragged_pool": 32, "quantized_dense": 64}
UNSIGNED_ZEROS = SUMS | set(FUSED) | {
    "max", "min", "reduce_max", "reduce_min"}


def read_safetensors(path):
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    body = data[8 + length:]

    def tensor(name):
        entry = header[name]
        first, last = entry["data_offsets"]
        if entry["dtype"] not in NUMPY:
            raise KeyError(entry["dtype"])
        return np.frombuffer(body[first:last], NUMPY[entry["dtype"]]).reshape(entry["shape"])

    names = collections.defaultdict(lambda: [0, 0])
    for name in header:
        case, port = name.rsplit("/", 1)
        names[case][0 if port.startswith("in") else 1] += 1
    return metadata, names, tensor


def as_pairs(x, shape):
    """Complex numbers, which come as they are or as bytes, as pairs of floats."""
    dtype, dims = SHAPE.match(shape).groups()
    if dtype not in ("c64", "c128"):
        return x
    return np.frombuffer(x.tobytes(), np.float32 if dtype == "c64" else np.float64).reshape(
        [int(d) for d in dims.split(",") if d] + [2])


def differs(found, wanted, op):
    """What is wrong, or nothing."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"{found.dtype}{list(found.shape)} in place of {wanted.dtype}{list(wanted.shape)}"
    if found.size == 0:
        return None
    if found.dtype.kind not in "fc":
        wrong = found != wanted
    else:
        with np.errstate(all="ignore"):
            finite = np.isfinite(wanted)
            largest = np.max(np.abs(wanted[finite]), initial=0.0)
            unit = np.spacing(np.abs(np.where(finite, wanted, 1)))
            if op in SUMS or op in FUSED:
                bound = FUSED.get(op, 64) * np.spacing(found.dtype.type(max(largest, 1.0)))
            else:
                bound = FUNCTIONS.get(op, 0) * unit
            near = finite & (np.abs(found - wanted) <= bound)
            same = (found == wanted) | (np.isnan(found) & np.isnan(wanted)) | near
            if op not in UNSIGNED_ZEROS:
                same &= (wanted != 0) | (found != 0) | (np.signbit(found) == np.signbit(wanted))
            wrong = ~same
    if not wrong.any():
        return None
    at = tuple(i[0] for i in np.nonzero(wrong))
    return f"{int(wrong.sum())} of {wrong.size} differ; {found[at]!r} in place of {wanted[at]!r} at {at}"


def op_of(graph):
    """The op and the dtype that decides, of a graph of one op."""
    lines = [line for line in graph.splitlines() if re.match(r"\s*%\d+ = ", line)]
    depth_one = [line for line in lines if line.startswith("  %")]
    for line in depth_one:
        name = re.match(r"\s*%\d+ = (\w+)", line).group(1)
        if name in ("parameter", "constant"):
            continue
        operands = re.search(r"\(([^)]*)\)", line)
        places = re.findall(r"%(\d+)", operands.group(1)) if operands else []
        if places:
            place = places[1] if name in ("select", "clamp", "if_else") and len(places) > 1 else places[0]
            for other in depth_one:
                found = re.match(rf"\s*%{place} = .*?: (\w+)\[", other)
                if found:
                    return name, found.group(1)
        return name, re.search(r": \(?(\w+)\[", line).group(1)
    raise ValueError(graph)


def run(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {port.name: x for port, x in zip(session.get_inputs(), inputs)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--opset", default="18")
    parser.add_argument("--family", action="append")
    parser.add_argument("--op", action="append")
    parser.add_argument("--dtypes", default="main")
    parser.add_argument("--file", type=pathlib.Path, help="cases of alate-write-cases in place of the goldens")
    arguments = parser.parse_args()
    failed, refused, equal = collections.Counter(), {}, collections.Counter()
    goldens = sorted((pathlib.Path(__file__).parent / "ops").glob("*.safetensors"))
    for path in [arguments.file] if arguments.file else goldens:
        if arguments.family and path.stem not in arguments.family:
            continue
        metadata, names, tensor = read_safetensors(path)
        with tempfile.TemporaryDirectory() as folder:
            cases = {}
            for case, graph in metadata.items():
                key = tuple(case.split(" ")[:2]) if " " in case else op_of(graph)
                if arguments.op and key[0] not in arguments.op:
                    continue
                if arguments.dtypes == "main" and key[1] not in MAIN:
                    continue
                cases[str(len(cases))] = (case, key, graph)
                (pathlib.Path(folder) / f"{len(cases) - 1}.graph").write_text(graph)
            if not cases:
                continue
            lines = subprocess.run([arguments.program, arguments.opset, folder], check=True, capture_output=True,
                                   text=True).stdout.splitlines()
            for line in lines:
                number, verdict, *rest = line.split(" ", 2)
                case, key, graph = cases[number]
                if verdict == "refused":
                    refused.setdefault(key, rest[0])
                    continue
                shapes = re.findall(r"= parameter \"[^\"]*\" : (\w+\[[^\]]*\])", graph)
                try:
                    inputs = [tensor(f"{case}/in{i}") for i in range(names[case][0])]
                    if " " not in case:
                        inputs = [as_pairs(x, shape) for x, shape in zip(inputs, shapes)]
                    wanted = [tensor(f"{case}/out{i}") for i in range(names[case][1])]
                except KeyError as error:
                    refused.setdefault(key, f"numpy has no {error}")
                    continue
                try:
                    found = run(pathlib.Path(folder) / f"{number}.onnx", inputs)
                    problems = []
                    for y, w in zip(found, wanted, strict=True):
                        w = as_pairs(w, f"c64[{','.join(map(str, w.shape))}]") if w.dtype == np.complex64 else w
                        if w.dtype == np.uint8 and y.dtype == np.float64:
                            w = np.frombuffer(w.tobytes(), np.float64).reshape(y.shape)
                        problems.append(differs(y, w, key[0]))
                    problem = next((p for p in problems if p), None)
                except Exception as error:  # whatever the runtime says is of interest
                    problem = str(error)[-300:].replace("\n", " ")
                if problem:
                    failed[key] += 1
                    print(f"{case}: {problem}\n    {' '.join(graph.split())[:600]}")
                else:
                    equal[key] += 1
    pairs = set(equal) | set(failed) | set(refused)
    for dtype in sorted({key[1] for key in pairs}):
        those = {key for key in pairs if key[1] == dtype}
        wrong = {key for key in those if failed[key]}
        without = {key for key in those if key in refused}
        print(f"{dtype}: {len(those - wrong - without)} of {len(those)} equal ({sum(equal[k] for k in those)} cases)")
        for op, _ in sorted(wrong):
            print(f"  differs: {op}: {failed[op, dtype]} of {failed[op, dtype] + equal[op, dtype]} cases")
        for key in sorted(without):
            print(f"  refused: {key[0]}{' (some)' if equal[key] else ''}: {refused[key]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
