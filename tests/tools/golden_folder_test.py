"""tests/golden/golden_folder.py: a golden folder in one file, and back.

    python3 tests/tools/golden_folder_test.py
"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
GOLDENS = pathlib.Path(__file__).resolve().parents[1] / "golden"
sys.path.insert(0, str(GOLDENS))
import golden_folder  # noqa: E402

KINDS = ("answerers", "architectures", "classifiers", "dividers", "extractors", "fillers", "gliner", "kinds", "modules", "real_shapes",
         "recognizers", "rerankers")


class GoldenFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def test_gives_each_file_again_byte_for_byte(self):
        folder = self.root / "one.two"
        (folder / "1_Dense").mkdir(parents=True)
        contents = {"vocab.txt": "ä\r\n\0\n".encode(), "1_Dense/config.json": b"{}\n", "other.bin": b"\xff\0\x80"}
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        numbers = {"b": ("F32", [2], b"12345678"), "a": ("I64", [1, 1], b"abcdefgh"), "c.safetensors/d": ("U8", [3], b"xyz")}
        golden_folder.write_safetensors(folder / "1_Dense" / "case_a.safetensors", {"format": "pt"}, numbers)
        contents["1_Dense/case_a.safetensors"] = (folder / "1_Dense" / "case_a.safetensors").read_bytes()
        golden_folder.pack(folder)
        self.assertEqual([path.name for path in self.root.iterdir()], ["one.two.safetensors"])
        with golden_folder.unpacked(self.root / "one.two.safetensors") as again:
            self.assertEqual(again.name, "one.two")
            found = {path.relative_to(again).as_posix(): path.read_bytes() for path in again.rglob("*") if path.is_file()}
        self.assertEqual(found, contents)

    def test_recorded_goldens_are_packed_as_it_packs_them(self):
        for kind in KINDS:
            goldens = sorted((GOLDENS / kind).glob("*.safetensors"))
            self.assertTrue(goldens, kind)
            self.assertEqual([path.name for path in (GOLDENS / kind).iterdir() if path.is_dir()], [], kind)
            for golden in goldens:
                folder = self.root / kind / golden.stem
                golden_folder.unpack(golden, folder)
                golden_folder.pack(folder)
                self.assertTrue(golden_folder.golden_file(folder).read_bytes() == golden.read_bytes(), golden)


if __name__ == "__main__":
    unittest.main()
