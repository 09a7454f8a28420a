"""Records small files of the reference writers of safetensors and NumPy in tests/golden/formats.

Needs numpy, torch and safetensors 0.8 or newer:  python tests/golden/record_formats.py
The values follow the position k of an element, so that tests can work them out: k % 2 for bools, k for unsigned
integers, k - 2 for signed ones, (k - 2) / 2 for floats, (k - 2) / 2 + k i for complex numbers.
"""

import io
import json
import pathlib

import gguf
import numpy
import safetensors.torch
import torch

FOLDER = pathlib.Path(__file__).parent / "formats"


def torch_values(dtype, shape):
    k = torch.arange(int(numpy.prod(shape)), dtype=torch.float64).reshape(shape)
    if dtype == torch.bool:
        return (k % 2).bool()
    if dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        return k.to(torch.int64).to(dtype)
    if dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        return (k - 2).to(dtype)
    if dtype.is_complex:
        return torch.complex((k - 2) / 2, k).to(dtype)
    return ((k - 2) / 2).to(dtype)


def numpy_values(dtype, shape):
    k = numpy.arange(int(numpy.prod(shape))).reshape(shape)
    kind = numpy.dtype(dtype).kind
    if kind == "b":
        return k % 2 == 1
    if kind == "u":
        return k.astype(dtype)
    if kind == "i":
        return (k - 2).astype(dtype)
    if kind == "c":
        return ((k - 2) / 2 + 1j * k).astype(dtype)
    return ((k - 2) / 2).astype(dtype)


def record_pytorch():
    """Files of torch.save, and what torch.load gives of each, as safetensors."""
    folder = FOLDER / "pytorch"
    folder.mkdir(exist_ok=True)
    types = ["bool", "uint8", "int8", "int16", "float16", "bfloat16", "int32", "float32", "float64", "int64", "complex64"]
    base = torch_values(torch.float32, (4, 6))
    linear = torch.nn.Linear(2, 3)
    with torch.no_grad():
        linear.weight.copy_(torch_values(torch.float32, (3, 2)))
        linear.bias.copy_(torch_values(torch.float32, (3,)))
    plain = {name: torch_values(getattr(torch, name), (2, 3)) for name in types}
    views = {"whole": base, "transposed": base.t(), "part": base[1:3, 2:5], "column": base[:, 1], "last": base[-1],
             "every": base[::2, ::3], "turned": torch_values(torch.int64, (2, 3, 4)).permute(2, 0, 1),
             "scalar": torch.tensor(1.5), "none": torch.zeros(2, 0, 3), "one": base[3:, 5:]}
    files = {
        "types": plain,
        "views": views,
        "module": linear.state_dict(),
        "parameters": dict(linear.named_parameters()),
        "checkpoint": {"epoch": 3, "lr": 0.5, "name": "run", "state_dict": linear.state_dict(), "losses": [1.0, None]},
    }
    for name, content in files.items():
        for suffix, is_zip in (("", True), (".legacy", False)):
            torch.save(content, folder / f"{name}{suffix}.bin", _use_new_zipfile_serialization=is_zip)
        state = content.get("state_dict", content)
        safetensors.torch.save_file({key: value.detach().clone().contiguous() for key, value in state.items()},
                                    folder / f"{name}.safetensors")
    torch.save(files["views"], folder / "protocol_4.bin", pickle_protocol=4)
    # A module of sentence-transformers as older versions wrote it.
    dense = safetensors.torch.load_file(FOLDER.parent / "models/st_dense_tanh/2_Dense/model.safetensors")
    torch.save(dense, folder / "dense.bin")


def record_safetensors():
    save = safetensors.torch.save_file
    types = ["bool", "uint8", "int8", "float8_e5m2", "float8_e4m3fn", "int16", "uint16", "float16", "bfloat16", "int32",
             "uint32", "float32", "complex64", "float64", "int64", "uint64"]
    save({name: torch_values(getattr(torch, name), (2, 3)) for name in types}, FOLDER / "types.safetensors")
    shapes = {"scalar": (), "none": (0,), "none.inside": (2, 0, 3), "one": (1,), "cube": (2, 2, 2)}
    save({name: torch_values(torch.float32, shape) for name, shape in shapes.items()}, FOLDER / "shapes.safetensors",
         metadata={"format": "pt"})
    save({}, FOLDER / "empty.safetensors")
    save({}, FOLDER / "metadata.safetensors", metadata={"quote\"d": "tab\tline\nbell\x07 back\\slash /é日"})
    save({"é日\"x": torch_values(torch.int32, (1,)), "a b/c": torch_values(torch.int32, (2,))},
         FOLDER / "names.safetensors")

    shards = FOLDER / "sharded"
    shards.mkdir(exist_ok=True)
    first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    save({"a": torch_values(torch.float32, (3,)), "b": torch_values(torch.int64, (2,))}, shards / first)
    save({"c": torch_values(torch.float32, (2, 2))}, shards / second)
    index = {"metadata": {"total_size": 44}, "weight_map": {"a": first, "b": first, "c": second}}
    (shards / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def record_npy():
    for dtype in ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]:
        numpy.save(FOLDER / f"{numpy.dtype(dtype).name}.npy", numpy_values(dtype, (2, 3)))
    numpy.save(FOLDER / "scalar.npy", numpy_values("f4", ()))
    numpy.save(FOLDER / "none.npy", numpy_values("f4", (0, 3)))
    numpy.save(FOLDER / "vector.npy", numpy_values("i4", (12,)))
    numpy.save(FOLDER / "fortran.npy", numpy.asfortranarray(numpy_values("i2", (2, 3, 4))))
    numpy.save(FOLDER / "big_endian.npy", numpy_values(">f4", (2,)))
    numpy.save(FOLDER / "strings.npy", numpy.array(["ab", "c"]))
    for version in (2, 3):
        out = io.BytesIO()
        numpy.lib.format.write_array(out, numpy_values("f4", (2, 3)), version=(version, 0))
        (FOLDER / f"version_{version}.npy").write_bytes(out.getvalue())


def record_npz():
    arrays = {"input_ids": numpy_values("i8", (2, 3)), "attention_mask": numpy_values("u1", (2, 3)),
              "zeros": numpy.zeros((64, 64), "f4")}
    numpy.savez(FOLDER / "stored.npz", **{name: arrays[name] for name in ("input_ids", "attention_mask")})
    numpy.savez_compressed(FOLDER / "deflated.npz", **arrays)


def record_gguf():
    writer = gguf.GGUFWriter(FOLDER / "reference.gguf", "llama")
    writer.add_context_length(77)
    writer.add_token_list(["<unk>", "a", "b"])
    writer.add_token_scores([0.0, -1.0, -2.5])
    writer.add_tensor("plain", numpy.arange(6, dtype="f4").reshape(2, 3))
    blocks = gguf.quants.quantize(numpy.linspace(-1, 1, 128, dtype="f4").reshape(2, 64), gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("blocks", blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    record_safetensors()
    record_npy()
    record_npz()
    record_gguf()
    record_pytorch()
