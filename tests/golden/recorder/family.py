"""Cases of one file: graphs of one op in text form, operands, and what XLA gives for them."""

import json
import pathlib
import struct

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jax._src.lib import xla_client

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

FOLDER = pathlib.Path(__file__).parent.parent / "ops"
# numpy's name of a dtype: the text form's, safetensors' (None where it has none: stored as bytes), StableHLO's.
NAMES = {
    "bool": ("bool", "BOOL", "i1"),
    "int8": ("i8", "I8", "i8"),
    "int16": ("i16", "I16", "i16"),
    "int32": ("i32", "I32", "i32"),
    "int64": ("i64", "I64", "i64"),
    "uint8": ("u8", "U8", "ui8"),
    "uint16": ("u16", "U16", "ui16"),
    "uint32": ("u32", "U32", "ui32"),
    "uint64": ("u64", "U64", "ui64"),
    "float16": ("f16", "F16", "f16"),
    "bfloat16": ("bf16", "BF16", "bf16"),
    "float32": ("f32", "F32", "f32"),
    "float64": ("f64", "F64", "f64"),
    "complex64": ("c64", "C64", "complex<f32>"),
    "complex128": ("c128", None, "complex<f64>"),
    "int4": ("i4", None, "i4"),
    "uint4": ("u4", None, "ui4"),
    "int2": ("i2", None, "i2"),
    "uint2": ("u2", None, "ui2"),
    "int1": ("i1", None, "i1"),
    "float8_e5m2": ("f8e5m2", None, "f8E5M2"),
    "float8_e4m3fn": ("f8e4m3fn", None, "f8E4M3FN"),
    "float8_e4m3b11fnuz": ("f8e4m3b11fnuz", None, "f8E4M3B11FNUZ"),
    "float8_e5m2fnuz": ("f8e5m2fnuz", None, "f8E5M2FNUZ"),
    "float8_e4m3fnuz": ("f8e4m3fnuz", None, "f8E4M3FNUZ"),
    "float8_e4m3": ("f8e4m3", None, "f8E4M3"),
    "float8_e3m4": ("f8e3m4", None, "f8E3M4"),
    "float8_e8m0fnu": ("f8e8m0fnu", None, "f8E8M0FNU"),
    "float4_e2m1fn": ("f4e2m1fn", None, "f4E2M1FN"),
}
BITS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}  # numpy has a byte for each

BOOL = np.dtype(np.bool_)
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
NIBBLES = [ml_dtypes.int4, ml_dtypes.uint4]
COMPLEX = [np.complex64, np.complex128]
STORED = [
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3b11fnuz,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e4m3,
    ml_dtypes.float8_e3m4,
]


def is_int(dtype):
    return np.dtype(dtype) in map(np.dtype, INTS + NIBBLES)


def text_name(dtype):
    return NAMES[np.dtype(dtype).name][0]


def edges(dtype):
    """Edge values, then plain ones. Denormals are left out: XLA flushes them to zero."""
    if dtype == np.bool_:
        return np.array([False, True, True, False])
    if is_int(dtype):
        info = ml_dtypes.iinfo(dtype)
        values = [info.min, info.max, 0, 1, 2, 3, 7, 100, info.max - 1, info.min + 1]
        values += [-1, -2, -7, -100] if info.min < 0 else []
        return np.array([int(x) for x in values if info.min <= x <= info.max], dtype)
    info = ml_dtypes.finfo(dtype)
    values = [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        float(info.max),
        float(info.min),
        float(info.tiny),
        1,
        -1,
        0.5,
        -0.5,
        1.5,
        -1.5,
        2.5,
        0.1,
        -0.3,
        3,
        -2,
        7.25,
        40,
    ]
    return np.array(values, dtype)


def small(random, dims, dtype):
    """Numbers of which sums and products of a few are exact."""
    if np.dtype(dtype).kind == "c":
        return (random.integers(-4, 5, dims) + 1j * random.integers(-4, 5, dims)).astype(dtype)
    if np.dtype(dtype) == BOOL:
        return random.integers(0, 2, dims).astype(bool)
    low = 0 if is_int(dtype) and ml_dtypes.iinfo(dtype).min == 0 else -4
    return random.integers(low, 5, dims).astype(dtype)


def shape(x):
    return f"{text_name(x.dtype)}[{','.join(map(str, x.shape))}]"


def numbers(values):
    return "[" + ",".join(map(str, values)) + "]"


def tensor_type(dims, dtype):
    """Of StableHLO, as shape() is of the text form."""
    return f"tensor<{''.join(f'{dim}x' for dim in dims)}{NAMES[np.dtype(dtype).name][2]}>"


def dense(values):
    """A list attribute of StableHLO."""
    return "array<i64" + (": " + ", ".join(map(str, values)) if len(values) else "") + ">"


def dense_pairs(low, high):
    """Two columns of an attribute of StableHLO, such as padding."""
    rows = ", ".join(f"[{a}, {b}]" for a, b in zip(low, high))
    return f"dense<[{rows}]> : tensor<{len(low)}x2xi64>" if len(low) else "dense<> : tensor<0x2xi64>"


def stablehlo(body, *results, functions=""):
    """A function of arrays that runs StableHLO: `body` makes %r (or %r:N) of %x0, …; results are (dims, dtype)."""

    def run(*inputs):
        inputs = [np.asarray(x) for x in inputs]
        types = [tensor_type(*result) for result in results]
        names = ["%r"] if len(types) == 1 else [f"%r#{i}" for i in range(len(types))]
        taken = ", ".join(f"%x{i}: {tensor_type(x.shape, x.dtype)}" for i, x in enumerate(inputs))
        text = (
            f"module {{ {functions} func.func public @main({taken}) -> ({', '.join(types)}) {{\n{body}\n"
            f"return {', '.join(names)} : {', '.join(types)} }} }}"
        )
        backend = xla_bridge.get_backend("cpu")
        devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
        program = backend.compile_and_load(text, devices, xla_client.CompileOptions())
        return tuple(np.asarray(x) for x in program.execute([jax.device_put(x) for x in inputs]))

    return run


def plain_op(name, inputs, *results, attributes=""):
    """StableHLO's op of one name, without a region."""
    operands = ", ".join(f"%x{i}" for i in range(len(inputs)))
    taken = ", ".join(tensor_type(np.shape(x), np.asarray(x).dtype) for x in inputs)
    given = ", ".join(tensor_type(*result) for result in results)
    count = "" if len(results) == 1 else f":{len(results)}"
    return stablehlo(f'%r{count} = "stablehlo.{name}"({operands}) {{{attributes}}} : ({taken}) -> ({given})', *results)


class Family:
    def __init__(self, name):
        self.name, self.metadata, self.tensors = name, {}, {}

    def add(self, op, function, inputs, attributes="", regions=()):
        """A case: `function`, which is of jax or of stablehlo(), gives an array or a tuple of them."""
        inputs = [np.asarray(x) for x in inputs]
        results = function(*[jnp.asarray(x) for x in inputs])
        results = [np.asarray(x) for x in (results if isinstance(results, (tuple, list)) else [results])]
        number = str(len(self.metadata))
        lines = [f'  %{i} = parameter "x{i}" : {shape(x)}' for i, x in enumerate(inputs)]
        operands = ", ".join(f"%{i}" for i in range(len(inputs)))
        node, types = f"%{len(inputs)}", ", ".join(map(shape, results))
        types = types if len(results) == 1 else f"({types})"
        lines.append(f"  {node} = {op}({operands}){' {' + attributes + '}' if attributes else ''} : {types}")
        lines += regions
        for i in range(len(results)):
            lines.append(f'  output "y{i or ""}" = {node}{"" if len(results) == 1 else f".{i}"}')
        self.metadata[number] = f'graph "{op}" {{\n' + "\n".join(lines) + "\n}\n"
        for kind, tensors in (("in", inputs), ("out", results)):
            for i, x in enumerate(tensors):
                self.tensors[f"{number}/{kind}{i}"] = x

    def write(self):
        header, data = {"__metadata__": self.metadata}, b""
        # Wide elements first, so that all are aligned.
        for name, tensor in sorted(self.tensors.items(), key=lambda item: -item[1].dtype.itemsize):
            content, dtype, extents = stored(tensor)
            header[name] = {"dtype": dtype, "shape": extents, "data_offsets": [len(data), len(data) + len(content)]}
            data += content
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{self.name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
        print(self.name, len(self.metadata), "cases")


def stored(tensor):
    """Bytes, dtype and extents as the file has them; elements of less than a byte lie low bits first."""
    dtype = NAMES[tensor.dtype.name][1]
    content = np.ascontiguousarray(tensor).tobytes()
    if dtype is not None:
        return content, dtype, list(tensor.shape)
    bits = BITS.get(tensor.dtype.name, 8)
    if bits < 8:
        each = 8 // bits
        elements = np.frombuffer(content, np.uint8) & ((1 << bits) - 1)
        elements = np.pad(elements, (0, -len(elements) % each)).reshape(-1, each)
        content = (elements << (bits * np.arange(each, dtype=np.uint8))).sum(axis=1).astype(np.uint8).tobytes()
    return content, "U8", [len(content)]
