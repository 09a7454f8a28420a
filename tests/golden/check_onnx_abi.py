#!/usr/bin/env python3
"""Compares src/backends/onnxruntime/abi.h with ONNX Runtime's own header: the place of each function that is used, its
number of arguments, the version that it came with, and the fields of the one structure that is passed by value.

    check_onnx_abi.py onnxruntime_c_api.h        (of version 1.24 or newer)
"""

import pathlib
import re
import sys

ABI = pathlib.Path(__file__).parents[2] / "src/backends/onnxruntime/abi.h"


def without_comments(text):
    """Comments go, but for the version that a documented function came with."""
    def since(match):
        found = re.search(r"\\since Version 1\.(\d+)", match.group())
        return f" @{found.group(1)} " if found else " "

    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", since, text, flags=re.S))


def body_after(text, start):
    begin = text.index("{", text.index(start))
    depth = 0
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[begin + 1:place]
    raise ValueError(start)


def arguments(text):
    """How many there are between parentheses, at the outermost commas."""
    depth, count, is_empty = 0, 1, True
    for c in text:
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(c, 0)
        count += c == "," and depth == 0
        is_empty = is_empty and c.isspace()
    return 0 if is_empty or text.strip() == "void" else count


def theirs(header):
    """name → (place, number of arguments, version or None)."""
    table = {}
    statements = [" ".join(part.split()) for part in body_after(without_comments(header), "struct OrtApi {").split(";")]
    for place, statement in enumerate(part for part in statements if part):
        version = re.match(r"@(\d+)", statement)
        version = int(version.group(1)) if version else None
        if match := re.search(r"ORT_CLASS_RELEASE\((\w+)\)", statement):
            table["Release" + match.group(1)] = (place, 1, version)
        elif match := re.search(r"ORT_API2_STATUS\((\w+),(.*)\)", statement):
            table[match.group(1)] = (place, arguments(re.sub(r"_\w+_\([^()]*(\([^()]*\))*[^()]*\)", "", match.group(2))), version)
        elif match := re.search(r"ORT_API_T\([^,]+, (\w+),(.*)\)", statement):
            table[match.group(1)] = (place, arguments(match.group(2)), version)
        elif match := re.search(r"\* ?(\w+)\)\((.*)\)", statement):
            table[match.group(1)] = (place, arguments(match.group(2)), version)
    return table


def ours(abi):
    for match in re.finditer(r"using (\w+) =\s*Function<(\d+),(.*?)>;", abi, re.S):
        signature = " ".join(match.group(3).split())
        version = re.search(r", (\d+)$", signature)
        inner = signature[signature.index("(") + 1:signature.rindex(")")]
        yield match.group(1), int(match.group(2)), arguments(inner), int(version.group(1)) if version else 14


def fields(text, start):
    kinds = []
    for statement in body_after(re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S), start).split(";"):
        statement = re.sub(r"=[^,]*", "", statement).strip()
        if not statement:
            continue
        kind = "pointer" if "*" in statement else statement.split()[0].replace("std::", "")
        kinds += [kind] * (statement.count(",") + 1)
    return kinds


def main():
    header, abi = pathlib.Path(sys.argv[1]).read_text(), ABI.read_text()
    table = theirs(header)
    wrong = count = 0
    for name, place, argument_count, version in ours(abi):
        count += 1
        found = table.get(name)
        if found is None:
            print(f"{name} is not in the header")
        elif found[:2] != (place, argument_count) or (found[2] or 14) > version:
            print(f"{name}: {place}, {argument_count} arguments, from 1.{version}; the header has {found}")
        else:
            continue
        wrong += 1
    if fields(header, "typedef struct OrtMIGraphXProviderOptions {") != fields(abi, "struct MiGraphXProviderOptions {"):
        print("MiGraphXProviderOptions has other fields")
        wrong += 1
    print(f"{count} functions, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
