"""Writes named_references.inc: the named character references of HTML, as Python's html.entities has them from
https://html.spec.whatwg.org/entities.json.

    python record_named_references.py
"""
import html.entities
import pathlib


def packed(entries):
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 118:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    return [*lines, line]


def main():
    rows = []
    for name, value in sorted(html.entities.html5.items()):
        points = [ord(c) for c in value] + [0]
        rows.append(f'{{"{name}", 0x{points[0]:X}, 0x{points[1]:X}}}')
    lines = ["// Written by record_named_references.py; do not edit.",
             f"constexpr std::array<NamedReference, {len(rows)}> kNamedReferences = {{{{", *packed(rows), "}};"]
    (pathlib.Path(__file__).parent / "named_references.inc").write_text("\n".join(lines) + "\n")


main()
