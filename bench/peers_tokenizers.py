"""Compares Alate's tokenizers with the Python package `tokenizers`, in alternating rounds on one thread.

usage: peers_tokenizers.py [--bench build/release/bin/bench_tokenizers] [--rounds 9] [--texts 200] [--json FILE]
                           TOKENIZER_JSON...

A line for each tokenizer and kind of text: tokens a second and the ratio of each round as median [smallest..largest],
for ids alone (against encode_batch_fast) and with tokens and offsets (against encode_batch). Texts have about 1 kB and
are drawn from texts/ and the project's documents by a fixed seed. Then loading, and memory of the loaded tokenizer,
each in a process of its own. Both must give the same ids, else the script stops.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
from tokenizers import Tokenizer  # noqa: E402

HERE = pathlib.Path(__file__).parent


def draw(sentences, count, rng):
    texts = []
    for _ in range(count):
        text = ""
        while len(text.encode()) < 900:
            text += rng.choice(sentences) + " "
        texts.append(text.encode()[:1000].decode(errors="ignore"))
    return texts


def kinds_of_text(count):
    def lines(name):
        return (HERE / "texts" / name).read_text().splitlines()

    prose = []
    for document in sorted((HERE.parent / "docs").glob("*.md")):
        prose += [line for line in document.read_text().splitlines() if len(line) > 80 and line[0].isalpha()]
    rng = random.Random(31)
    english = lines("english.txt") * 8 + prose
    mixed = lines("multilingual.txt") * 12 + prose[::4] + ["🎉👩‍👩‍👧🏽 ¿Qué? 42 × 17 = 714…", "for (int i = 0; i < n; ++i) sum += x[i];"] * 4
    return {"english": draw(english, count, rng), "multilingual": draw(mixed, count, rng)}


class Alate:
    def __init__(self, program, tokenizer, texts):
        self.process = subprocess.Popen([program, tokenizer, texts], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command, lines=1):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return [self.process.stdout.readline() for _ in range(lines)]

    def time(self, command):
        return float(self.ask(command)[0])


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def spread(ratios):
    return f"{statistics.median(ratios):.1f} [{min(ratios):.1f}..{max(ratios):.1f}]"


MEMORY = """
import sys
from tokenizers import Tokenizer
def resident():
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmRSS"))
before = resident()
t = Tokenizer.from_file(sys.argv[1])
print(resident() - before)
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tokenizers", nargs="+")
    parser.add_argument("--bench", default=str(HERE.parent / "build/release/bin/bench_tokenizers"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--json")
    options = parser.parse_args()
    results = {}
    for path in options.tokenizers:
        name = pathlib.Path(path).parent.name if path.endswith("/tokenizer.json") else pathlib.Path(path).stem
        peer = Tokenizer.from_file(path)
        peer.no_truncation()
        peer.no_padding()
        result = results[name] = {}
        for kind, texts in kinds_of_text(options.texts).items():
            texts = [text.replace("\n", " ") for text in texts]
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write("\n".join(texts) + "\n")
                file.flush()
                alate = Alate(options.bench, path, file.name)
                ours = [[int(i) for i in line.split()] for line in alate.ask("check", len(texts))]
                theirs = [e.ids for e in peer.encode_batch(texts)]
                if ours != theirs:
                    sys.exit(f"{name}, {kind}: the ids differ")
                tokens = sum(map(len, theirs))
                for command, work in {"ids": peer.encode_batch_fast, "offsets": peer.encode_batch}.items():
                    mine, other = [], []
                    for _ in range(options.rounds + 1):
                        mine.append(alate.time(command))
                        other.append(timed(lambda: work(texts)))
                    ratios = [b / a for a, b in zip(mine[1:], other[1:])]
                    result[f"{kind} {command}"] = ratios
                    print(f"{name:16} {kind:13} {command:8} alate {tokens / statistics.median(mine[1:]) / 1e6:7.2f} M tokens/s  "
                          f"tokenizers {tokens / statistics.median(other[1:]) / 1e6:7.2f}  ratio {spread(ratios)}", flush=True)
                if kind == "english":
                    load = [timed(lambda: Tokenizer.from_file(path)) / alate.time("load") for _ in range(5)]
                    result["load"] = load
                    seconds = alate.time("load")
                    memory = int(alate.ask("memory")[0])
                    other_memory = int(subprocess.check_output([sys.executable, "-c", MEMORY, path]))
                    result["memory"] = [memory, other_memory]
                    print(f"{name:16} load {seconds * 1e3:.0f} ms, ratio {spread(load)}; memory {memory / 1024:.0f} MiB, "
                          f"tokenizers {other_memory / 1024:.0f} MiB", flush=True)
                alate.process.stdin.close()
                alate.process.wait()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))


main()
