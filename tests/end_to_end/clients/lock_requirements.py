#!/usr/bin/env python3
"""Writes requirements.txt anew: what requirements.in names and all that needs, each by version and sha256.

    python3 lock_requirements.py        (with the Python and on the platform that check_clients.py runs on)

pip resolves the versions and tells the sums of the files that it would take; nothing is installed.
"""
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent


def main():
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        subprocess.run([sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
                        "--only-binary", ":all:", "--report", report, "-r", FOLDER / "requirements.in"], check=True)
        installs = json.loads(report.read_text(encoding="utf-8"))["install"]
    lines = [f"# Made by lock_requirements.py for Python {'.'.join(platform.python_version_tuple()[:2])} on "
             f"{platform.system()} {platform.machine()}; the names are in requirements.in."]
    for each in sorted(installs, key=lambda each: each["metadata"]["name"].lower()):
        sum_ = each["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{each['metadata']['name']}=={each['metadata']['version']} --hash=sha256:{sum_}")
    (FOLDER / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
