#!/usr/bin/env python3
"""Writes python_characters.inc: what Python's str says of characters beyond their general category.

    record_python_characters.py > python_characters.inc
"""
import sys
import unicodedata


def ranges(name, comment, holds):
    print(f"// {comment}\nconstexpr Range {name}[] = {{")
    start, row = None, []
    for c in range(0x110000 + 1):
        inside = c < 0x110000 and holds(chr(c))
        if inside and start is None:
            start = c
        elif not inside and start is not None:
            row.append(f"{{0x{start:X}, 0x{c - 1:X}}}")
            start = None
    for i in range(0, len(row), 6):
        print("    " + ", ".join(row[i:i + 6]) + ",")
    print("};\n")


def text(value):
    return "{" + ", ".join(f"0x{ord(c):X}" for c in value) + "}"


def main():
    category = unicodedata.category
    print(f"// Written by record_python_characters.py with Unicode {unicodedata.unidata_version}.\n")
    ranges("kOtherLower", "str.islower without the category Ll.", lambda c: c.islower() and category(c) != "Ll")
    ranges("kOtherUpper", "str.isupper without the category Lu.", lambda c: c.isupper() and category(c) != "Lu")
    ranges("kOtherDigits", "str.isdigit without the category Nd.", lambda c: c.isdigit() and category(c) != "Nd")
    ranges("kOtherNumeric", "str.isnumeric without a category N*.", lambda c: c.isnumeric() and category(c)[0] != "N")
    print("// Characters whose upper or title case is not one character, or not each other's.")
    print("constexpr SpecialCase kSpecialCases[] = {")
    for c in map(chr, range(0x110000)):
        if len(c.upper()) > 1 or len(c.title()) > 1:
            print(f"    {{0x{ord(c):X}, {text(c.upper())}, {text(c.title())}}},")
    print("};")


if __name__ == "__main__":
    sys.exit(main())
