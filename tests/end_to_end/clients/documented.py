"""The lines of docs/clients.md, run as a reader would."""
import contextlib
import io
import pathlib
import re
import subprocess

DOCUMENT = pathlib.Path(__file__).resolve().parents[3] / "docs" / "clients.md"
ADDRESS = "http://127.0.0.1:11433"


def lines_of(heading):
    """The indented block under a heading."""
    document = DOCUMENT.read_text(encoding="utf-8")
    section = re.search(rf"^###? {re.escape(heading)}.*?\n((?:    .*\n)+)", document, re.MULTILINE)
    assert section, f"docs/clients.md has no lines under {heading}"
    return "".join(line[4:] for line in section[1].splitlines(keepends=True))


def run_python(heading, url, names):
    """Runs the block with these names, which would be imported, and returns what it prints."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(lines_of(heading).replace(ADDRESS, url), heading, "exec"), dict(names))
    return shown.getvalue()


def commands_of(heading, replaced):
    """The commands of the block as lists of words, with texts replaced."""
    import shlex

    text = lines_of(heading).replace("\\\n", " ")
    for one, other in replaced.items():
        text = text.replace(one, other)
    return [shlex.split(line) for line in text.splitlines()]


def run_commands(heading, replaced, seconds=120):
    """Runs the commands of the block and returns what each writes."""
    written = []
    for words in commands_of(heading, replaced):
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=seconds)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr[-2000:]}"
        written.append(done.stdout)
    return written
