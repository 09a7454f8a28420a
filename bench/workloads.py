"""The workloads that the scripts of this folder measure; README.md beside this file describes them."""
import dataclasses
import json
import pathlib
import subprocess
import tempfile


@dataclasses.dataclass
class Workload:
    name: str
    lengths: list          # tokens of each text, in the order in which they arrive
    repeats: int           # timed runs in a round
    batch: int = 32        # texts that a peer takes at once

    def tokens(self):
        return sum(self.lengths)


def workloads():
    """By name, in the order of reports."""
    # Many short texts and a long tail, as real collections have: logarithms normal around 30 tokens, cut to 8..256.
    # As numpy's default_rng(7).lognormal(3.4, 0.8, 256) drew them.
    mixed = [int(line) for line in (pathlib.Path(__file__).parent / "mixed_lengths.txt").read_text().split()]
    every = [
        Workload("1x32", [32], 40),
        Workload("1x128", [128], 20),
        Workload("32x128", [128] * 32, 2),
        Workload("mixed", mixed, 1),
        Workload("mixed_sorted", sorted(mixed), 1),
    ]
    return {w.name: w for w in every}


class AlateFailed(Exception):
    pass


def time_alate(command, model, workload, threads):
    """Tokens a second of one round of `alate bench`; `command` is the program and further options. Throws AlateFailed."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lengths:
        lengths.write("\n".join(map(str, workload.lengths)) + "\n")
        lengths.flush()
        line = [command[0], "bench", str(model), "--lengths", lengths.name, "--threads", str(threads),
                "--repeat", str(workload.repeats), "--output", "json", *command[1:]]
        try:
            done = subprocess.run(line, capture_output=True, text=True)
        except OSError as error:
            raise AlateFailed(f"{command[0]} cannot be started: {error.strerror}") from None
    if done.returncode:
        raise AlateFailed(f"{' '.join(line)} ended with {done.returncode}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    if answer["tokens"] != workload.tokens():
        raise AlateFailed(f"{command[0]} counted {answer['tokens']} tokens in {workload.name}, not {workload.tokens()}")
    return answer["tokens_per_second"]
