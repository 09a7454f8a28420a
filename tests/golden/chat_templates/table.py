#!/usr/bin/env python3
"""Every filter, test, global and method of jinja2 and Python by values of all types; prints where Alate differs.

    table.py PROGRAM [WORD]      only expressions that contain WORD

PROGRAM is the test program `render_templates`. The names are those of the installed jinja2 and Python, so that nothing is
left out: where Alate has no such thing, it must refuse with the name of what is missing (EXEMPT).
"""
import collections
import copy
import json
import re
import subprocess
import sys
import tempfile

import jinja2
import reference
from fuzz import VARIABLES, comparable
from transformers.utils import chat_template_utils

VALUES = [
    "nothing", "none", "true", "0", "-3", "12345678901234567890", "2.5", "-0.0", "1e22", "(text[:0] ~ '9' * 400)|float", "''", "'Hello wörld'", "'ab\\tc\\nd  e\\r\\nf'", "'<a href=\"x\">b &amp; c</a> <!-- d --> e'",
    "'ǆ ß ﬁ ΑΣ İ'", "'-7'", "'0x1F'", "' 3.75e2 '", "'٣'", "'A'", "'a-b c_d'", "('a<b' | safe)", "[]", "[3, 1, 2]", "['b', 'A', 'c', 'a']", "[1, 'a']", "[[2, 'x'], [1, 'y']]", "[none, true, 1, 1.0]",
    "(1,)", "(1, (2, 'a'))", "{}", "{'b': 1, 'A': [2]}", "{1: 'x', none: 2}", "x", "message", "range(4)", "[1, 2]|map('string')", "message.items()", "message.keys()", "namespace(a=1)", "joiner('-')", "cycler(1, 2)", "range",
    "dict", "'x'.upper", "'See www.example.com, (http://a.io/x?y=1) or me@b.org.'", "'{} {a}'", "'%s-%s'", "[x[0], x[1]]", "nothing|default({})",
]
ARGUMENTS = ["", "1", "-1", "0", "3", "none", "'a'", "''", "'b', 'c'", "1, 2", "'utf-8'", "[1]", "{'a': 1}", "2, 'x'", "true", "'a', true", "' '", "attribute='k'", "attribute=0", "'n'", "default=5", "'string'", "'upper'", "'odd'",
             "'gt', 1", "zz=1", "1, 2, 3, 4, 5, 6, 7", "2.5", "('a', 'H')", "'l', 2, 9", "{97: 'b', 98: none}", "'ascii', 'ignore'", "'k', 'equalto', 'v1'", "case_sensitive=true", "reverse=true", "'value'", "[[1, 2]]"]
SPECIAL = {
    "wordwrap": ["5", "5, false", "7, true, '|'", "3, true, none, false", "0", "'x'", "width=4, break_on_hyphens=true", "-2"],
    "urlize": ["5", "10, true", "none, false, '_blank'", "rel='nofollow x'", "extra_schemes=['see:', 'ftp://']", "extra_schemes=['b ad']", "40, true, '<', 'a\"b'"],
    "xmlattr": ["false", "true"], "striptags": [], "pprint": ["true"], "truncate": ["5, true, '..', 0", "4, leeway=0", "255", "2", "length=6, killwords=true"], "round": ["2, 'ceil'", "1, 'floor'", "-2", "0, 'common'", "1, 'zz'"],
    "groupby": ["'k'", "'n', default=5", "attribute='k', case_sensitive=true", "0", "'nn.k', 3"], "tojson": ["indent=2", "2", "true", "sort_keys=true", "separators=(',', ':')", "ensure_ascii=true", "indent='-'", "indent=0"],
    "dictsort": ["true", "false, 'value'", "by='key', reverse=true", "by='zz'"], "batch": ["2, none", "0"], "slice": ["2, 'f'", "0"], "int": ["7, 16", "0, 0", "5, 8", "base=16", "0, 37"], "map": ["attribute='k', default='d'", "'default', 3", "'nosuch'"],
    "sum": ["'n'", "start=5", "attribute='n', start=1", "start=''"], "join": ["', ', 'k'", "d='-'"], "indent": ["2, true, true", "'> '", "width=1, blank=true"], "filesizeformat": ["true"], "format": ["1, 2", "a=1", "'x', a=2"], "replace": ["'l', 'L', 1", "'', '-'", "'o', 1"],
    "sort": ["true, true", "attribute='n,k'", "attribute='k', case_sensitive=true"], "unique": ["true", "attribute='k'", "false, 'k'"], "center": ["21", "width=5"], "default": ["'d', true"], "attr": ["'upper'", "'items'", "'__class__'", "'zz'"],
    "format_map": ["{'a': 2, '0': 1}", "message"], "maketrans": ["'ab', 'cd'", "'ab', 'cd', 'e'", "{'a': 1, 'b': none, 99: 'x'}", "{'ab': 1}"], "translate": ["'x'.maketrans('lo', 'LO')", "'xyz'", "{108: 'LL', 111: 9731, 32: none}", "[1, 2]"],
    "encode": ["'latin-1'", "'ascii', 'replace'", "'utf-16'", "'ascii', 'xmlcharrefreplace'", "errors='ignore'", "encoding='utf-8'"], "to_bytes": ["2, 'big'", "8, 'little'", "length=1"], "split": ["none, 1", "'l', 1", "sep=' '", "maxsplit=1"], "rsplit": ["none, 1", "sep='l', maxsplit=1"],
    "splitlines": ["keepends=true"], "expandtabs": ["4", "tabsize=0", "3"], "startswith": ["'H'", "('x', 'H')", "'e', 1", "'l', -3, 10"], "endswith": ["'d'", "('x', 'd')", "'l', 1, 4"], "zfill": ["30"], "ljust": ["20, '*'", "20, '**'"], "rjust": ["20, '*'"],
    "get": ["'b'", "'role'", "'zz', 1", "[]", "1"], "fromkeys": ["['a', 'b']", "'ab', 1"], "index": ["1", "'A', 1", "3, 0, 1"], "count": ["1", "true", "'a'"], "is_integer": [], "as_integer_ratio": [], "hex": [], "bit_length": [], "cycle": ["1, 2"],
    "in": ["[1, 'a', none]", "'abc'", "{}"], "sameas": ["none", "true", "1"], "divisibleby": ["2", "0", "2.5", "'x'"], "cycler": ["1, 2"], "namespace": ["a=1", "{'a': 1}", "[['a', 1]]"], "range": ["1, 5", "5, 1, -2"], "joiner": ["'x'", "sep=1"],
}
# What a text says of these is an address in memory, or the name of a class.
OBJECTS = {"[1, 2]|map('string')", "joiner('-')", "cycler(1, 2)", "range", "dict", "'x'.upper"}
LAZY = ("map", "select", "reject", "selectattr", "rejectattr", "unique", "batch", "slice", "items", "reverse")
# Floats have an identity in Python, and undefined values a few attributes.
OTHERS = {("v is sameas(2.5)", "2.5"), ("v | attr('__class__')", "nothing")} | {(f"v.{name}", "nothing") for name in dir(jinja2.Undefined) if name.startswith("__")}
# Refused by name: what the reference gives is random, bytes, or text of no use.
EXEMPT = re.compile(r"wordwrap\(2\.5\)|\b(random|lipsum|encode|to_bytes|hex|as_integer_ratio|bit_length|bit_count|conjugate|fromhex|from_bytes|from_number)\b")


def names():
    """(kind, name)"""
    environment = jinja2.Environment()
    yield from (("filter", name) for name in environment.filters)
    yield from (("test", name) for name in environment.tests if name.isidentifier())
    yield from (("global", name) for name in environment.globals)
    kinds = ["", [], (), {}, 1, 1.5, None, range(3), {}.keys(), {}.items(), (x for x in ()), len, object]
    for name in sorted({name for kind in kinds for name in dir(kind)}) + ["next", "reset", "current", "__html__", "zz", "striptags", "unescape", "mro", "gi_frame", "__name__"]:
        yield "method", name


def operations():
    """Expressions over v."""
    for kind, name in names():
        for arguments in ARGUMENTS + SPECIAL.get(name, []):
            call = f"({arguments})" if arguments else ""
            if kind == "global":
                yield f"{name}({arguments})"
            elif kind == "filter":
                yield f"v | {name}{call}" + (" | list" if name in LAZY else "")
            elif kind == "test":
                yield f"v is {name}{call}"
            elif arguments:
                yield f"v.{name}{call}"
            else:
                yield from (f"v.{name}", f"v.{name}()", f"v['{name}'] is defined")


class Reference:
    """Renders "{{ operation }}" with v, in the environment that transformers makes."""

    def __init__(self):
        self.environment = chat_template_utils._compile_jinja_template("").environment
        self.variables = {**VARIABLES, **reference.SPECIAL_TOKENS, "messages": [{"role": "user", "content": "x"}]}
        self.values = [self.environment.compile_expression(value, undefined_to_none=False) for value in VALUES]

    def compiled(self, operation):
        try:
            return self.environment.from_string("{{ " + operation + " }}")
        except jinja2.TemplateError as error:
            return error

    def render(self, template, i):
        variables = copy.deepcopy(self.variables)  # indent changes lists
        try:
            if isinstance(template, Exception):
                raise template
            return template.render({**variables, "v": self.values[i](variables)}), None
        except Exception as error:  # noqa: BLE001 - whatever the reference raises
            return None, f"{type(error).__name__}: {error}"


def main():
    program, word = sys.argv[1], (sys.argv + [""])[2]
    request = json.dumps({"messages": [{"role": "user", "content": "x"}], **VARIABLES})
    chosen = [operation for operation in operations() if word in operation]
    cases = [(operation, i) for operation in chosen for i in range(len(VALUES) if re.search(r"\bv\b", operation) else 1)]
    with tempfile.TemporaryFile("w+") as file:
        for operation, i in cases:
            template = "{% set v = " + VALUES[i] + " %}{{ " + operation + " }}"
            file.write(json.dumps({"template": template, "special_tokens": reference.SPECIAL_TOKENS}) + "\n" + request + "\n")
        file.seek(0)
        outputs = subprocess.run([program], stdin=file, capture_output=True, text=True, check=False).stdout.splitlines()
    if len(outputs) != len(cases):
        print("the program ended at", cases[len(outputs)])
        return 1
    python, counts, template, last = Reference(), collections.Counter(), None, None
    for (operation, i), output in zip(cases, map(json.loads, outputs)):
        if operation != last:
            template, last = python.compiled(operation), operation
        text, error = python.render(template, i)
        if text is None and "text" not in output:
            counts["refused by both"] += 1
        elif text is not None and "text" in output and comparable(text) == comparable(output["text"]):
            counts["same"] += 1
        elif "text" not in output and EXEMPT.search(operation):
            counts["refused by Alate only, by name"] += 1
        elif VALUES[i] in OBJECTS or (operation, VALUES[i]) in OTHERS:
            counts["different in names and addresses of objects"] += 1
        else:
            counts["different"] += 1
            print(f"{operation}   v = {VALUES[i]}\n  reference: {text!r} {error}\n  alate:     {output.get('text', output.get('error'))!r}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
