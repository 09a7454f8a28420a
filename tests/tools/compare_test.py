"""bench/compare on programs that say how fast they are.

    python3 tests/tools/compare_test.py
"""
import json
import math
import pathlib
import subprocess
import tempfile
import unittest

COMPARE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "compare"

# Says the next speed of its list each time it is started, as `alate bench --output json` would.
FAKE = """#!/bin/sh
case "$*" in "bench some-model "*"--repeat "*"--output json"*) ;; *) echo "called with $*" >&2; exit 9 ;; esac
while [ $# -gt 0 ]; do
  case $1 in --lengths) lengths=$2 ;; --threads) threads=$2 ;; esac
  shift
done
tokens={missing}
while read -r length; do tokens=$((tokens + length)); done <"$lengths"
number=0
[ ! -e "$0.count.$threads" ] || read -r number <"$0.count.$threads"
echo $((number + 1)) >"$0.count.$threads"
case $threads in {speeds} esac
shift $((number % $#))
echo "{{\\"tokens_per_second\\": $1, \\"tokens\\": $tokens, \\"runs\\": [1]}}"
"""


class Compare(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def fake(self, name, speeds, missing=0):
        """NAME=PROGRAM of a program with these speeds by count of threads."""
        program = self.root / name
        cases = " ".join(f"{threads}) set -- {' '.join(map(str, values))} ;;" for threads, values in speeds.items())
        program.write_text(FAKE.format(speeds=cases, missing=missing))
        program.chmod(0o755)
        return f"{name}={program}"

    def compare(self, *arguments):
        """(exit status, rows, standard error)"""
        report = self.root / "report.json"
        report.unlink(missing_ok=True)
        done = subprocess.run([COMPARE, "--model", "some-model", "--json", report, *arguments], capture_output=True, text=True)
        return done.returncode, json.loads(report.read_text())["rows"] if report.exists() else None, done.stderr

    def test_ratio_and_confidence_are_those_of_the_logarithms(self):
        status, (row,), _ = self.compare("--workloads", "1x32", "--rounds", "3", self.fake("a", {"1": [100]}),
                                         self.fake("b", {"1": [100, 200, 400]}))
        self.assertEqual(status, 0)
        self.assertAlmostEqual(row["ratio"], 2)
        half = 4.303 * math.log(2) / math.sqrt(3)  # t of two degrees of freedom; the deviation of 0, log 2, 2 log 2
        self.assertAlmostEqual(row["low"], 2 * math.exp(-half))
        self.assertAlmostEqual(row["high"], 2 * math.exp(half))
        self.assertEqual((row["base"], row["engine"], row["verdict"]), ("a", "b", "no difference seen"))

    def test_a_difference_that_every_round_shows_is_told(self):
        status, rows, _ = self.compare("--workloads", "1x32,mixed", "--rounds", "4", self.fake("a", {"1": [100, 101]}),
                                       self.fake("b", {"1": [120, 121]}), self.fake("c", {"1": [90, 89]}))
        self.assertEqual(status, 0)
        self.assertEqual([(row["workload"], row["engine"], row["verdict"]) for row in rows],
                         [("1x32", "b", "faster"), ("1x32", "c", "slower"), ("mixed", "b", "faster"), ("mixed", "c", "slower")])

    def test_best_takes_for_each_its_better_count_of_threads(self):
        _, rows, _ = self.compare("--workloads", "1x32", "--rounds", "3", "--threads", "2,1",
                                  self.fake("a", {"1": [100, 101, 102], "2": [50]}), self.fake("b", {"1": [100], "2": [300]}))
        self.assertEqual([row["threads"] for row in rows], [2, 1, "best"])
        self.assertEqual((rows[2]["base_threads"], rows[2]["engine_threads"]), (1, 2))
        self.assertAlmostEqual(rows[2]["ratio"], 300 / (100 * 101 * 102) ** (1 / 3))

    def test_at_least_fails_only_when_it_is_sure(self):
        base = self.fake("a", {"1": [100, 101, 99]})
        slow, unsure = self.fake("b", {"1": [80, 81, 79]}), self.fake("c", {"1": [60, 140, 90]})
        common = ["--workloads", "1x32", "--rounds", "3", "--at-least", "0.97"]
        self.assertEqual(self.compare(*common, base, slow)[0], 1)
        self.assertEqual(self.compare(*common, base, unsure)[0], 0)

    def test_refuses_what_cannot_be_measured(self):
        a, b = self.fake("a", {"1": [100]}), self.fake("b", {"1": [100]}, missing=-1)
        for arguments, said in [([a], "two engines"), ([a, b], "tokens"), ([a, "b=/no/such/program"], "cannot be started"),
                                ([a, "ort"], "--work"), ([a, a], "called a"), (["--rounds", "2", a, b], "--rounds"),
                                (["--workloads", "2x2", a, b], "2x2")]:
            status, _, error = self.compare(*arguments)
            self.assertEqual(status, 2, error)
            self.assertIn(said, error)


if __name__ == "__main__":
    unittest.main()
