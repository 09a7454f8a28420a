#!/usr/bin/env python3
"""Writes html_entities.inc: the named character references of HTML 5, from Python's html.entities.

    record_html_entities.py > html_entities.inc
"""
import html.entities
import sys


def literal(text):
    return "".join(c if 0x20 <= ord(c) < 0x7F and c not in '"\\' else "".join(f"\\{byte:03o}" for byte in c.encode()) for c in text)


def main():
    print("// Written by record_html_entities.py: names without '&', sorted by bytes, and what they stand for.\n")
    print("constexpr Entity kEntities[] = {")
    line = "   "
    for name, text in sorted(html.entities.html5.items(), key=lambda item: item[0].encode()):
        entry = f' {{"{name}", "{literal(text)}"}},'
        if len(line) + len(entry) > 150:
            print(line)
            line = "   "
        line += entry
    print(line + "\n};")


if __name__ == "__main__":
    sys.exit(main())
