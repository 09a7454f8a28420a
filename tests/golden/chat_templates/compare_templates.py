#!/usr/bin/env python3
"""Renders templates that are not ours with every request of conversations.py, by transformers and by Alate; prints where
they differ. Nothing of the templates is stored.

    compare_templates.py PROGRAM PLACE...

PROGRAM is the test program `render_templates`. A PLACE is a .jinja file, a folder of such files (llama.cpp's
models/templates), or a tokenizer_config.json or chat_template.json of a model.
"""
import json
import pathlib
import subprocess
import sys

import conversations
import reference


def templates_of(place):
    """(name, text, special tokens)"""
    if place.is_dir():
        for path in sorted(place.glob("*.jinja")):
            yield path.name, path.read_text(), None
    elif place.suffix == ".json":
        config = json.loads(place.read_text())
        tokens = {name: value if isinstance(value, str) else value["content"] for name, value in config.items()
                  if name.endswith("_token") and value is not None and not isinstance(value, bool)}
        found = config.get("chat_template") or []
        for each in [{"name": "default", "template": found}] if isinstance(found, str) else found:
            yield f"{place.parent.name} ({each['name']})", each["template"], tokens
    else:
        yield place.name, place.read_text(), None


def main():
    program, places = sys.argv[1], map(pathlib.Path, sys.argv[2:])
    cases = [(name, text, tokens, request) for place in places for name, text, tokens in templates_of(place)
             for request in conversations.REQUESTS]
    lines = "".join(json.dumps({"template": text, "special_tokens": tokens or reference.SPECIAL_TOKENS}) + "\n" +
                    json.dumps(request) + "\n" for _, text, tokens, request in cases)
    outputs = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    same = refused = different = 0
    for (name, text, tokens, request), output in zip(cases, outputs, strict=True):
        output = json.loads(output)
        expected, error = reference.render_or_error(text, request, tokens)
        if expected != output.get("text"):
            different += 1
            print(f"{name}: {json.dumps(request)}\n  reference: {expected!r} {error}\n  alate:     {output}")
        elif expected is None:
            refused += 1
        else:
            same += 1
    print(f"{len({case[0] for case in cases})} templates: {same} renderings the same, {refused} refused by both, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
