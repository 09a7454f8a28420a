"""What is shipped is made from known bytes.

    python3 tests/tools/deploy_test.py
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGEST = re.compile(r"^[a-z0-9./:-]+@sha256:[0-9a-f]{64}$")


class Images(unittest.TestCase):
    def test_every_base_is_named_by_digest(self):
        for file in sorted((ROOT / "deploy").glob("Dockerfile*")):
            text = file.read_text(encoding="utf-8")
            arguments = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
            stages = set(re.findall(r"^FROM \S+ AS (\w+)$", text, re.MULTILINE))
            bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
            self.assertGreater(len(bases), 1, file)
            for base in bases:
                image = re.sub(r"\$\{(\w+)\}", lambda match: arguments[match[1]], base)
                if image not in stages:
                    self.assertRegex(image, DIGEST, file.name)


class PythonPackages(unittest.TestCase):
    def test_test_clients_are_named_by_version_and_hash(self):
        for file in sorted(ROOT.glob("tests/**/requirements*.txt")):
            lines = file.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
            packages = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
            self.assertTrue(packages, file)
            for package in packages:
                self.assertRegex(package, r"^[\w.-]+(\[[\w,-]+\])?==\S+", file.name)
                self.assertIn("--hash=sha256:", package, file.name)


if __name__ == "__main__":
    unittest.main()
