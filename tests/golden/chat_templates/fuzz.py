#!/usr/bin/env python3
"""Random templates, rendered by jinja2 as transformers sets it up and by Alate; prints where they differ.

    fuzz.py PROGRAM [COUNT] [SEED]

PROGRAM is the test program `render_templates` (a template as a JSON line, then a request, gives a JSON line). Texts must
be equal; where the reference fails, Alate must fail too. Differences found become goldens (record.py).
"""
import json
import random
import re
import subprocess
import sys

import reference  # noqa: F401 - beside this file

NAMES = ["a", "b", "items", "message", "text", "n", "x", "nothing", "pairs", "ns"]
VARIABLES = {
    "a": 3, "b": -2.5, "items": [3, 1, 2, "b", "A"], "text": "Hello, wörld! ß  ", "n": 0, "x": [{"k": "v1", "n": 2}, {"k": "V0", "n": 1}, {"k": "v1"}],
    "message": {"role": "user", "content": "hi\nthere", "items": 1, "n": None, "list": [1, [2, {"q": "'"}], "\u00e9\""]},
    "pairs": [["b", 1], ["a", 2]], "f": 1e16, "g": 0.1, "t": True,
}
# What makes a value of a type, from values of types in angle brackets. "any" is now and then what a filter does not expect.
PRODUCTIONS = {
    "text": ["text", "'a'", "'Bc d'", "\"q'\"", "'é\\n\\t\\x41'", "message.role", "message.content", "x[0].k", "<text>|trim", "<text>|upper", "<text>|lower", "<text>|title", "<text>|capitalize",
             "<list>|join", "<list>|join(', ')", "<list>|join('-', attribute='k')", "<text>|replace('l', 'L')", "<text>|replace('', '.')", "<text>|replace('o', '0', 1)", "<any>|string", "<any>|tojson",
             "<any>|tojson(indent=2)", "<dict>|tojson(sort_keys=true)", "<any>|tojson(separators=(',', ':'))", "<any>|tojson(ensure_ascii=true)", "<text>|safe", "<text>|e", "<any>|escape", "<text>|indent",
             "<text>|indent(2, true)", "<text>|indent('> ', blank=true)", "<text>|truncate(8)", "<text>|truncate(5, true)", "<text>|truncate(9, false, '!', 0)", "<dict>|xmlattr", "<any>|urlencode", "<text>|center(20)",
             "<text>|forceescape", "<text>|striptags", "<text>|urlize", "<text>|wordwrap(<int>)", "<text>|wordwrap(7, false)", "<any>|pprint", "<text>.translate(<any>)", "<text>.translate('x'.maketrans('el', 'XY', 'o'))", "<int>|filesizeformat", "<text>|reverse", "<text> ~ <any>", "<text> + <text>", "<text> * 2", "<text>[<int>]", "<text>[<bound>:<bound>]", "<text>[<bound>:<bound>:<step>]", "<text>|first", "<text>|last",
             "<text>.strip()", "<text>.lstrip()", "<text>.rstrip('! ')", "<text>.strip('H ')", "<text>.replace('l', '')", "<text>.upper()", "<text>.lower()", "<text>.title()", "<text>.capitalize()", "<text>.swapcase()",
             "<text>.casefold()", "<text>.join(['a', 'b'])", "<text>.zfill(20)", "<text>.ljust(20, '.')", "<text>.rjust(20)", "<text>.center(21, '*')", "<text>.removeprefix('He')", "<text>.removesuffix(' ')",
             "<text>.expandtabs(4)", "'{} {}'.format(<any>, <any>)", "'%s' % <text>", "'%5.2f|%-6d|%x' % (<number>, <int>, 255)", "'%r' % (<any>,)", "'{:.2f}'.format(<number>)", "'{0} {0!r}'.format(<any>)",
             "'{:>8}|{:<4}|{:^7}'.format(<text>, <int>, 'c')", "'{:,}'.format(<number>)", "'%05d' % <int>", "'{:e}'.format(<number>)", "'{x[k]}'.format(x={'k': <any>})", "'%(k)s' % {'k': <any>}", "'{:08.3f}'.format(<number>)",
             "'{:+d}'.format(<int>)", "'%g' % <number>", "'{:x}'.format(<int>)", "'{:g}'.format(<number>)", "'{:.1%}'.format(<number>)", "'%s and %d'|format(<any>, <int>)", "<any> if <bool> else <text>", "<any>|default(<text>)", "<text> or <text>",
             "(<text>|e) + <text>", "(<text>|safe).join(<list>|map('string'))", "(<text>|safe) % <text>"],
    "int": ["a", "n", "0", "1", "2", "10", "-1", "100000000000000000000", "<list>|length", "<text>|length", "<dict>|length", "<text>|count", "<int> + <int>", "<int> - <int>", "<int> * <int>", "<int> // <int>", "<int> % <int>",
            "<int>|abs", "<any>|int", "<text>|int(7)", "<number>|int", "<text>.find('l')", "<text>.rfind('l')", "<text>.find('l', 4)", "<text>.count('l')", "<list>.index(1)", "<list>.count(1)", "<list>|map('int')|sum", "<list>|sum",
            "<text>|wordcount", "-<int>", "+<int>", "<int>|round", "<list>|sum(attribute='n')", "<int> ** 2"],
    "number": ["b", "f", "g", "<int>", "<int>", "1.5", "0.1", "1e3", "<number> + <number>", "<number> * <number>", "<number> / <number>", "<number> // <number>", "<number> % <number>", "<number>|round(1)", "<number>|round(1, 'floor')",
               "<number>|round(0, 'ceil')", "<any>|float", "<number> ** 0.5", "-<number>", "<number>|abs", "<number>|round(-1)"],
    "bool": ["true", "false", "t", "<any> == <any>", "<any> != <any>", "<number> < <number>", "<number> <= <number>", "<text> > <text>", "<text> in <text>", "<any> in <list>", "<text> not in <dict>", "not <any>", "<any> and <any>",
             "<any> or <any>", "<any> is defined", "<any> is undefined", "<any> is none", "<any> is string", "<any> is number", "<any> is integer", "<any> is float", "<any> is boolean", "<any> is true", "<any> is false", "<any> is mapping",
             "<any> is iterable", "<any> is sequence", "<any> is callable", "<int> is equalto 3", "<any> is not eq 3", "<any> is ne(3)", "<int> is lt 2", "<int> is gt(1)", "<any> is in [1, 2, 3]", "<int> is odd", "<int> is even",
             "<int> is divisibleby 3", "<text> is lower", "<text> is upper", "<any> is sameas none", "<bool> is sameas true", "<text> is escaped", "<text> is filter", "'upper' is filter", "'odd' is test", "<text>.startswith('He')",
             "<text>.endswith(('!', ' '))", "<text>.isdigit()", "<text>.isalpha()", "<text>.isspace()", "<text>.isupper()", "<text>.islower()", "<text>.istitle()", "<text>.isalnum()", "<number> < <number> <= <number>", "<list> < <list>"],
    "list": ["items", "x", "pairs", "message.list", "[]", "[1, 2, 3]", "['b', 'a', 'C']", "(1, 2)", "(1,)", "[[1, 2], [3, 4]]", "range(3)", "range(5, 0, -2)", "[<any>, <any>]", "(<any>, <any>)", "<text>|list", "<dict>|list", "<list>|list",
             "<list>|sort", "<list>|sort(reverse=true)", "x|sort(attribute='k')", "x|sort(attribute='n,k')", "<list>|sort(case_sensitive=true)", "<list>|unique|list", "x|unique(attribute='k')|list", "<list>|reverse|list",
             "<list>|map('upper')|list", "x|map(attribute='k')|list", "x|map(attribute='n', default=9)|list", "<list>|select|list", "<list>|select('string')|list", "<list>|select('gt', 1)|list", "<list>|reject('string')|list",
             "x|selectattr('n')|list", "x|selectattr('n', 'defined')|list", "x|rejectattr('n')|list", "x|selectattr('k', 'equalto', 'v1')|list", "x|groupby('k')", "x|groupby('k')|map(attribute='list')|list",
             "x|groupby('n', default=5)", "<dict>|dictsort", "<dict>|dictsort(by='value')", "<dict>|dictsort(reverse=true)", "<dict>|items|list", "<list>|batch(2)|list", "<list>|batch(2, 'z')|list", "<list>|slice(2)|list",
             "<list>|slice(2, 'z')|list", "<text>.split()", "<text>.split(',')", "<text>.split('l', 1)", "<text>.rsplit('l', 1)", "<text>.rsplit(none, 1)", "<text>.splitlines()", "<text>.splitlines(true)", "<text>.partition(',')",
             "<text>.rpartition('l')", "<dict>.items()|list", "<dict>.keys()", "<dict>.values()", "<dict>.items()", "<list>[<bound>:<bound>]", "<list>[<bound>:<bound>:<step>]", "<list> + <list>", "<list> * 2", "<list>|map('string')|list",
             "<list>|map('tojson')|list", "<list>|map('default', 3)|list"],
    "dict": ["message", "x[0]", "{}", "{'a': 1, 'b': [1]}", "dict(a=1)", "dict(pairs)", "dict(message, role='r')", "{<text>: <any>, 'k': <any>}", "{1: <any>, true: 2, 1.0: 3}", "x|first", "<dict>.copy()"],
    "any": ["<text>", "<int>", "<number>", "<bool>", "<list>", "<dict>", "none", "nothing", "message.zz", "<dict>.role", "<dict>.get('role')", "<dict>.get('zz', 5)", "<dict>['n']", "<dict>.items", "<list>[<int>]", "<list>|first", "<list>|last",
            "<list>|min", "<list>|max", "x|max(attribute='k')", "<any> if <bool> else <any>", "<any> if <bool>", "<any>|default('d')", "<any>|d", "<any>|default('d', true)", "message.list[1][1].q", "<text>.zz", "<list>.0", "namespace(a=1).a"],
}
BOUNDS = ["", "0", "1", "-1", "2", "-2", "5"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.macros = 0

    def pick(self, choices):
        return self.random.choice(choices)

    def expression(self, depth, kind="any"):
        if self.random.random() < 0.03:
            kind = "any"
        choices = PRODUCTIONS[kind]
        if depth <= 0:
            choices = [each for each in choices if "<" not in re.sub(r" <=? | is ", "", each) or kind == "any" and each.count("<") == 1]
        if depth <= 0 and kind == "any":
            return self.expression(0, self.pick(["text", "int", "number", "bool", "list", "dict"]))
        production = self.pick(choices)

        def replaced(match):
            if match[1] == "bound":
                return self.pick(BOUNDS)
            if match[1] == "step":
                return self.pick(["1", "2", "-1", "-2"])
            inner = self.expression(depth - 1, match[1])
            is_plain = re.fullmatch(r"[a-z]\w*|'[^']*'|\[[^\[\]]*\]", inner) and "%" not in inner
            return inner if is_plain else f"({inner})"
        return re.sub(r"<(\w+)>", replaced, production)

    def tag(self, body):
        return "{%" + self.pick(["", "", "", "-", "+"]) + " " + body + " " + self.pick(["", "", "", "-", "+"]) + "%}"

    def data(self):
        return self.pick(["", "", " ", "\n", "\n  ", "x", "\ty\n", "  \n\n  ", "é ", "{# c #}", "  {#- c -#}\n", "<b>", "{% raw %} {{ r }} {%- endraw %}\n"])

    def target(self):
        return self.pick(["v", "w", "v, w", "a", "ns.q", "text", "(v, w)", "n"])

    def statement(self, depth, in_loop=False):
        body = lambda loop=in_loop: self.block(depth - 1, loop)
        e = lambda d=2: self.expression(d)
        kind = self.random.randrange(100)
        if depth <= 0 or kind < 34:
            sign = self.pick(["", "", "-"])
            return "{{" + sign + " " + e(self.random.randrange(1, 5)) + " " + self.pick(["", "", "-"]) + "}}"
        if kind < 46:
            text = self.tag(f"if {e()}") + body()
            if self.random.random() < 0.4:
                text += self.tag(f"elif {e()}") + body()
            if self.random.random() < 0.5:
                text += self.tag("else") + body()
            return text + self.tag("endif")
        if kind < 64:
            condition = f" if {self.pick([e(1), e(1), self.kept(), 'ns.q is number or ' + self.kept()])}" if self.random.random() < 0.3 else ""
            over = self.pick(["items", "x", "message", "range(3)", "'ab'", "pairs", "message.items()", "[1, 2, 3]|reverse", e(2), "x|selectattr('n')"])
            recursive = " recursive" if self.random.random() < 0.05 else ""
            text = self.tag(f"for {self.pick(['v', 'v', 'i', 'v, w', 'n'])} in {over}{condition}{recursive}") + body(True)
            if self.random.random() < 0.25:
                text += self.tag("else") + body()
            return text + self.tag("endfor")
        if kind < 76:
            return self.tag(f"set {self.target()} = {e()}" + (f", {e(1)}" if self.random.random() < 0.2 else ""))
        if kind < 80:
            return self.tag("set " + self.pick(["v", "text", "ns.q"]) + self.pick(["", "|upper", "|trim|length"])) + body() + self.tag("endset")
        if kind < 84:
            self.macros += 1
            name = f"m{self.macros}"
            parameters = self.pick(["", "v", "v, w=2", "v='d', w=v"])
            call = f"{name}(" + self.pick(["", "1", "1, 2", "v=3", "w=4", "*[1, 2]", "1, 2, 3", "**{'v': 1}", "1, z=2"]) + ")"
            extra = self.pick(["", "", "{{ varargs }}{{ kwargs }}", "{{ caller() }}", "{% if caller %}{{ caller(1) }}{% endif %}"])
            text = self.tag(f"macro {name}({parameters})") + self.block(depth - 1, False) + extra + self.tag("endmacro")
            if self.random.random() < 0.4:
                return text + self.tag(self.pick(["call ", "call(v) ", "call(w=1) "]) + call) + self.block(depth - 1, False) + self.tag("endcall")
            return text + "{{ " + call + " }}"
        if kind < 87:
            return self.tag("filter " + self.pick(["upper", "trim", "indent(2)", "replace('a', 'b')|title", "e"])) + body() + self.tag("endfilter")
        if kind < 91:
            return self.tag(f"with {self.pick(['v', 'a'])} = {e()}" + self.pick(["", ", w = 2"])) + body() + self.tag("endwith")
        if kind < 92:
            self.macros += 1
            return self.tag(f"block b{self.macros}{self.pick(['', ' scoped'])}") + self.block(depth - 1, False) + self.tag("endblock")
        if kind < 93:
            return self.tag("generation") + self.block(depth - 1, False) + self.tag("endgeneration")
        if kind < 96 and in_loop:
            return self.tag(self.pick(["break", "continue"])) if self.random.random() < 0.5 else self.tag("if loop.index > 1") + self.tag(self.pick(["break", "continue"])) + self.tag("endif")
        if in_loop and self.random.random() < 0.5:
            keeps = self.tag("set ns.q = " + self.pick(["loop", "loop", "loop.changed", "loop.cycle", "[loop]", "[ns]|map(attribute='q')|map('list')", "[ns, 1]|map(attribute='q')|unique"]))
            return keeps + "{{ " + self.kept() + " }}"
        if in_loop:
            return "{{ loop." + self.pick(["index", "index0", "first", "last", "length", "revindex", "revindex0", "previtem", "nextitem", "depth", "cycle('a', 'b')", "changed(v)"]) + " }}"
        return self.tag("set ns = namespace(" + self.pick(["", "q=1", "{'q': 2}", "q=[]"]) + ")")

    def kept(self):
        """An expression over what a loop has left in the namespace."""
        return self.pick(["ns.q.length", "ns.q.last", "ns.q.nextitem", "ns.q.previtem", "ns.q.revindex", "ns.q.index0", "ns.q", "ns.q|string", "ns.q|list", "ns.q|first", "ns.q|length", "ns.q(1)", "ns.q(v)", "ns.q.changed(v)", "ns.q.cycle(1, 2)", "ns.q is defined", "[ns.q]|map(attribute='length')|list", "[ns.q]|join"])

    def block(self, depth, in_loop):
        return "".join(self.data() + self.statement(depth, in_loop) for _ in range(self.random.randrange(1, 5))) + self.data()


# Places of objects in memory, which no two programs share, and names of our own for them.
def comparable(text):
    return re.sub(r"<[\w.<>]+ object[^>]*>|<(built-in )?(bound )?(method|function)[^>]*>|<bound method.*?>>|<Namespace.*?>", "<object>", text)


def main():
    program, count, seed = sys.argv[1], int((sys.argv + [1000])[2] if len(sys.argv) > 2 else 1000), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    request = {"messages": [{"role": "user", "content": "x"}], **VARIABLES}
    generators = [Generator(seed * 1_000_003 + i) for i in range(count)]
    templates = ["{% set ns = namespace(q=1) %}" + g.block(3, False) for g in generators]
    templates = ["{{ " + Generator(seed * 7_000_003 + i).expression(5) + " }}" if i % 2 else t for i, t in enumerate(templates)]
    lines = "".join(json.dumps({"template": t, "special_tokens": reference.SPECIAL_TOKENS}) + "\n" + json.dumps(request) + "\n" for t in templates)
    outputs = subprocess.run([program], input=lines, capture_output=True, text=True, check=False).stdout.splitlines()
    if len(outputs) != len(templates):
        print("the program ended at", json.dumps(templates[len(outputs)]))
        return 1
    same = failed = different = 0
    for template, output in zip(templates, outputs):
        output = json.loads(output)
        text, error = reference.render_or_error(template, request)
        if text is None and output.get("text") is None:
            failed += 1
        elif text is not None and output.get("text") is not None and comparable(text) == comparable(output["text"]):
            same += 1
        else:
            different += 1
            print(json.dumps(template), "\n  reference:", repr(text) if text is not None else error, "\n  alate:    ", repr(output.get("text", output.get("error"))))
    print(f"{same} same, {failed} refused by both, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
