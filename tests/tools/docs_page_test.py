"""The page at /docs does what its readers need: run in node over a small stand-in for a browser, where node is here.

    python3 tests/tools/docs_page_test.py
"""
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKS = ROOT / "tests/tools/docs_page_check.js"
PAGE = ROOT / "src/server/page"


class DocsPage(unittest.TestCase):
    @unittest.skipUnless(shutil.which("node"), "node is not here")
    def test_its_script(self):
        run = subprocess.run(["node", CHECKS], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        wanted = re.findall(r'^  async "([^"]+)"', CHECKS.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertGreater(len(wanted), 5)
        for name in wanted:
            with self.subTest(name):
                self.assertIn(f"passed: {name}\n", run.stdout, run.stdout)

    def test_rows_show_that_they_open(self):
        style = (PAGE / "docs_page.css").read_text(encoding="utf-8")
        self.assertRegex(style, r"summary::before \{[^}]*content: \"\"[^}]*rotate\(-45deg\)")
        self.assertRegex(style, r"details\[open\] > summary::before \{[^}]*rotate\(45deg\)")


if __name__ == "__main__":
    unittest.main()
