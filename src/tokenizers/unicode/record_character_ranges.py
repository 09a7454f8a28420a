"""Writes character_ranges.inc: the character classes as the Python package `tokenizers` applies them, asked code point
by code point. Its classes come from crates of different Unicode versions, so no one Unicode table reproduces them.

    python record_character_ranges.py        (recorded with tokenizers 0.23.3)
"""
import pathlib

import tokenizers
from tokenizers import normalizers, pre_tokenizers

clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
strip = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
strip_marks = normalizers.StripAccents()
space_split = pre_tokenizers.WhitespaceSplit()
punctuation_split = pre_tokenizers.Punctuation()
word_split = pre_tokenizers.Whitespace()
digit_split = pre_tokenizers.Digits()


nfc, nfd = normalizers.NFC(), normalizers.NFD()


def pieces(splitter, text):
    return [piece for piece, _ in splitter.pre_tokenize_str(text)]


def later_parts():
    """What follows the first code point of some canonical decomposition, and so may combine with one before it."""
    codes = (code for code in range(0xA0, 0x30000) if not 0xD800 <= code <= 0xDFFF)
    return {part for code in codes for part in nfd.normalize_str(chr(code))[1:]}


LATER_PARTS = later_parts()


def has_combining_class(c):
    # U+0345 has the highest class, 240, and U+0334 the lowest, 1: one of them changes places with any other mark.
    return nfd.normalize_str("\u0345" + c)[0] != "\u0345" or nfd.normalize_str(c + "\u0334")[0] == "\u0334" or c in "\u0345\u0334"


CLASSES = {
    "kOther": lambda c: c not in "\0\ufffd" and clean.normalize_str(f"a{c}b") == "ab" or c == "\0",
    "kWhitespace": lambda c: pieces(space_split, f"a{c}b") == ["a", "b"],
    "kPunctuation": lambda c: pieces(punctuation_split, f"a{c}b") == ["a", c, "b"],
    "kNonspacingMark": lambda c: strip.normalize_str(f"a{c}b") == "ab",
    "kCombiningMark": lambda c: strip_marks.normalize_str(f"a{c}b") == "ab",
    "kNumeric": lambda c: pieces(digit_split, f"a{c}b") == ["a", c, "b"],
    "kUnstableInNfc": lambda c: nfc.normalize_str(c) != c or c in LATER_PARTS or has_combining_class(c),
    "kWord": lambda c: len(pieces(word_split, f"a{c}b")) == 1,
}


def ranges(test):
    found = []
    for code in range(0x110000):
        if 0xD800 <= code <= 0xDFFF or not test(chr(code)):
            continue
        if found and (found[-1][1] == code - 1 or (code == 0xE000 and found[-1][1] == 0xD7FF)):
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def main():
    lines = [f"// Written by record_character_ranges.py from tokenizers {tokenizers.__version__}; do not edit."]
    for name, test in CLASSES.items():
        found = ranges(test)
        lines.append(f"constexpr CodePointRange {name}Ranges[] = {{  // {len(found)}")
        line = "   "
        for first, last in found:
            entry = f" {{0x{first:X}, 0x{last:X}}},"
            if len(line) + len(entry) > 118:
                lines.append(line)
                line = "   "
            line += entry
        lines += [line, "};"]
    pathlib.Path(__file__).with_name("character_ranges.inc").write_text("\n".join(lines) + "\n")


main()
