"""The checks of tools/ find what they are there to find.

    python3 tests/tools/checks_test.py
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


def load_tool(name):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class InScratchFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def run_tool(self, name, *arguments):
        """(exit status, standard output) of a tool."""
        result = subprocess.run([TOOLS / name, *arguments], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout


@unittest.skipUnless(shutil.which("clang++-16"), "needs clang++-16")
class FilesAlone(InScratchFolder):
    """A build with one group of two files, of which the first includes what the second uses."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()  # one for all: the standard library's modules take seconds
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name)

    def setUp(self):
        pass

    def check(self, second, header="#pragma once\n#include <string>\nstruct Named { std::string name; };\n", files=()):
        self.write("src/named.h", header)
        self.write("src/one.cpp", '#include <vector>\n#include "named.h"\nstd::vector<Named> all;\n')
        self.write("src/two.cpp", second)
        self.write("build/unity/group_0.cpp", '#include "src/one.cpp"\n#include "src/two.cpp"\n')
        self.write("build/CMakeCache.txt", f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n")
        command = {"file": str(self.root / "build/unity/group_0.cpp"), "directory": str(self.root),
                   "command": f"g++ -I{self.root}/src -std=c++20 -Wall -Werror -o x -c group_0.cpp"}
        self.write("build/compile_commands.json", json.dumps([command]))
        environment = os.environ | {"ALATE_HOME": str(self.root / "home")}
        result = subprocess.run([TOOLS / "check_alone", self.root / "build", *files], capture_output=True, text=True, check=False,
                                env=environment)
        return result.returncode, result.stdout

    def test_finds_an_include_that_a_file_forgot(self):
        status, output = self.check("std::vector<int> numbers;\n")
        self.assertEqual(status, 1, output)
        self.assertIn("two.cpp:1", output)
        status, output = self.check('#include "named.h"\nstd::string name_of(const Named& named) { return named.name; }\n')
        self.assertEqual(status, 0, output)
        self.assertIn("2 files, 1 of them checked now, 0 wrong", output)

    def test_checks_only_the_files_that_it_is_given(self):
        status, output = self.check("std::vector<int> numbers;\n", files=[self.root / "src/one.cpp"])
        self.assertEqual(status, 0, output)
        self.assertIn("1 files", output)
        self.assertEqual(self.check("std::vector<int> numbers;\n", files=[self.root / "src/two.cpp"])[0], 1)

    def test_finds_a_name_that_shadows_another(self):
        status, output = self.check("int twice(int n) { for (int n = 0; n < 2;) return n; return n; }\n")
        self.assertEqual(status, 1, output)
        self.assertIn("shadow", output)

    def test_finds_an_include_that_a_header_forgot(self):
        status, output = self.check("int number = 1;\n", header="#pragma once\nstruct Named { std::string name; };\n")
        self.assertEqual(status, 1, output)
        self.assertIn("named.h:2", output)


class Layers(InScratchFolder):
    def assert_violation(self, path, text, message):
        self.write(path, text)
        status, output = self.run_tool("check_layers", self.root)
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def test_accepts_includes_of_folders_above(self):
        self.write("src/base/threads.h", "#pragma once\n#include <vector>\n")
        self.write("src/graph/graph.h", '#pragma once\n#include "base/threads.h"\n#include "alate/tensor.h"\n')
        self.write("include/alate/tensor.h", '#pragma once\n#include "alate/error.h"\n')
        self.write("include/alate/error.h", "#pragma once\n#include <string>\n")
        self.assertEqual(self.run_tool("check_layers", self.root), (0, ""))

    def test_refuses_an_include_of_a_folder_below(self):
        self.assert_violation("src/base/a.h", '#include "graph/graph.h"\n', "base may not include graph/graph.h")

    def test_refuses_a_public_header_of_a_folder_below(self):
        self.assert_violation("src/graph/a.cpp", '#include "alate/embedding.h"\n', "graph may not include")

    def test_sees_an_include_relative_to_its_own_folder(self):
        self.write("src/graph/graph.h", "")
        self.assert_violation("src/base/a.h", '#include "../graph/graph.h"\n', "base may not include")

    def test_refuses_third_parties_in_public_headers(self):
        self.assert_violation("include/alate/model.h", "#include <utf8proc.h>\n", "only the standard library")

    def test_refuses_boost_in_headers(self):
        self.assert_violation("src/graph/a.h", "#include <boost/json.hpp>\n", "only .cpp files may include Boost")

    def test_refuses_highway_outside_the_kernels(self):
        self.assert_violation("src/backends/cpu/planner/plan.cpp", "#include <hwy/highway.h>\n", "may include Highway")

    def test_refuses_conditionals_outside_base(self):
        self.assert_violation("src/graph/a.cpp", "#if defined(__linux__)\n#endif\n", "conditional")

    def test_accepts_include_guards_and_instruction_set_files(self):
        self.write("src/graph/ops.def", "#ifndef ALATE_OP\n#define ALATE_OP(...)\n#endif\n")
        self.write("src/backends/cpu/kernels/gemm/gemm_avx2.cpp", "#ifdef __AVX2__\n#endif\n")
        self.assertEqual(self.run_tool("check_layers", self.root), (0, ""))

    def test_refuses_an_inner_folder_that_includes_one_further_down(self):
        self.assert_violation("src/backends/cpu/passes/a.cpp", '#include "backends/cpu/planner/planner.h"\n',
                              "passes may not include backends/cpu/planner/planner.h")

    def test_sees_an_inner_folder_in_an_include_relative_to_its_own(self):
        self.write("src/server/api/family_routes.h", "")
        self.assert_violation("src/server/models/a.cpp", '#include "../api/family_routes.h"\n',
                              "models may not include ../api/family_routes.h, which belongs to api")

    def test_files_beside_inner_folders_are_the_top(self):
        self.write("src/server/application.cpp", '#include "server/api/family_routes.h"\n#include "server/router.h"\n')
        self.assertEqual(self.run_tool("check_layers", self.root), (0, ""))
        self.assert_violation("src/server/api/routes.cpp", '#include "server/router.h"\n',
                              "api may not include server/router.h, which belongs to the files beside the folders of server")

    def test_refuses_an_inner_folder_without_a_place_in_the_order(self):
        self.assert_violation("src/server/helpers/a.cpp", "", "helpers has no place in the order of src/server")

    def test_every_room_of_an_ordered_folder_is_there(self):
        tool = load_tool("check_layers")
        for folder, order in tool.INNER.items():
            for room in order:
                self.assertTrue((TOOLS.parent / "src" / folder / room).is_dir(), f"{folder}/{room}")

    def test_refuses_mutexes_that_no_build_checks(self):
        for kind in ("mutex", "recursive_mutex", "shared_mutex", "timed_mutex"):
            for line in (f"  mutable std::{kind} mutex_;", f"static std::{kind} mutex;", f"std::array<std::{kind}, 4> all;",
                         f"void wait(std::{kind}& mutex);", f"using std::{kind};"):
                self.assert_violation("src/graph/a.h", f"#pragma once\n{line}\n", "a mutex that no build checks")
        self.assert_violation("apps/alate/a.cpp", "std::mutex mutex;\n", "a mutex that no build checks")
        (self.root / "apps/alate/a.cpp").unlink()
        self.write("src/graph/a.h", "#pragma once\n// A std::mutex.\nvoid wait(std::unique_lock<std::mutex>& lock);\n")
        self.write("src/base/threads/mutex.h", "#pragma once\nclass CheckedMutex : public std::mutex {};\n")
        self.write("src/base/threads/shared_mutex.h", "#pragma once\nstd::shared_mutex mutex_;\n")
        self.assertEqual(self.run_tool("check_layers", self.root), (0, ""))

    def test_refuses_work_of_the_server_that_goes_on_for_nobody(self):
        for line in ("prepare(texts, base::Cancellation::never());", "const auto never = Cancellation::never();",
                     "auto ids = hosted.pipelines.tokenizer().encode(text, options);", "tokenizer->encode_batch(texts);"):
            self.assert_violation("src/server/models/a.cpp", f"{line}\n", "does not end when its client leaves")
        self.write("src/server/models/a.cpp", "// Not Cancellation::never().\nprepare(texts, exchange.cancellation());\n"
                   "tokenizers::encode(hosted.pipelines.tokenizer(), text, options, exchange.cancellation());\n")
        self.write("src/graph/a.cpp", "interpret(graph, base::Cancellation::never());\n")
        self.assertEqual(self.run_tool("check_layers", self.root), (0, ""))

    def test_refuses_files_of_no_layer_and_overlong_files(self):
        self.assert_violation("src/other/a.cpp", "", "belongs to no layer")
        self.assert_violation("src/base/long.cpp", "\n" * 801, "801 lines")


class Symbols(InScratchFolder):
    def compile(self, name, source):
        folder = self.root / "CMakeFiles/alate_backends.dir"
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["g++", "-std=c++20", "-O1", "-x", "c++", "-", "-c", "-o", folder / name], input=source, text=True, check=True)

    def test_refuses_a_shared_inline_function_in_an_instruction_set_object(self):
        self.compile("gemm_avx2.cpp.o", "__attribute__((noinline)) inline int twice(int a) { return a * 2; } int f(int a) { return twice(a); }")
        status, output = self.run_tool("check_symbols", self.root)
        self.assertEqual(status, 1, output)
        self.assertIn("twice(int)", output)

    def test_accepts_one_in_the_instruction_set_namespace_and_in_baseline_objects(self):
        inline = "__attribute__((noinline)) inline int twice(int a) { return a * 2; }"
        self.compile("gemm_avx2.cpp.o", f"namespace avx2 {{ {inline} }} int f(int a) {{ return avx2::twice(a); }}")
        self.compile("gemm.cpp.o", f"{inline} int g(int a) {{ return twice(a); }}")
        self.assertEqual(self.run_tool("check_symbols", self.root)[0], 0)


class Counts(InScratchFolder):
    def ctest(self, **statuses):
        programs = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in statuses.items())
        self.write("ctest.xml", f"<testsuite>{programs}</testsuite>")

    def gtest(self, program, *cases):
        rows = "".join(f'<testcase name="{name}" status="run">{"<failure/>" if failed else ""}</testcase>' for name, failed in cases)
        self.write(f"{program}.xml", f'<testsuites><testsuite name="Suite">{rows}</testsuite></testsuites>')

    def test_counts_cases_of_all_programs(self):
        self.ctest(unit_a="run", unit_b="fail")
        self.gtest("unit_a", ("One", False), ("Two", False))
        self.gtest("unit_b", ("One", False), ("Two", True))
        self.assertEqual(self.run_tool("count_tests", self.root)[1], "unit_b: Suite.Two\n3 1\n")

    def test_counts_what_programs_of_another_kind_say(self):
        said = {"conformance": ("fail", "FAILED add\n12 passed, 1 failed\n"), "sample": ("run", "a line\n7 passed, 0 failed\n")}
        programs = "".join(f'<testcase name="{name}" status="{status}"><system-out>{output}</system-out></testcase>' for name, (status, output) in said.items())
        self.write("ctest.xml", f"<testsuite>{programs}</testsuite>")
        self.assertEqual(self.run_tool("count_tests", self.root)[1], "conformance: see its output for what failed\n19 1\n")

    def test_believes_the_exit_status_before_the_words(self):
        self.write("ctest.xml", '<testsuite><testcase name="a" status="fail"><system-out>3 passed, 0 failed</system-out></testcase></testsuite>')
        self.assertTrue(self.run_tool("count_tests", self.root)[1].endswith("0 1\n"))

    def test_does_not_count_what_is_not_on_this_machine(self):
        self.write("ctest.xml", '<testsuite><testcase name="a" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>'
                   '<testcase name="b" status="notrun"><skipped message="Unable to find executable"/></testcase></testsuite>')
        self.assertTrue(self.run_tool("count_tests", self.root)[1].endswith("0 1\n"))

    def test_counts_a_crash_as_a_failure(self):
        self.ctest(unit_a="fail")
        self.assertTrue(self.run_tool("count_tests", self.root)[1].endswith("0 1\n"))

    def test_names_the_test_in_which_a_program_ended(self):
        said = "[ RUN      ] Suite.One\n[       OK ] Suite.One (1 ms)\n[ RUN      ] Suite.Two\nSegmentation fault\n"
        self.write("ctest.xml", f'<testsuite><testcase name="a" status="fail"><system-out>{said}</system-out></testcase></testsuite>')
        self.assertEqual(self.run_tool("count_tests", self.root)[1], "a: crashed or ran out of time in Suite.Two\n0 1\n")

    def test_names_programs_over_their_budget_and_slow_tests(self):
        tool = load_tool("count_tests")
        programs = "".join(f'<testcase name="{name}" status="run" time="{seconds}"/>' for name, seconds in
                           (("unit_a", 30), ("unit_b", 2), ("other", 1)))
        self.write("ctest.xml", f"<testsuite>{programs}</testsuite>")
        cases = "".join(f'<testcase name="T{i}" status="run" time="{i}"/>' for i in range(12))
        self.write("unit_a.xml", f'<testsuites><testsuite name="Suite">{cases}</testsuite></testsuites>')
        lines = list(tool.times(self.root, {"unit_a": 50, "unit_b": 5}, 0.5))
        self.assertEqual(lines[0], "seconds of programs, and their budgets here: unit_a 30 of 25 s, unit_b 2 of 2 s, other 1 s")
        self.assertEqual(lines[1:3], ["warning: unit_a took 30.0 s, more than its budget of 25.0 s here",
                                      "warning: other has no budget in tests/budgets.json"])
        self.assertEqual([line.split()[-1] for line in lines[3:]], [f"Suite.T{i}" for i in range(11, 1, -1)])

    def test_counts_a_program_without_tests_as_a_failure(self):
        self.ctest(unit_a="run")
        self.gtest("unit_a")
        self.assertTrue(self.run_tool("count_tests", self.root)[1].endswith("0 1\n"))


class UnityGroups(InScratchFolder):
    def grouped(self, size, **texts):
        """Groups of the files NAME.cpp, as lists of names."""
        files = []
        for name, text in texts.items():
            self.write(f"{name}.cpp", text)
            files.append(str(self.root / f"{name}.cpp"))
        status, output = self.run_tool("unity_groups", str(size), str(self.root / "group"), *files)
        self.assertEqual(status, 0, output)
        groups = {}
        for line in output.splitlines():
            group, file = line.split("\t")
            groups.setdefault(int(group), []).append(pathlib.Path(file).stem)
        self.assertEqual(list(groups), list(range(len(groups))), output)
        return list(groups.values())

    def test_groups_have_at_most_the_size_given(self):
        self.assertEqual(self.grouped(2, a="int a();\n", b="int b();\n", c="int c();\n", d="int d();\n"),
                         [["a", "b"], ["c", "d"]])

    def test_a_file_that_would_be_alone_is_left_out(self):
        self.assertEqual(self.grouped(2, a="int a();\n", b="int b();\n", c="int c();\n"), [["a", "b"]])

    @staticmethod
    def own(text):
        return f"namespace {{\n{text}\n}}  // namespace\n"

    def test_tells_names_apart_that_files_have_for_themselves(self):
        for text, use in (("constexpr int kRows[] = {1};", "kRows[0]"), ("int rows(int x) {\n  return x;\n}", "rows(1)"),
                          ("struct Row {\n  int x = 1;\n};", "Row{}.x"), ("template <typename T>\nT rows() {\n  return T();\n}", "rows<int>()")):
            one, other = (f"#include <utility>\n{self.own(text)}int {name}() {{ return {use}; }}\n" for name in ("first", "second"))
            self.assertEqual(self.grouped(8, a=one, b="int b();\n", c=other), [["a", "b", "c"]], text)
            self.assert_compiles("group_0.cpp")

    def test_keeps_files_apart_that_use_the_word_for_something_else(self):
        member = self.own("int rows(int x) {\n  return x;\n}") + "struct Table { int rows = 0; };\nint f(Table t) { return rows(t.rows); }\n"
        self.assertEqual(self.grouped(8, a=member, b="int b();\n", c=member), [["a", "b"]])
        self.assertEqual(self.grouped(8, a="#define ROW 1\n", b="#define ROW 2\n"), [])
        self.assertEqual(self.grouped(8, a="#define ROW 1\n#undef ROW\n", b="#define ROW 2\n#undef ROW\n"), [["a", "b"]])

    def test_a_name_does_not_hide_one_that_another_file_has_from_a_header(self):
        self.write("rows.h", "#pragma once\nnamespace outer {\nint rows(int x);\n}\n")
        own = "namespace outer {\n" + self.own("int rows(const char* x) {\n  return *x;\n}") + 'int f() { return rows("a"); }\n}\n'
        user = '#include "rows.h"\nnamespace outer {\nint g() { return rows(1); }\n}\n'
        self.assertEqual(self.grouped(8, a=own, b=user), [["a", "b"]])
        self.assert_compiles("group_0.cpp")

    def test_groups_that_are_no_longer_there_are_removed(self):
        self.grouped(2, a="int a();\n", b="int b();\n", c="int c();\n", d="int d();\n")
        self.grouped(4, a="int a();\n", b="int b();\n", c="int c();\n", d="int d();\n")
        self.assertEqual([path.name for path in sorted(self.root.glob("group_*"))], ["group_0.cpp"])

    def test_an_alias_keeps_apart_only_what_means_something_else_by_it(self):
        for alias, other in [("using Row = int;", "using Row = long;"), ("using graph::Row;", "using tensor::Row;"),
                             ("namespace fs = std::filesystem;", "namespace fs = files;")]:
            one, another = self.own(alias), self.own(other)
            self.assertEqual(self.grouped(8, a=one, b=one), [["a", "b"]], alias)
            self.assertEqual(self.grouped(8, a=one, b=another), [], alias)

    def assert_compiles(self, name):
        result = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", str(self.root / name)], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, (self.root / name).read_text() + result.stderr)

    def test_a_file_alone_in_its_folder_joins_those_of_another(self):
        self.assertEqual(self.grouped(8, **{"one/a": "int a();\n", "one/b": "int b();\n", "other/c": "int c();\n"}),
                         [["a", "b", "c"]])

    def test_names_that_all_files_see_do_not_keep_them_apart(self):
        self.assertEqual(self.grouped(8, a="int rows(int x) {\n}\n", b="int rows(float x) {\n}\n"), [["a", "b"]])


class Hardening(InScratchFolder):
    """tools/check_program hardened, on a program built with the flags of release builds, and without one of them each."""

    FLAGS = ["-O2", "-fPIE", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
             "-D_GLIBCXX_ASSERTIONS", "-pie", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"]
    SOURCE = """
        #include <cstdio>
        #include <cstring>
        #include <vector>
        int main(int count, char** words) {
          std::vector<int> numbers(count);
          char word[64];
          strncpy(word, words[0], count * 10);
          return std::printf("%d %s", numbers[count - 1], word);
        }
        """

    def check(self, flags):
        self.write("program.cpp", self.SOURCE)
        program = self.root / "program"
        subprocess.run(["g++", *flags, self.root / "program.cpp", "-o", program], check=True)
        result = subprocess.run([TOOLS / "check_program", "hardened", program], capture_output=True, text=True, check=False)
        return result.returncode, result.stderr

    def test_accepts_a_hardened_program(self):
        self.assertEqual(self.check(self.FLAGS), (0, ""))

    def test_names_what_a_program_lacks(self):
        for flag, instead, message in [("-fstack-protector-strong", "-fno-stack-protector", "stack protection"),
                                       ("-D_GLIBCXX_ASSERTIONS", "-U_GLIBCXX_ASSERTIONS", "checked containers"),
                                       ("-D_FORTIFY_SOURCE=2", "-U_FORTIFY_SOURCE", "checked copies"),
                                       ("-Wl,-z,relro", "-Wl,-z,norelro", "read-only relocations"),
                                       ("-Wl,-z,now", "-Wl,-z,lazy", "binding at the start"),
                                       ("-Wl,-z,noexecstack", "-Wl,-z,execstack", "a stack that is no code"),
                                       ("-pie", "-no-pie", "a position-independent program")]:
            with self.subTest(flag):
                status, errors = self.check([instead if each == flag else each for each in self.FLAGS])
                self.assertEqual(status, 1, errors)
                self.assertIn(f"lacks {message}", errors)


class Pins(unittest.TestCase):
    """What is fetched from elsewhere is named by the sum of its bytes, everywhere."""
    ROOT = TOOLS.parent

    def test_base_images_of_containers_are_named_by_digest(self):
        for path in sorted((self.ROOT / "deploy").glob("Dockerfile*")):
            with self.subTest(path.name):
                stages, arguments = [], {}
                for line in path.read_text(encoding="utf-8").splitlines():
                    if match := re.match(r"ARG (\w+)(?:=(.*))?$", line):
                        arguments.setdefault(match[1], match[2])
                    elif match := re.match(r"FROM (\S+)(?: AS (\w+))?$", line):
                        image = match[1]
                        if argument := re.fullmatch(r"\$\{(\w+)\}", image):
                            image = arguments[argument[1]]  # None: the one who builds names it, and the digest is checked
                        self.assertTrue(image is None or image in stages or re.search(r"@sha256:[0-9a-f]{64}$", image), line)
                        stages.append(match[2])
                self.assertIn("build", stages)

    def test_a_build_refuses_a_base_image_without_a_digest(self):
        for path in sorted((self.ROOT / "deploy").glob("Dockerfile*")):
            text = path.read_text(encoding="utf-8")
            command = re.search(r"^RUN (for image in .*?done)$", text, re.M | re.S)[1].replace("\\\n", "")
            digest = "@sha256:" + "0" * 64
            for base, is_fine in [("debian:12" + digest, True), ("debian:12", False), ("", False), (digest[:-1], False)]:
                with self.subTest(f"{path.name} {base}"):
                    environment = {"BUILD_BASE": "debian:12" + digest, "BASE": base}
                    status = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, check=False).returncode
                    self.assertEqual(status == 0, is_fine)

    def test_pythons_packages_of_the_clients_have_sums(self):
        clients = self.ROOT / "tests/end_to_end/clients"
        lines = [line for line in (clients / "requirements.txt").read_text(encoding="utf-8").splitlines()
                 if not line.startswith("#")]
        for line in lines:
            self.assertRegex(line, r"^[\w.-]+==\S+ --hash=sha256:[0-9a-f]{64}$")
        wanted = [re.sub(r"\[.*?\]", "", line) for line in (clients / "requirements.in").read_text(encoding="utf-8").splitlines()
                  if line and not line.startswith("#")]
        pinned = [re.sub("_", "-", line.split(" ")[0]).lower() for line in lines]
        for each in wanted:
            self.assertIn(re.sub("_", "-", each).lower(), pinned)

    def test_fetched_packages_have_the_sums_of_the_programs_table(self):
        table = (self.ROOT / "src/hub/install/runtime_packages.cpp").read_text(encoding="utf-8")
        rows = re.findall(r'^ +"\S+ (\S+) (\S+) ([0-9a-f]{64}) \S+ \S+ \S+"$', (TOOLS / "fetch_runtimes").read_text(encoding="utf-8"), re.M)
        self.assertEqual(len(rows), 3)
        for project, version, sum_ in rows:
            self.assertRegex(table, f'(?s)project = "{project}".{{0,80}}version = "{version}".{{0,300}}{sum_}')
        for tool in ("fetch_runtimes", "fetch_model"):
            self.assertIn("--require-hashes", (TOOLS / tool).read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
