"""Records the server's OpenAPI document, so that a change of what clients may send or get is seen in review.

    alate serve --port 11435 &
    curl -s http://127.0.0.1:11435/openapi.json | python3 tests/golden/record_openapi.py

Writes server/openapi.json: the same JSON, each path in a line of its own, without the program's version.
"""
import json
import pathlib
import sys


def text_of(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main():
    document = json.load(sys.stdin)
    document["info"]["version"] = "recorded"
    members = []
    for name, value in document.items():
        text = text_of(value)
        if name == "paths":
            text = "{\n" + ",\n".join(f"{text_of(path)}:{text_of(operations)}" for path, operations in value.items()) + "}"
        members.append(f"{text_of(name)}:{text}")
    target = pathlib.Path(__file__).parent / "server" / "openapi.json"
    target.write_text("{" + ",\n".join(members) + "}\n", encoding="utf-8")


main()
