"""Writes grapheme_ranges.inc and script_splits.inc: where the Python package `tokenizers` sees borders of grapheme clusters
(in the normalizer Precompiled) and of scripts (in the pre-tokenizer UnicodeScripts).

    python record_segmentation.py        (recorded with tokenizers 0.23.3)
"""
import pathlib
import struct

import tokenizers
from tokenizers import normalizers, pre_tokenizers

HERE = pathlib.Path(__file__).parent
POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def replacer_of_everything():
    """Rules whose keys are all single bytes: a whole cluster below 6 bytes, or else each code point, becomes an X."""
    units = [0] * 1024
    units[0] = 256 << 10
    for byte in range(1, 256):
        units[256 ^ byte] = byte | 1 << 8 | 512 << 10
    return normalizers.Precompiled(struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"X\0")


def ranges(test):
    found = []
    for c in POINTS:
        if not test(chr(c)):
            continue
        if found and (found[-1][1] == c - 1 or (c == 0xE000 and found[-1][1] == 0xD7FF)):
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def packed(entries):
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 118:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    return [*lines, line]


def write(name, lines):
    head = f"// Written by record_segmentation.py from tokenizers {tokenizers.__version__}; do not edit."
    (HERE / name).write_text("\n".join([head, *lines]) + "\n")


def record_graphemes():
    normalize = replacer_of_everything().normalize_str
    lines = []
    for name, comment, test in (
        ("kJoinsPrevious", "No border before these: extending characters, joiners, spacing marks.", lambda c: normalize("a" + c) == "X"),
        ("kJoinsNext", "No border after these: prepended marks.", lambda c: c != "\r" and normalize(c + "a") == "X"),
        ("kStandsAlone", "Controls: a border on both sides.", lambda c: ord(c) < 0x10000 and normalize(c + "\u0301") == "XX"),
        ("kPictographs", "No border between two of these with a joiner in between.",
         lambda c: normalize("\xa9\u200d" + c) == "XXX" and normalize("a" + c) != "X"),
    ):
        found = ranges(test)
        lines += [f"// {comment}", f"constexpr CodePointRange {name}[] = {{  // {len(found)}",
                  *packed(f"{{0x{a:X}, 0x{b:X}}}" for a, b in found), "};"]
    write("grapheme_ranges.inc", lines)


def record_scripts():
    split = pre_tokenizers.UnicodeScripts().pre_tokenize_str

    def joins(letter):
        """For each code point, whether it stays with the letter before it."""
        starts = {begin for _, (begin, _) in split("".join(letter + chr(c) for c in POINTS))}
        return [2 * i + 1 not in starts for i in range(len(POINTS))]

    latin, han = joins("a"), joins("\u4e2d")
    script_of, samples = [], []
    last = None
    starts = {begin for _, (begin, _) in split("".join(map(chr, POINTS)))}
    for i, c in enumerate(POINTS):
        if latin[i] and han[i]:
            script_of.append(0)  # joins every script
            continue
        if last is None or i in starts:
            known = [number for number, sample in enumerate(samples, 1) if len(split(sample + chr(c))) == 1]
            if not known:
                samples.append(chr(c))
                known = [len(samples)]
            last = known[0]
        script_of.append(last)
    runs = [(c, script_of[i]) for i, c in enumerate(POINTS) if i == 0 or script_of[i] != script_of[i - 1]]
    write("script_splits.inc", ["// Numbers of scripts, by where their runs start; 0 goes with any script.",
                                f"constexpr ScriptSplit kScriptSplits[] = {{  // {len(runs)}",
                                *packed(f"{{0x{c:X}, {s}}}" for c, s in runs), "};"])


record_graphemes()
record_scripts()
