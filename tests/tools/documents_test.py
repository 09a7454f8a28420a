"""README.md and docs/ say what is so: paths exist, quoted messages and excerpts are in the code, commands are found.

    python3 tests/tools/documents_test.py
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_tool(name):
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


TOOL = load_tool("check_documents")


def blocks(text):
    return TOOL.blocks_of("a.md", text)


def commands(text):
    return [command.text for block in blocks(text) for command in TOOL.commands_of(block)]


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".c", ".def", ".cmake") or (path.is_file() and path.parent.name == "tools" and not path.suffix):
                yield path.read_text(encoding="utf-8", errors="replace")


def squeezed(text):
    return re.sub(r"\s+", " ", text)


class Commands(unittest.TestCase):
    def test_indented_blocks_that_begin_with_a_program(self):
        self.assertEqual(commands("Text:\n\n    alate embed X \"a\"\n    curl http://x\n\nmore\n"),
                         ["alate embed X \"a\"", "curl http://x"])
        self.assertEqual(commands("## Heading\n    tools/build release\n"), ["tools/build release"])
        self.assertEqual(commands("Text:\n\n    A=1 B=2 alate version\n"), ["A=1 B=2 alate version"])

    def test_no_output_code_or_continued_paragraph(self):
        self.assertEqual(commands("Text:\n\n    client.embed(x)\n    alate version\n"), [])
        self.assertEqual(commands("A list\n    alate version\n"), [])
        self.assertEqual(commands("```python\nalate version\n```\n"), [])

    def test_sessions_have_commands_only_after_the_prompt(self):
        self.assertEqual(commands("\n    $ alate version\n    alate 0.1.0\n\n    $ alate ps\n"), ["alate version", "alate ps"])

    def test_continuations_are_joined_and_comments_dropped(self):
        self.assertEqual(commands("\n    curl x \\\n        -d '{\"a\": 1}'    # as JSON\n"), ["curl x -d '{\"a\": 1}'"])
        self.assertEqual(commands("```sh\n# first\nunknown-program\n```\n"), ["unknown-program"])

    def test_exceptions_are_all_used_and_have_reasons(self):
        texts = [command.text for path in TOOL.documents()
                 for block in TOOL.blocks_of(path.name, path.read_text(encoding="utf-8"))
                 for command in TOOL.commands_of(block)]
        self.assertGreater(len(texts), 40)
        for pattern, reason in TOOL.EXCEPTIONS:
            self.assertTrue(any(re.search(pattern, text) for text in texts), pattern)
            self.assertTrue(reason)
        run = [text for text in texts if TOOL.Command("", 0, text).reason() is None]
        self.assertGreaterEqual(len(run), 18)

    def test_programs_and_commands_of_the_readme_are_found(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertIn("#include \"alate/embedding.h\"", [line for block in blocks(text) if block.language == "cpp"
                                                         for line in block.lines])
        self.assertTrue(any(text.startswith("curl ") for text in commands(text)))


class Contents(unittest.TestCase):
    def test_paths_exist(self):
        path = re.compile(r"`((?:docs|src|tools|deploy|tests|bench|examples|include|cmake|apps|models)/[\w./*+-]+)`")
        for document in TOOL.documents():
            for named in path.findall(document.read_text(encoding="utf-8")):
                if re.search(r"[A-Z]{2,}", named.replace("README", "").replace("CMakeLists", "")):
                    continue  # NAME, FAMILY: any of several
                with self.subTest(document=document.name, path=named):
                    self.assertTrue(list(ROOT.glob(named.rstrip("/"))) or list((ROOT / "src").glob(named)), named)

    def test_links_lead_somewhere(self):
        for document in TOOL.documents():
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8")):
                if "://" not in target:
                    self.assertTrue((document.parent / target).exists(), f"{document.name}: {target}")

    def test_excerpts_are_in_the_code(self):
        code = squeezed("\n".join(sources("src", "include", "tests", "examples")))
        found = 0
        for document in TOOL.documents():
            for block in TOOL.blocks_of(document.name, document.read_text(encoding="utf-8")):
                if block.language in ("c", "cpp") and not any("int main(" in line for line in block.lines):
                    found += 1
                    excerpt = squeezed("\n".join(block.lines)).strip()
                    self.assertTrue(excerpt in code, f"{document.name}:{block.line} is not in the sources")
        self.assertGreater(found, 3)

    def test_python_programs_are_python(self):
        found = 0
        for document in TOOL.documents():
            for block in TOOL.blocks_of(document.name, document.read_text(encoding="utf-8")):
                if block.language == "python":
                    found += 1
                    compile("\n".join(block.lines), f"{document.name}:{block.line}", "exec")
        self.assertGreater(found, 3)

    def test_messages_of_troubleshooting_are_in_the_code(self):
        # Adjacent literals are one, and the parts of a message that are printed one after the other stay apart.
        code = re.sub(r'(?<!\\)"\s*"', "", "\n".join(sources("src", "apps", "tools", "cmake"))).replace('\\"', '"')
        text = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
        messages = re.findall(r"^### `(.+)`$", text, re.MULTILINE)
        self.assertGreater(len(messages), 15)
        for message in messages:
            for part in message.split("…"):
                part = part.strip(" :;")
                if part:
                    with self.subTest(message=message):
                        self.assertGreater(len(part), 5, "too short to be told from others")
                        self.assertTrue(part in code, f"no source has: {part}")


if __name__ == "__main__":
    unittest.main()
