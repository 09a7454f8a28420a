"""tools/small_copy on a small repository.

    python3 tests/tools/small_copy_test.py
"""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "small_copy"
KEPT = ["src/a.cpp", "tests/golden/README.md", "tests/golden/kinds.h", "tests/golden/onnx/dense.onnx", "tests/golden/ops/unary.safetensors",
        "tests/golden/tokenizers/golden_cases.h", "tests/unit/a_test.cpp", "tools/small_copy"]
LEFT_OUT = ["models/minilm/model.safetensors", "tests/fuzz/corpus/json/1", "tests/golden/kinds/m3.safetensors", "tests/golden/tokenizers/corpus.jsonl"]


class SmallCopy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root, self.copy = pathlib.Path(scratch.name) / "repository", pathlib.Path(scratch.name) / "copy"
        for name in [*KEPT, *LEFT_OUT]:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        shutil.copy(SCRIPT, self.root / "tools" / "small_copy")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "all")

    def git(self, *arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        return subprocess.run(["git", "-C", self.root, *identity, *arguments], check=True, capture_output=True, text=True).stdout

    def run_script(self, *arguments):
        return subprocess.run([self.root / "tools" / "small_copy", *arguments], capture_output=True, text=True)

    def test_has_all_but_models_and_goldens(self):
        done = self.run_script(self.copy)
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.copy}\n"), done.stderr)
        files = {path.relative_to(self.copy).as_posix() for path in self.copy.rglob("*") if path.is_file()}
        self.assertEqual(sorted(file for file in files if not file.startswith(".git/")), KEPT)
        for what in ("models: 1 files", "tests/fuzz/corpus: 1 files", "tests/golden/kinds: 1 files", "tests/golden/tokenizers: 1 files"):
            self.assertIn(f"  {what}\n", done.stderr)
        status = subprocess.run(["git", "-C", self.copy, "status", "--porcelain"], check=True, capture_output=True, text=True)
        self.assertEqual(status.stdout, "")
        # What was left out is not in its history either.
        objects = subprocess.run(["git", "-C", self.copy, "cat-file", "--batch-all-objects", "--batch-check"], check=True,
                                 capture_output=True, text=True).stdout
        self.assertNotIn(self.git("rev-parse", f"HEAD:{LEFT_OUT[0]}").strip(), objects)

    def test_says_that_changes_are_not_in_it(self):
        (self.root / "src/a.cpp").write_text("changed")
        done = self.run_script(self.copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("what is not committed in", done.stderr)
        self.assertEqual((self.copy / "src/a.cpp").read_text(), "src/a.cpp")

    def test_refuses_a_folder_that_is_there(self):
        self.copy.mkdir()
        done = self.run_script(self.copy)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("is there already: name a folder that is not", done.stderr)
        self.assertEqual(self.run_script().returncode, 2)


if __name__ == "__main__":
    unittest.main()
