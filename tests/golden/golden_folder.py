"""A recorded golden is a folder in one file: NAME.safetensors instead of NAME/.

    python golden_folder.py pack FOLDER…             writes FOLDER.safetensors and removes the folder
    python golden_folder.py unpack FILE FOLDER       writes the folder again, byte for byte

The metadata has the texts (configs, seeds, tokenizers, cases as JSON) by their paths in the folder. A tensor of a safetensors file is
named FILE/TENSOR, and where that file has metadata, these stand as JSON at its path. Any other file is a tensor of bytes, named by its
path. tests/golden/golden_folder.h reads the same. Only the standard library is needed.
"""
import contextlib
import json
import pathlib
import shutil
import struct
import sys
import tempfile

# In the order of the reference implementation's files: the last is written first.
TYPES = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4, "U32": 4, "F32": 4,
         "F64": 8, "I64": 8, "U64": 8}
IN_FILE = ".safetensors/"


def read_safetensors(path):
    """The metadata, and by name of each tensor its type, shape and bytes."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    metadata = header.pop("__metadata__", {})
    data = content[8 + length:]
    return metadata, {name: (entry["dtype"], entry["shape"], data[entry["data_offsets"][0]:entry["data_offsets"][1]])
                      for name, entry in header.items()}


def write_safetensors(path, metadata, tensors):
    """Tensors by descending type, then by name, as the reference implementation has them."""
    order = list(TYPES)
    header, begin = {"__metadata__": dict(sorted(metadata.items()))} if metadata else {}, 0
    names = sorted(tensors, key=lambda name: (-order.index(tensors[name][0]), name))
    for name in names:
        dtype, shape, data = tensors[name]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, begin + len(data)]}
        begin += len(data)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(tensors[name][2] for name in names))


def as_text(content):
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def golden_file(folder):
    return folder.parent / (folder.name + ".safetensors")


def pack(folder, file=None):
    """Writes `file` (FOLDER.safetensors), checks that it gives the folder again, and removes the folder."""
    file = file or golden_file(folder)
    texts, tensors = {}, {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".safetensors":
            metadata, held = read_safetensors(path)
            if metadata:
                texts[name] = json.dumps(metadata)
            tensors.update({f"{name}/{tensor}": entry for tensor, entry in held.items()})
            continue
        content = path.read_bytes()
        if (text := as_text(content)) is not None:
            texts[name] = text
        else:
            tensors[name] = ("U8", [len(content)], content)
    write_safetensors(file, texts, tensors)
    with tempfile.TemporaryDirectory() as again:
        unpack(file, pathlib.Path(again))
        require_equal(folder, pathlib.Path(again))
    shutil.rmtree(folder)


def pack_folders(parent):
    """Packs each folder in `parent`: the last step of a script that records goldens as folders."""
    for folder in sorted(path for path in parent.iterdir() if path.is_dir()):
        pack(folder)


def require_equal(one, other):
    files = {path.relative_to(one) for path in one.rglob("*") if path.is_file()}
    assert files == {path.relative_to(other) for path in other.rglob("*") if path.is_file()}
    for file in sorted(files):
        equal = (one / file).read_bytes() == (other / file).read_bytes()
        assert equal or file.suffix == ".safetensors" and read_safetensors(one / file) == read_safetensors(other / file), file


def unpack(file, folder):
    """Writes the folder that was packed into `file`."""
    texts, tensors = read_safetensors(file)
    files = {name: content.encode("utf-8") for name, content in texts.items() if not name.endswith(".safetensors")}
    of_files = {}
    for name, (dtype, shape, data) in tensors.items():
        if IN_FILE in name:
            end = name.index(IN_FILE) + len(IN_FILE)
            of_files.setdefault(name[:end - 1], {})[name[end:]] = (dtype, shape, data)
        else:
            files[name] = data
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for name, held in of_files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_safetensors(folder / name, json.loads(texts.get(name, "{}")), held)


@contextlib.contextmanager
def unpacked(file):
    """The folder that was packed into `file`, by its name in a temporary one, for scripts that read it."""
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent) / file.name.removesuffix(".safetensors")
        unpack(file, folder)
        yield folder


def main():
    if sys.argv[1:2] == ["pack"] and len(sys.argv) > 2:
        for folder in map(pathlib.Path, sys.argv[2:]):
            pack(folder)
    elif sys.argv[1:2] == ["unpack"] and len(sys.argv) == 4:
        unpack(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
