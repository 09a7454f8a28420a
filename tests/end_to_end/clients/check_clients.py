#!/usr/bin/env python3
"""Checks real, unchanged clients against a server of this build, and prints a table of what works.

    python3 -m venv VENV && VENV/bin/pip install --require-hashes --only-binary :all: -r requirements.txt
    ALATE_PROGRAM=build/release/bin/alate ALATE_TEST_MODEL_DIR=…/models/sentence-transformers/all-MiniLM-L6-v2 \\
        VENV/bin/python check_clients.py [--only NAME,…] [--examples N]

Answers must be equal, bit for bit, to those of `alate embed`, `alate forward` and the verbs of further tasks. Exits 1 when a check fails.
"""
import argparse
import inspect
import os
import pathlib
import sys
import time
import traceback

import chat_checks
import generation_checks
from checks import ALIAS, CHECKS, version_of
from generator_server import GeneratorServer
from running_server import RunningServer
from task_server import TaskServer

OF_LANGUAGE_MODELS = generation_checks.CHECKS | chat_checks.CHECKS


def run_check(server, name, check, options):
    """Whether it passed, and what it has seen or what went wrong."""
    seen = []
    try:
        accepted = {key: value for key, value in options.items() if key in inspect.signature(check).parameters}
        for fact in check(server, **accepted):
            seen.append(fact)
    except Exception as error:
        traceback.print_exc()
        return False, f"after {len(seen)} of its checks: {type(error).__name__}"
    return True, "; ".join(seen)


def main():
    parser = argparse.ArgumentParser(description="Checks real clients against `alate serve`.")
    parser.add_argument("--program", default=os.environ.get("ALATE_PROGRAM"))
    parser.add_argument("--model-dir", default=os.environ.get("ALATE_TEST_MODEL_DIR"))
    installed = [name for name in [*CHECKS, *OF_LANGUAGE_MODELS] if version_of(name) is not None]
    parser.add_argument("--only", default=",".join(installed), help="names of clients, with commas between")
    parser.add_argument("--examples", type=int, default=30, help="of schemathesis, for each operation")
    arguments = parser.parse_args()
    if not arguments.program or not arguments.model_dir:
        parser.error("ALATE_PROGRAM and ALATE_TEST_MODEL_DIR must be set")

    results = []
    folder = pathlib.Path(arguments.model_dir).resolve()
    options = ["--aliases", f"{ALIAS}={folder.parent.name}/{folder.name}"]
    with (RunningServer(arguments.program, arguments.model_dir, options) as server,
          TaskServer(arguments.program) as tasks, GeneratorServer(arguments.program) as generators):
        for name in arguments.only.split(","):
            begin = time.monotonic()
            if name in CHECKS:
                passed, what = run_check(server, name, CHECKS[name], {"examples": arguments.examples, "tasks": tasks})
            else:
                passed, what = run_check(generators, name, OF_LANGUAGE_MODELS[name], {})
            results.append((name, passed, what))
            print(f"{name}: {'passed' if passed else 'FAILED'} in {time.monotonic() - begin:.1f} s", flush=True)
        print(f"\nmodel {server.model}\n\n| client | version | result | seen |\n|---|---|---|---|")
    for name, passed, what in results:
        print(f"| {name} | {version_of(name)} | {'passed' if passed else 'FAILED'} | {what} |")
    failed = sum(not passed for _, passed, _ in results)
    print(f"\n{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
