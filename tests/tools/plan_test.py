"""tools/plan_checks runs what a change reaches, and over ten slices everything.

    python3 tests/tools/plan_test.py
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_tool(name):
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
TOOL = load_tool("plan_checks")


class Tree(unittest.TestCase):
    """A tree of a few files: server over pipelines over formats over base, and search beside server."""

    FILES = {
        "src/base/log.h": "", "src/base/log.cpp": '#include "base/log.h"\n',
        "src/formats/json.h": '#include "base/log.h"\n', "src/formats/json.cpp": '#include "formats/json.h"\n',
        "src/machine/machine.h": '#include "base/log.h"\n',
        "src/pipelines/embed.h": '#include "formats/json.h"\n', "src/pipelines/embed.cpp": '#include "embed.h"\n',
        "src/search/index.cpp": '#include "pipelines/embed.h"\n',
        "src/server/route.cpp": '#include "pipelines/embed.h"\n',
        "src/models/bert.cpp": '#include "formats/json.h"\n',
        "apps/alate/main.cpp": '#include "pipelines/embed.h"\n',
        "tests/unit/base/log_test.cpp": '#include "base/log.h"\n',
        "tests/unit/formats/json_test.cpp": '#include "formats/json.h"\n',
        "tests/unit/machine/machine_test.cpp": '#include "machine/machine.h"\n',
        "tests/unit/models/models_test.cpp": "// all folders of a list\n",
        "tests/unit/pipelines/embed_test.cpp": '#include "tests/unit/base/texts.h"\nfolder / "tests/golden/vectors";\n',
        "tests/unit/base/texts.h": "", "tests/unit/base/texts.cpp": "",
        "tests/unit/search/index_test.cpp": "", "tests/unit/server/route_test.cpp": "",
        "tests/end_to_end/cli_test.cpp": "", "tests/runtimes/runtimes_test.cpp": "", "tests/conformance/main.cpp": "",
        "tests/instructions/kernels.cpp": "", "tests/load/load.cpp": "",
        "tests/fuzz/fuzz_json.cpp": '#include "formats/json.h"\n', "tests/fuzz/fuzz_http.cpp": "",
        "README.md": "", "docs/models.md": "", "docs/ops.md": "",
    }

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name).resolve()
        for path, text in cls.FILES.items():
            (cls.root / path).parent.mkdir(parents=True, exist_ok=True)
            (cls.root / path).write_text(text, encoding="utf-8")
        cls.sources = TOOL.Sources(cls.root)

    def plan(self, *paths):
        return TOOL.Plan(self.sources, TOOL.Change(self.sources, list(paths)))

    def reached(self, *paths, kind=""):
        return {name for name, why in self.plan(*paths).reasons.items() if why and name.startswith(kind)}

    def test_a_changed_module_is_tested_whole_with_all_that_is_built_over_it(self):
        reached = self.reached("src/pipelines/embed.cpp")
        self.assertLessEqual({"release unit_pipelines", "release end_to_end", "asan unit_pipelines", "asan unit_search",
                              "asan unit_server", "tsan unit_server"}, reached)
        for name in ("release unit_base", "asan unit_formats", "asan unit_machine", "release unit_models", "replay json"):
            self.assertNotIn(name, reached)

    def test_a_change_of_base_leaves_far_programs_under_sanitizers_to_slices(self):
        self.assertEqual(self.reached("src/base/log.cpp", kind="asan "), {"asan unit_base"})
        self.assertIn("too many", self.plan("src/base/log.cpp").left["asan unit_server"])
        self.assertLessEqual({"release unit_formats", "release unit_server", "release end_to_end"},
                             self.reached("src/base/log.cpp", kind="release "))

    def test_a_module_without_numbers_is_tested_once(self):
        reached = self.reached("src/server/route.cpp")
        self.assertIn("asan unit_server", reached)
        self.assertNotIn("release unit_server", reached)
        self.assertIn("no numbers", self.plan("src/server/route.cpp").left["release unit_server"])
        # but its own tests have to compile in both builds
        self.assertIn("release unit_server", self.reached("tests/unit/server/route_test.cpp"))

    def test_changed_tests_run_and_no_others(self):
        self.assertEqual(self.reached("tests/unit/search/index_test.cpp"), {"release unit_search", "asan unit_search"})
        self.assertEqual(self.reached("tests/end_to_end/cli_test.cpp"), {"release end_to_end"})
        self.assertEqual(self.reached("tests/fuzz/fuzz_http.cpp"), {"replay http", "search http"})
        self.assertEqual(self.reached("tests/fuzz/corpus/json/a"), {"replay json", "search json"})
        self.assertEqual(self.reached("tests/reproducers/json/a"), {"replay json", "search json"})

    def test_a_source_that_several_programs_share_is_found_by_its_header(self):
        self.assertEqual(self.reached("tests/unit/base/texts.cpp", kind="release "), {"release unit_base", "release unit_pipelines"})

    def test_goldens_run_the_programs_that_name_them(self):
        self.assertEqual(self.reached("tests/golden/vectors/a.json"), {"release unit_pipelines", "asan unit_pipelines"})
        self.assertLessEqual({"release unit_models", "release unit_pipelines", "release runtimes"}, self.reached("tests/golden/bert/a.json"))

    def test_what_a_run_has_no_time_for_waits_for_its_slice(self):
        budgets = {"release": {"unit_pipelines": 600, "end_to_end": 900, "unit_search": 300}, "asan": {"unit_server": 1000, "unit_pipelines": 400}}
        change = TOOL.Change(self.sources, ["src/pipelines/embed.cpp"])
        with mock.patch.object(TOOL, "MOST_TIME", 600):
            plan = TOOL.Plan(self.sources, change, budgets)
        self.assertTrue(plan.reasons["release unit_pipelines"])  # the changed module first
        self.assertIsNone(plan.reasons["release end_to_end"])
        self.assertTrue(plan.reasons["asan unit_pipelines"])
        self.assertIsNone(plan.reasons["asan unit_server"])
        self.assertIn("more than a run has time for", plan.left["asan unit_server"])

    def test_the_linter_gets_so_many_of_the_changed_files(self):
        with mock.patch.object(TOOL, "MOST_TIDY_CHANGED", 1):
            change = TOOL.Change(self.sources, ["src/pipelines/embed.cpp", "src/server/route.cpp", "src/search/index.cpp"])
            plan = TOOL.Plan(self.sources, change, {"release": {}})
        self.assertEqual(sum(bool(why) for name, why in plan.reasons.items() if name.startswith("tidy ")), 1)
        self.assertEqual(sum(bool(why) for name, why in plan.reasons.items() if name.startswith("alone ")), 3)

    def test_documents_and_scripts_need_little(self):
        self.assertEqual(self.reached("docs/models.md"), {"document docs/models.md"})
        self.assertEqual(self.reached("tools/check_layers", "tests/tools/checks_test.py", "test", "LICENSE"), set())
        self.assertEqual(self.reached("docs/ops.md"), {"docs/ops.md is current"})

    def test_a_change_of_the_build_builds(self):
        self.assertLessEqual({"release benchmarks", "asan unit_base", "tsan unit_base", "build without the server"},
                             self.reached("cmake/modules.cmake"))

    def test_a_path_that_no_rule_knows_reaches_all(self):
        self.assertLessEqual({"asan unit_server", "asan unit_base", "replay json"}, self.reached("new/place.cpp"))

    def test_files_by_themselves_are_those_that_changed_or_include_what_did(self):
        reached = self.reached("src/formats/json.h")
        self.assertLessEqual({"alone src/formats/json.cpp", "alone src/models/bert.cpp", "tidy src/formats/json.cpp"}, reached)
        self.assertNotIn("tidy src/models/bert.cpp", reached)
        self.assertNotIn("alone src/base/log.cpp", reached)

    def test_ten_slices_have_everything(self):
        plan = self.plan()
        all_slices = TOOL.slices_of(plan.reasons, {"asan": {"unit_server": 5}})
        slices = [TOOL.sliced(all_slices, number) for number in range(1, TOOL.SLICES + 1)]
        self.assertEqual(set().union(*slices), set(plan.reasons))
        self.assertEqual(sum(map(len, slices)), len(plan.reasons))

    def test_a_slice_has_few_files_for_the_linter(self):
        names = [f"tidy src/base/file{i}.cpp" for i in range(1000)]
        for number in range(1, TOOL.SLICES + 1):
            self.assertEqual(len(TOOL.sliced(TOOL.slices_of(names, {}), number)), TOOL.MOST_TIDY)

    def test_slices_take_about_as_long(self):
        budgets = {"asan": {f"unit_{i}": 100 + i for i in range(15)}, "release": {f"unit_{i}": 40 for i in range(15)}}
        names = [f"{build} {program}" for build, programs in budgets.items() for program in programs]
        slices = TOOL.slices_of(names, budgets)
        times = [sum(TOOL.time_of(name, budgets) for name in names if slices[name] == number) for number in range(1, 11)]
        self.assertLess(max(times) - min(times), 60)


    def test_a_plan_is_explained_by_reasons(self):
        lines = ["asan unit_a\trun\tx changed", "asan unit_b\trun\tx changed", "asan unit_c\tleave\tslice 3 has it",
                 "alone a.cpp\trun\tit changed", "alone b.cpp\trun\tslice 3 has it", "baseline version\trun\tslice 3 has it"]
        self.assertEqual(list(TOOL.explained(lines)),
                         ["run   asan unit_a, unit_b: x changed", "leave asan unit_c: slice 3 has it", "run   alone: 2 files",
                          "run   baseline version: slice 3 has it"])


class Repositories(unittest.TestCase):
    def setUp(self):
        if shutil.which("git") is None:
            self.skipTest("needs git")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()
        environment = mock.patch.dict(os.environ, {"ALATE_HOME": str(self.root / "home"), "GIT_CONFIG_GLOBAL": "/dev/null"})
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("ALATE_BASE", None)
        (self.root / "tree").mkdir()
        self.repository = TOOL.Repository(self.root / "tree")
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, hour=0):
        date = f"{1700000000 + 3600 * hour} +0000"
        environment = os.environ | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        result = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.root / "tree", check=True,
                                capture_output=True, text=True, env=environment)
        return result.stdout.strip()

    def commit(self, path, hour):
        (self.root / "tree" / path).write_text(f"{hour}\n", encoding="utf-8")
        self.git("add", path)
        self.git("commit", "-q", "-m", path, hour=hour)
        return self.git("rev-parse", "HEAD")

    def test_the_base_is_half_a_day_older_or_the_root(self):
        root = self.commit("a", 0)
        self.commit("b", 5)
        self.assertEqual(self.repository.base()[0], root)
        old = self.commit("c", 8)
        self.commit("d", 12)
        self.commit("e", 21)
        self.assertEqual(self.repository.base()[0], old)
        self.assertEqual(self.repository.changed_since(old), ["d", "e"])

    def test_the_base_is_the_newest_ancestor_that_passed(self):
        self.commit("a", 0)
        passed = self.commit("b", 1)
        self.assertIn("is recorded", self.repository.record())
        self.git("checkout", "-q", "-b", "other", "HEAD~1")
        self.commit("c", 2)
        self.assertIn("is recorded", self.repository.record())  # of no ancestor
        self.git("checkout", "-q", "main")
        self.commit("d", 3)
        self.assertEqual(self.repository.base(), (passed, "its checks passed here"))
        # A second run of the same commit checks the same.
        self.assertIn("is recorded", self.repository.record())
        self.assertEqual(self.repository.base()[0], passed)

    def test_a_commit_with_changes_beside_it_is_not_recorded(self):
        self.commit("a", 0)
        (self.root / "tree/a").write_text("changed\n", encoding="utf-8")
        self.assertIn("not recorded", self.repository.record())
        self.assertFalse(self.repository.record_file.exists())

    def test_what_passed_is_a_bounded_list(self):
        with mock.patch.object(TOOL, "RECORDED", 3):
            commits = [self.commit(f"f{i}", i) for i in range(5) if self.repository.record() or True]
            self.repository.record()
        self.assertEqual(self.repository.record_file.read_text(encoding="utf-8").split(), commits[-3:])

    def test_a_base_may_be_named(self):
        first = self.commit("a", 0)
        self.commit("b", 1)
        self.commit("c", 2)
        with mock.patch.dict(os.environ, {"ALATE_BASE": "HEAD~2"}):
            self.assertEqual(self.repository.base(), (first, "ALATE_BASE names it"))
        with mock.patch.dict(os.environ, {"ALATE_BASE": "nothing"}), self.assertRaisesRegex(SystemExit, "names no commit"):
            self.repository.base()

    def test_files_without_a_commit_are_part_of_a_change(self):
        base = self.commit("a", 0)
        (self.root / "tree/new").write_text("x", encoding="utf-8")
        (self.root / "tree/a").unlink()
        self.assertEqual(self.repository.changed_since(base), ["a", "new"])

    def test_without_a_history_everything_is_new(self):
        self.assertEqual(self.repository.base()[0], None)


class Arguments(unittest.TestCase):
    def test_test_refuses_what_it_does_not_know(self):
        for arguments in (["--slice", "3/10"], ["--all", "--slice", "11/10"], ["--changed", "--slice"], ["--fast"]):
            result = subprocess.run([ROOT / "test", *arguments], capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("usage: ./test", result.stderr)


class Rules(unittest.TestCase):
    """The rules know every file of this repository."""

    def test_no_path_is_without_a_rule(self):
        repository = TOOL.Repository(ROOT)
        paths = repository.git("ls-files")
        if not paths:
            self.skipTest("no git here")
        sources = TOOL.Sources(ROOT)
        self.assertIsNone(TOOL.Change(sources, paths).unknown)

    def test_every_slice_is_one_of_ten(self):
        for wrong in ("0/10", "11/10", "3/9", "x", "10"):
            with self.assertRaises(SystemExit):
                TOOL.slice_number(wrong)
        self.assertEqual(TOOL.slice_number("10/10"), 10)


if __name__ == "__main__":
    unittest.main()
