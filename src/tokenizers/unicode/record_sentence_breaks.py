"""Writes sentence_breaks.inc, the property Sentence_Break of all code points, and tests/golden/sentence_breaks.txt, the
cases of its official test, from the files of the Unicode Character Database (Debian's package unicode-data has them).

    python record_sentence_breaks.py /usr/share/unicode/auxiliary        (recorded with Unicode 15.0.0)
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parents[2] / "tests/golden/sentence_breaks.txt"
# In the order of the enum SentenceBreak.
NAMES = ["Other", "CR", "LF", "Sep", "Extend", "Format", "Sp", "Lower", "Upper", "OLetter", "Numeric", "ATerm", "SContinue",
         "STerm", "Close"]


def runs(path):
    number = [0] * 0x110000
    for line in path.read_text(encoding="utf-8").splitlines():
        points, _, name = line.split("#")[0].partition(";")
        if not name:
            continue
        first, _, last = points.strip().partition("..")
        for c in range(int(first, 16), int(last or first, 16) + 1):
            number[c] = NAMES.index(name.strip())
    return [(c, number[c]) for c in range(0x110000) if c == 0 or number[c] != number[c - 1]]


def write_table(path):
    version = path.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")
    lines, line = [], "   "
    found = runs(path)
    for c, name in found:
        entry = f" 0x{c << 4 | name:X},"
        if len(line) + len(entry) > 119:
            lines.append(line)
            line = "   "
        line += entry
    (HERE / "sentence_breaks.inc").write_text("\n".join([
        f"// Written by record_sentence_breaks.py from {version}; do not edit.",
        "// The code points where runs of one value start, times 16, plus the value.",
        f"constexpr std::uint32_t kSentenceBreakRuns[] = {{  // {len(found)}", *lines, line, "};"]) + "\n")


def write_cases(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line for line in lines[:5] if line.startswith("#")]
    cases = [line.split("#")[0].strip() for line in lines if not line.startswith("#")]
    text = [*head, "# The cases without their comments: code points, with + where a sentence begins or ends, - where none does."]
    text += [case.replace("\u00f7", "+").replace("\u00d7", "-") for case in cases if case]
    GOLDEN.write_text("\n".join(text) + "\n", encoding="utf-8")


folder = pathlib.Path(sys.argv[1])
write_table(folder / "SentenceBreakProperty.txt")
write_cases(folder / "SentenceBreakTest.txt")
