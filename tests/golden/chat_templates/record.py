#!/usr/bin/env python3
"""Records cases.jsonl: own templates, a feature each, and conversations, with what transformers makes of them.

    HF_HUB_OFFLINE=1 record.py > cases.jsonl       (transformers 5.24.0, jinja2 3.1.6)

A line is a case: `template` (text, or texts by name), `request`, and `text`, or `refused` where the reference fails;
`generated` where the template marks what a model generates.
"""
import json
import sys

import conversations
import reference
from conversations import ASK, ANSWER, CALL, DOCUMENTS, NULLS, PARTS, REASONED, RESULT, SYSTEM, THANKS, THOUGHT, WEATHER

# Templates in the manner of models: each is rendered with every conversation.
CHAT = {
    "turns": """{% for message in messages %}{{ '<|' ~ message.role ~ '|>' }}
{{ message['content'] | trim }}{{ eos_token }}
{% endfor %}
{%- if add_generation_prompt %}<|assistant|>
{% endif %}""",
    "system_and_checks": """{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim -%}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('Roles must alternate: ' + message['role'] + ' at ' ~ loop.index) }}
    {%- endif %}
    {%- if message['role'] == 'user' %}
        {%- if loop.first and system_message is defined %}
            {{- '[INST] ' + system_message + '\n\n' + message['content'] + ' [/INST]' }}
        {%- else %}
            {{- '[INST] ' + message['content'] + ' [/INST]' }}
        {%- endif %}
    {%- elif message['role'] == 'assistant' %}
        {{- ' ' + message['content'] | trim + eos_token }}
    {%- endif %}
{%- endfor %}""",
    "tools": """{%- macro schema(properties, depth=0) -%}
    {%- for name, spec in properties | dictsort -%}
        {{ '  ' * depth }}- {{ name }}: {{ spec.type if spec.type is string else spec.type | join('|') }}
        {%- if spec.enum %} one of {{ spec.enum | map('tojson') | join(', ') }}{% endif %}
        {%- if spec.description is defined %} ({{ spec.description }}){% endif %}
{{ '\n' }}
        {%- if spec.properties %}{{ schema(spec.properties, depth + 1) }}{% endif %}
    {%- endfor -%}
{%- endmacro -%}
{% set ns = namespace(calls=0, last=none) %}
{%- if tools %}
TOOLS
{% for tool in tools if tool.type == 'function' %}
{{ loop.index }}/{{ loop.length }} {{ tool.function.name }}: {{ tool.function.description }}
{{ schema(tool.function.parameters.properties) }}{{ tool.function | tojson(indent=2) }}
{% else %}
none
{% endfor %}
{% endif %}
{%- for message in messages %}
{%- if message.tool_calls %}
{%- for tool_call in message.tool_calls %}
{%- set ns.calls = ns.calls + 1 %}{% set function = tool_call.function %}
<call id={{ tool_call.id | default('#' ~ ns.calls) }}>{{ function.name }}
{%- if function.arguments is mapping %}
{%- for key, value in function.arguments.items() %} {{ key }}={{ value if value is string else value | tojson }}{% endfor %}
{%- else %} {{ function.arguments }}{% endif %}</call>
{%- set ns.last = function.name %}
{%- endfor %}
{%- elif message.role == 'tool' %}
<result of={{ message.name or ns.last }}>{{ message.content if message.content is string else message.content | tojson }}</result>
{%- else %}
<{{ message.role }}>{{ message.content }}</{{ message.role }}>
{%- endif %}
{%- endfor %}""",
    "reasoning": """{%- set ns = namespace(last_user=-1) %}
{%- for message in messages[::-1] %}
{%- set index = (messages | length - 1) - loop.index0 %}
{%- if ns.last_user < 0 and message.role == 'user' %}{% set ns.last_user = index %}{% endif %}
{%- endfor %}
{%- for message in messages %}
{%- set content = message.content if message.content is string else '' %}
{%- set reasoning = '' %}
{%- if message.reasoning_content is string %}
{%- set reasoning = message.reasoning_content %}
{%- elif '</think>' in content %}
{%- set reasoning = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
{%- set content = content.split('</think>')[-1].lstrip('\n') %}
{%- endif %}
<{{ message.role }}{{ ' thinks="' ~ message.thinking ~ '"' if message.thinking }}>
{%- if reasoning and (loop.last or loop.index0 > ns.last_user) -%}
<think>{{ reasoning.strip('\n') }}</think>
{%- endif -%}
{{ content }}
{%- endfor %}
{%- if add_generation_prompt %}<assistant>{{ '<think></think>' if enable_thinking is defined and enable_thinking is false }}{% endif %}""",
    "parts": """{%- for message in messages %}
{%- if message.content is string %}{{ message.role }}: {{ message.content }}
{% elif message.content is iterable and message.content is not mapping %}{{ message.role }}:
{%- for part in message.content %}
{%- if part.type == 'image' %}<image {{ loop.index0 }}>{% elif part['type'] == 'text' %}{{ part.text }}{% endif %}
{%- endfor %}
{% else %}{{ message.role }}: ({{ message.content }})
{% endif %}
{%- endfor %}""",
    "generation": """{% for message in messages %}
{%- if message.role == 'assistant' %}
A:{% generation %}{{ message.content }}{{ eos_token }}{% endgeneration %}
{% else %}
{{ message.role }}: {{ message.content }}
{% endif %}
{%- endfor %}""",
    "documents": """{% for document in documents or [] %}
Document: {{ loop.index0 }}
{% for key, value in document.items() %}
{{ key | title }}: {{ value | string | trim | indent(2) }}
{% endfor %}
{% if not loop.last %}

{% endif %}
{% else %}
no documents
{% endfor %}
{{ messages[-1].content }}""",
}

# One feature each.
FEATURES = r"""
{{ 1 + 2 * 3 ** 2 - 4 // 3 % 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7.5 // -2 }} {{ 7.5 % -2 }} {{ 2 ** -1 }} {{ 1 / 3 }} {{ 2 ** 100 }}
{{ 10000000000000000.0 }} {{ 1e22 }} {{ 1e-5 }} {{ 0.0001 }} {{ 123456789.123 }} {{ -0.0 }} {{ 1.0 }} {{ 1e16 }} {{ 100 | float }} {{ 1_000 + 0x1F + 0b11 + 0o17 }}
{{ 'a' ~ 1 ~ none ~ true ~ 1.5 ~ [1, 'b'] }} {{ 'ab' * 3 }} {{ [1] * 2 + [3] }} {{ (1, 2) + (3,) }} {{ "%s-%05.1f-%x" % ('a', 2.25, 255) }}
{{ 1 < 2 < 3 }} {{ 3 > 2 >= 2 == 2 != 1 }} {{ 'b' in 'abc' }} {{ 4 not in [1, 2] }} {{ 1 == 1.0 == true }} {{ [1] == [1.0] }} {{ none is none and not false }}
{{ 0 or 'x' }} {{ 'a' and '' }} {{ not [] }} {{ 'y' if false }}|{{ 'y' if 1 else 'n' }} {{ ('a' if true else 'b') ~ 'c' }}
{{ 'abcdef'[1:4] }} {{ 'abcdef'[::-2] }} {{ [1, 2, 3, 4][-3:] }} {{ 'häß'[1] }} {{ 'häß'[-1] }} {{ (1, 2, 3)[:2] }} {{ range(10)[2:8:3] }} {{ range(5) | list }}
{{ {'a': 1, 'b': {'c': [1, none, 'x"y']}} }} {{ {1: 2, 'k': 3}.k }} {{ {'a': 1}.items() }} {{ {'a': 1}['zz'] }} {{ {'items': 5}['items'] }} {{ {'a': 1} | items | list }}
{{ ['it\'s', "say \"hi\"", 'both \' and "', 'tab\tnew\n', '\x00\x7f', 'é', '\u200b', '🌞'] }}
{{ "tojson: <>&'" | tojson }} {{ {'é': ['☃', 1.0, 1e-7, none, true]} | tojson }} {{ {'é': '☃🌞'} | tojson(ensure_ascii=true) }} {{ [1, {'b': [], 'a': {}}] | tojson(indent=2, sort_keys=true) }} {{ [1, 2] | tojson(separators=(',', ':')) }}
{{ '<a>' | e }} {{ ('<b>' | safe) + '<c>' }} {{ '<d>' + ('<e>' | safe) }} {{ ['<f>' | safe] }} {{ ('<g>' | safe) ~ '<h>' }} {{ ('%s' | safe) % '<i>' }}
{{ ' x ' | trim }}|{{ '--x-' | trim('-') }}|{{ ' x '.lstrip() }}|{{ ' x '.rstrip() }}|{{ 'xyx'.strip('x') }}|{{ 'a,b,,c'.split(',') }}|{{ ' a  b '.split() }}|{{ 'a b c'.split(' ', 1) }}|{{ 'a b c'.rsplit(none, 1) }}
{{ 'hello wORLD-foo' | title }} {{ "they're".title() }} {{ 'ÀB ß' | lower }} {{ 'straße ﬁ' | upper }} {{ 'ΑΣ'.lower() }} {{ 'élan vital' | capitalize }} {{ 'ǆ'.title() }} {{ 'Straße'.casefold() }} {{ 'aB'.swapcase() }}
{{ 'a-b' | replace('-', '+') }} {{ 'aaa' | replace('a', 'b', 2) }} {{ 'ab'.replace('', '.') }} {{ 'x'.join(['1', '2']) }} {{ [1, none, 'z'] | join('-') }} {{ 'abc'.find('c') }} {{ 'abc'.startswith(('x', 'ab')) }} {{ 'ab\ncd\r\ne'.splitlines() }} {{ 'a=b=c'.partition('=') }}
{{ [3, 1, 2] | sort }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A', 'c'] | sort(case_sensitive=true, reverse=true) }} {{ [{'n': 2}, {'n': 1}] | sort(attribute='n') }} {{ ['a', 'A', 'b'] | unique | list }} {{ [1, 2, 3] | reverse | list }} {{ 'abc' | reverse }}
{{ [1, 2, 3, 4, 5] | batch(2, 0) | list }} {{ [1, 2, 3, 4, 5] | slice(3) | list }} {{ [1, 2, 3] | sum }} {{ [{'p': 1.5}, {'p': 2}] | sum(attribute='p') }} {{ [3, 1] | min }} {{ ['b', 'C'] | max }} {{ [] | first }}|{{ [1, 2] | last }} {{ [] | max }}
{{ [{'r': 'a', 'v': 1}, {'r': 'b'}, {'r': 'A', 'v': 2}] | groupby('r') }}{% for role, group in [{'r': 'a', 'v': 1}, {'r': 'b'}] | groupby('r') %}{{ role }}={{ group | length }}{% endfor %} {{ {'b': 1, 'a': 2} | dictsort }} {{ {'b': 1, 'a': 2} | dictsort(by='value', reverse=true) }}
{{ [0, 1, '', 'x', none] | select | list }} {{ [1, 2, 3] | select('odd') | list }} {{ [1, 2, 3] | reject('gt', 1) | list }} {{ [{'a': 1}, {'b': 2}] | selectattr('a', 'defined') | map(attribute='a') | list }} {{ ['a', 'b'] | map('upper') | join }} {{ [{'a': {'b': 3}}] | map(attribute='a.b') | first }}
{{ '42' | int }} {{ '4.7' | int }} {{ 'x' | int(-1) }} {{ '0x1f' | int(0, 16) }} {{ ' 1_0 ' | int }} {{ 3.99 | int }} {{ '1e3' | float }} {{ 'x' | float }} {{ -3 | abs }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 2.675 | round(2) }} {{ 42.1 | round(0, 'ceil') }} {{ 1234 | round(-2) }} {{ 5 | round }}
{{ 'one two-three' | wordcount }} {{ 'a long sentence here' | truncate(9) }} {{ 'a long sentence here' | truncate(9, true, '…') }} {{ 'a\nb\n\nc' | indent }} {{ 'a\nb\n\nc' | indent(2, true, true) }} {{ 'x' | center(5) }}| {{ 'a b/ü' | urlencode }} {{ {'a': 1, 'b': 'x y'} | urlencode }} {{ {'id': 'x', 'n': none} | xmlattr }} {{ 13000 | filesizeformat }}
{{ undefined_name }}|{{ undefined_name | default('d') }}|{{ none | default('d') }}|{{ none | default('d', true) }}|{{ '' | d('e', true) }}|{{ undefined_name is defined }}|{{ messages[0].zz is undefined }}|{{ undefined_name | length }}|{{ undefined_name ~ 'x' }}|{% for i in undefined_name %}x{% endfor %}|{{ undefined_name == other_name }}
{{ 1 is number }} {{ true is number }} {{ 1.0 is integer }} {{ 1 is integer }} {{ 'a' is string }} {{ [] is sequence }} {{ {} is mapping }} {{ range(2) is iterable }} {{ 3 is odd }} {{ 4 is divisibleby 2 }} {{ 'A' is upper }} {{ none is none }} {{ 1 is sameas 1 }} {{ range is callable }} {{ 2 is in [1, 2] }} {{ 'x' is eq 'x' }} {{ 1 is not string }} {{ 'upper' is filter }} {{ 'nope' is test }}
{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.cycle('a', 'b') }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.changed(i // 2) }} {% endfor %}
{% for i in range(10) if i % 2 %}{% if i == 5 %}{% continue %}{% elif i > 7 %}{% break %}{% endif %}{{ i }}:{{ loop.index }}/{{ loop.length }}{{ loop.last }} {% endfor %}{% for x in [] %}{% else %}empty{% endfor %}{% for x in [1] %}{% break %}{% else %}broken{% endfor %}
{% for a, (b, c) in [[1, [2, 3]]] %}{{ a + b + c }}{% endfor %}{% for k, v in {'x': 1}.items() %}{{ k }}{{ v }}{% endfor %}{% for c in 'añb' %}[{{ c }}]{% endfor %}
{% for item in [{'n': 1, 'c': [{'n': 2, 'c': [{'n': 3}]}]}] recursive %}<{{ item.n }} d{{ loop.depth }}{{ loop.depth0 }}>{{ loop(item.c) if item.c }}{% endfor %}
{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = i * 10 %}{{ x }}{% endfor %}{{ x }}{% if true %}{% set x = 'if' %}{% endif %}{{ x }}{% set a, b = 1, [2] %}{{ a }}{{ b }}{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}
{% set block %}a {{ 1 }} b{% endset %}{{ block | upper }}{% set up | upper | replace('X', 'y') %}x{{ 'z' }}{% endset %}{{ up }}{% filter upper %}q{{ 'r' }}{% endfilter %}{% with a = 1, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}
{% macro m(a, b='d', c=a) %}[{{ a }}{{ b }}{{ c }}{{ varargs }}{{ kwargs }}]{% endmacro %}{{ m(1) }}{{ m(1, 2, 3, 4, z=5) }}{{ m(b=1, a=2) }}{{ m() }}{{ m(*[7, 8], **{'c': 9}) }}{{ m.name }}{{ m.arguments }}{{ m }}
{% macro list(items) %}{% for i in items %}{{ caller(i, loop.index) }}{% endfor %}{% endmacro %}{% call(item, n) list(['a', 'b']) %}<{{ n }}{{ item }}>{% endcall %}{% macro none_given() %}{{ caller is defined }}{% endmacro %}{{ none_given() }}
{% macro outer() %}{% set v = 'in' %}{% macro inner() %}{{ v }}{% set v = 'inner' %}{{ v }}{% endmacro %}{{ inner() }}{{ v }}{% endmacro %}{% set v = 'out' %}{{ outer() }}{{ v }}
{% raw %}{{ not }} {% if %}{% endraw %}|  {#- comment -#}  |{{- ' a ' -}}  |
{% if true %}kept{% endif %}
  {% if true %}
    indented
  {% endif %}
{%+ if true %}plus{% endif +%}
{{ 'a' 'b' "c" }} {{ "\x41\u00e9\U0001F31E\101\'\"\\ \d\n" }} {{ 'é\é' }} {{ [1, 2,] }} {{ (1,) }} {{ () }} {{ {'a': 1,} }} {{ [1, 2].0 }} {{ [[1]][0][0] }}
{{ '{} {1}'.format(1, 2) }}
{{ '{:>6}|{:<6}|{:^6}|{:06.2f}|{:,}|{:x}|{!r}|{a.role}|{a[content]}'.format(1, 'x', 'c', 3.14159, 1234567, 255, 's', a=messages[0]) }} {{ '%d%%' % 5 }} {{ '%(a)s %(b)r' % {'a': 1, 'b': 'x'} }} {{ '%s'|format('x') }} {{ '{:.3}'.format('abcdef') }} {{ '{:e} {:g} {:.0%}'.format(12345.678, 0.00001, 0.5) }}
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{% set j = joiner('|') %}{{ j() }}x{{ j() }}y{{ dict(a=1, **{'b': 2}) }}{{ dict([['k', 'v']]) }}
{{ messages[0].items is callable }} {{ messages[0]['role'] }} {{ messages[0].get('zz', 'd') }} {{ messages[-1].content[:3] }} {{ messages | map(attribute='role') | list }} {{ messages | length }} {{ messages[0].keys() | list }}
{{ raise_exception('stop: ' ~ 1) }}
{{ undefined_name.attribute }}
{{ undefined_name + 1 }}
{{ undefined_name() }}
{{ 'a' + 1 }}
{{ [1, 2].append(3) }}
{{ {'a': 1}.update({}) }}
{{ messages.pop() }}
{{ ''.__class__ }}|{{ [].__len__ }}|{{ messages.append }}
{{ ''.__class__.__mro__ }}
{{ '{0.__class__.__mro__}'.format('x') }}
{{ range(100001) }}
{{ range(1000000) | list }}
{{ 1 / 0 }}
{{ [1, 'a'] | sort }}
{{ undefined_name | tojson }}
{{ 'x' | nosuchfilter }}
{% if false %}{{ 'x' | nosuchfilter }}{% endif %}fine
{{ 1 is nosuchtest }}
{% endfor %}
{% for %}{% endfor %}
{% if true %}
{{ 1 +
{{ 'open }}
{% set loop = 1 %}{% for i in [1] %}{% set loop = 2 %}{% endfor %}
{% set messages.x = 1 %}
{% break %}
{{ {[]: 1} }}
{{ none.x }}|{{ none['x'] }}|{{ 5.x }}
{{ namespace(a=1, b=2).b }}{% set n = namespace({'q': 1}) %}{{ n.q }}{{ n.zz }}{{ n }}
{% generation %}x{% set inside = 1 %}{% endgeneration %}{{ inside is defined }}{% set s %}{% generation %}é{% endgeneration %}{% endset %}{{ s }}{% generation %}z{% endgeneration %}
{{ '东京'.isalpha() }} {{ '٣'.isdigit() }} {{ '²'.isdigit() }} {{ '½'.isnumeric() }} {{ 'ⅷ'.isnumeric() }} {{ 'aB1'.isalnum() }} {{ ''.isalpha() }} {{ ' \t'.isspace() }} {{ 'Ab Cd'.istitle() }} {{ 'x1'.isidentifier() }} {{ '\u00a0x\u3000'.strip() }}|
{{ 'ab'.zfill(5) }} {{ '-4'.zfill(5) }} {{ 'a'.ljust(3, '.') }}{{ 'a'.rjust(3) }}{{ 'ab'.center(5, '*') }} {{ 'a\tb'.expandtabs(4) }} {{ 'abc'.removeprefix('a').removesuffix('c') }} {{ 'aXbX'.rpartition('X') }} {{ 'abab'.rfind('b') }} {{ 'abab'.count('ab') }} {{ 'abc'.index('b') }}
{{ messages | tojson(indent=4) }}
{{ messages | string }}
{{ messages }}
{{ strftime_now('%%') }}{{ strftime_now('') }}|{{ strftime_now is defined }}
{{ tools is none }} {{ tools | default('none', true) }} {{ documents }} {{ add_generation_prompt }} {{ bos_token }}{{ eos_token }}{{ pad_token }}{{ sep_token }}
{{ [1, 2, 3] | batch(0) | list }}
{{ (1, 2) < (1, 3) }} {{ [1] < [] }} {{ 'a' < 'B' }} {{ 'é' > 'z' }} {{ 1 < 2.5 }}
{{ x if x is defined else 'no x' }}{% set x = x | default([]) + [1] %}{{ x }}
{% for m in messages %}{% for n in messages %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}
{% for k in {'b': 1, 'a': 2} %}{{ k }}{% endfor %}{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}{{ v }}{% endfor %}{% for a in [1, 2] | reverse %}{{ a }}{{ loop.last }}{% endfor %}
{{ [[1, 2], [3]] | sum(start=[]) }} {{ [1, [2]] | map('string') | list }} {{ ['a'] | map('default', 'x') | list }} {{ 'abc' | first }}{{ 'abc' | last }}{{ 'cab' | sort | join }} {{ 'aab' | unique | join }} {{ {'a': 1} | list }} {{ {'a': 1} | length }} {{ {} | first }}
"""

# Blocks and other templates; filters and methods for HTML, wrapping and tables of characters.
OTHERS = [
    "{% set v = 1 %}{% block a %}{{ v }}{% set v = 2 %}{% block b %}{{ v }}{% endblock %}{% endblock a %}{{ v }}",
    "{% for i in [1, 2] %}{% block a %}[{{ i }}]{% endblock %}{% block b scoped %}({{ i }}){% endblock %}{% endfor %}",
    "{% macro m() %}{{ v }}{% block a %}{{ q }}{% endblock %}{% endmacro %}{% set q = 7 %}{{ m() }}",
    "{% set q = 2 %}{% if true %}{% set q = 3 %}{% endif %}{% block a %}{{ q }}{% macro k() %}{{ q }}{% endmacro %}{{ k() }}{% generation %}g{% endgeneration %}{% endblock %}",
    "{% block a %}{% endblock %}{% block a %}{% endblock %}", "{% block a %}{% endblock b %}", "{% block a %}{{ super() }}{% endblock %}", "{% block a required %}{% endblock %}", "{% for i in [1] %}{% block a %}{% break %}{% endblock %}{% endfor %}",
    "{% extends 'x' %}", "{% include 'x' ignore missing %}", "{% import 'x' as y %}", "{% from 'x' import y, z as w with context %}", "{% from 'x' import _y %}", "{% import 'x' %}", "{% do 1 %}", "{% trans %}a{% endtrans %}",
    "{% if false %}{% import 'x' as y %}{% from 'a' import b, c as d without context %}{% include ['a', 'b'] ignore missing without context %}{% extends q %}{% endif %}{{ y }}|{{ d }}",
    "{% autoescape false %}{{ '<' }}{% set q = 1 %}{% endautoescape %}{{ q }}",
    "{{ '<p>a &amp; b<!-- <i> --></p>\\n &lt;c&gt; &#x41;&#66; &notit; &copy &AMP; &#128; &#xD800; &zz; &#; <d' | striptags }}|{{ ('a &lt; <b>b' | safe).striptags() }}|{{ ('&eacute;&quot' | safe).unescape() }}",
    "{{ 'See www.example.com, (http://a.io/x?y=(1)), <https://b.org:8080> HTTP://[::1]/ 1.2.3.4 http://1.2.3.4:5 a.b@c.de mailto:x@y.zz q.info. @a@b.c é.com' | urlize }}",
    "{{ 'http://example.com/long/path see:x' | urlize(14, true, '_blank', rel='a b', extra_schemes=['see:']) }}",
    "{{ 'The quick-brown fox -- jumps--over the verylongwordindeed, a-b-c well-known.\\n\\n  indented\\ttext ' | wordwrap(9) }}|{{ 'abcdefgh-ij kl' | wordwrap(4, false) }}|{{ 'abc-defgh ijk' | wordwrap(5, true, '/', false) }}|{{ 'x' | wordwrap(0) if false }}",
    "{{ 'x' | wordwrap(0) }}",
    "{{ {'name': 'get_weather', 'b': [1, 2.5, none, {'deep': ('tuple', ['of', 'lists', 'that', 'are', 'long', 'enough', 'to', 'wrap'])}], 'a': 'text that is longer than the eighty characters of a line, and is broken at its spaces'} | pprint }}",
    "{{ 'first line\\nsecond line that is long enough to be broken into several literals, because it has more than eighty' | pprint }}{{ [{}, [], (), 'é\\n', ('a',)] | pprint }}{{ ('a' * 90, 1) | pprint }}",
    "{{ 'hello'.translate('x'.maketrans('lo', 'LO', 'h')) }}{{ 'abc'.translate({97: 'xx', 98: none, 99: 9731}) }}{{ 'ab'.maketrans({'a': 1, 98: 'z'}) }}{{ '\\x01b'.translate('pqr') }}",
    "{{ 5.bit_length() if false else 255.bit_count() if false else (255).bit_length() }}{{ (7).bit_count() }}{{ (0.75).as_integer_ratio() }}{{ (3).conjugate() }}{{ {'a': 1}.keys().isdisjoint(['b']) }}{{ {'a': 1}.items().mapping }}",
    "{{ (2.5) | round(none) }}{{ '' | int('b', 'c') }}{{ [1, 2, 3] | batch(none) | list }}{{ [1, 2, 3] | batch(2.0) | list }}{{ ('a<b' | safe).join([1, '<']) }}{{ 'x'.format_map(1) }}",
    "{{ [1] | sort(none) }}", "{{ 'a'.splitlines(none) }}", "{{ 'a'.center(width=5) }}", "{{ [1].copy(1) }}", "{{ range(stop=2) }}", "{{ cycler(1).next(2) }}", "{{ ''.isprintable(1) }}", "{{ {}.items() in {} }}", "{{ 'a' | pprint(1) }}",
]

# Found by fuzz.py and table.py, each where Alate differed once.
FOUND = [
    "{% set u = 10 | unique %}{{ u is defined }}",
    "{{ '{:,}'.format(text) }}",
    "{{ range(5, 0, -2) }}{{ range(5, 0, -2)[1:] }}{{ range(0, 3).index(2) }}",
    "{{ {'a': 1}|truncate(8) }}",
    "{{ nothing|last }}|{{ nothing|reverse|list }}",
    "{% for v, w in [['b', 1], ['a', 2]] if w %}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}",
    "{% for v, (w, x) in [['b', [1, 2]]] if w %}{{ loop.changed(v) }}{% for y in [[3]] if y %}{{ loop.nextitem }}{{ y }}{% endfor %}{% endfor %}",
    "{% macro m() %}{{ kwargs.keys() | list }}{{ caller() }}{% endmacro %}{% call m(a=1, **{'v': 1}) %}c{% endcall %}",
    "{{ [[]] is filter }}",
    "{{ ('a' | safe) % nothing }}{{ 'b' % nothing }}",
    "{{ -1 }}{{ -1 == 0 }}{{ 1 - 2 }}{{ 3 * -2 }}",
]

# Loops and generators that code of theirs asks for values, and that outlive the place where they were made.
KEPT = [
    *("{% set ns = namespace(l=none) %}{% for x in [1, 2, 3, 4, 5, 6, 7, 8] if ns.l is none or " + asks + " %}{% set ns.l = loop %}{{ x }}{% endfor %}" for asks in (
        "ns.l.length < 0", "ns.l.last", "ns.l.last is defined", "ns.l.nextitem", "ns.l.revindex", "ns.l.revindex0", "ns.l|string", "ns.l", "ns.l|length", "[ns.l]|map(attribute='length')|list", "'{0.length}'.format(ns.l)", "[1]|map('default', 2, ns.l)|first", "ns.l.index",
        "ns.l.previtem is defined", "x > 7 and ns.l.nextitem", "[[ns.l]]|pprint", "'%s' % ns.l", "[ns.l]|join", "[ns.l]|sort(attribute='length')", "[ns.l]|unique(attribute='last')|list", "ns.l.cycle(0, 1)", "ns.l.changed(x)")),
    "{% set ns = namespace(l=none) %}{% for x in [1, 2, 3] if ns.l is none or ns.l.previtem is defined or true %}{% set ns.l = loop %}{{ x }}{{ loop.last }}{{ loop.length }}{% endfor %}",
    "{% set ns = namespace(l=none) %}{% for x in [1, 2, 3, 4] if ns.l is none or (x > 3 and ns.l.nextitem) or x < 4 %}{% set ns.l = loop %}{{ x }}{{ loop.last }}{{ loop.nextitem }}{% endfor %}",
    "{% set ns = namespace(l=none) %}{% for x in [1, 2, 3] if ns.l is none or ns.l.length %}{% set ns.l = loop %}{{ loop.length }}{{ x }}{% endfor %}",
    "{% macro m() %}{{ ns.l.length }}{% endmacro %}{% set ns = namespace(l=none) %}{% for x in [1, 2] if not ns.l or m() %}{% set ns.l = loop %}{{ x }}{% endfor %}",
    "{% set ns = namespace(l=none) %}{% for x in [1, 2] %}{% set ns.l = loop %}{% for y in [3, 4] if ns.l.last or y == 3 %}{{ y }}{{ ns.l.length }}{% endfor %}{% endfor %}",
    "{% for x in [1, 2, 3, 4] if x % 2 == 0 %}{{ loop.length }}{{ loop.revindex }}{{ loop.last }}{{ loop.nextitem }}{{ loop.previtem }};{% endfor %}",
    "{% set ns = namespace(f=none) %}{% for x in [1, 2] %}{% set ns.f = loop.changed %}{% endfor %}{{ ns.f(7) }}{{ ns.f(8) }}",
    "{% set ns = namespace(f=none) %}{% for x in [1, 2] %}{% set ns.f = loop.cycle %}{% endfor %}{{ ns.f('a', 'b', 'c') }}",
    "{% set ns = namespace(f=none) %}{% for x in [1, 2] %}{% set ns.f = loop.changed %}{{ loop.changed(7) }}{% endfor %}{{ ns.f(7) }}{{ ns.f(8) }}{{ ns.f(8) }}",
    "{% set ns = namespace(f=[]) %}{% for x in [1, 2, 3] %}{% for y in [x] %}{% set ns.f = ns.f + [loop.changed, loop.cycle] %}{% endfor %}{% endfor %}{% for f in ns.f %}{{ f(loop.index, 'é') }}{% endfor %}",
    "{% set ns = namespace(l=none) %}{% for x in [1, 2, 3] if x != 2 %}{% set ns.l = loop %}{% break %}{% endfor %}{{ ns.l.length }}{{ ns.l.last }}{{ ns.l.nextitem }}",
    "{% set ns = namespace(l=none) %}{% for x in [1, 2, 3] if x != 2 %}{% set ns.l = loop %}{% endfor %}{{ ns.l.length }}{{ ns.l.last }}{{ ns.l.nextitem is defined }}{{ ns.l.index }}{{ ns.l.previtem }}",
    "{% set ns = namespace(l=none) %}{% for x in [[1]] recursive %}{% set ns.l = loop %}{{ x }}{% endfor %}{{ ns.l([2, 3]) }}",
    "{% macro m(n) %}{% for x in [n] recursive %}{% set ns.l = loop %}<{{ x }}{{ n }}>{% endfor %}{% endmacro %}{% set ns = namespace(l=none) %}{{ m(1) }}{{ m(2) }}{{ ns.l([7]) }}",
    "{% macro m(n) %}{% for x in [n, 2, 3] if x < n %}{% set ns.l = loop %}{% break %}{% endfor %}{% endmacro %}{% set ns = namespace(l=none) %}{{ m(4) }}{{ m(1) }}{{ ns.l.length }}{{ ns.l }}",
    "{% set ns = namespace(l=none) %}{% for x in [1, 2]|map('string') %}{% set ns.l = loop %}{{ loop.length }}{{ loop.last }}{{ x }}{% endfor %}{{ ns.l.length }}",
    *("{% set ns = namespace(g=none) %}{% set g = [ns, ns]|map(attribute='g')|" + lazy + " %}{% set ns.g = g %}{{ g|list|length }}" for lazy in (
        "map('list')", "map('first')", "map('join')", "map('sum')", "map('max')", "select('in', [1])", "unique", "unique|map('list')", "map('select')|map('first')", "map('length')", "reject('none')")),
    "{% set ns = namespace(l=[]) %}{% set g = [ns, ns, ns]|map(attribute='l')|map('length') %}{% for x in g %}{% set ns.l = loop %}{{ x }}{% endfor %}",
    "{% macro m() %}{% set ns.l = none %}{% set ns.a = 1 %}{% set ns.b = 1 %}{% set ns.c = 1 %}{% set ns.d = 1 %}{% endmacro %}{% set ns = namespace(l=none) %}{% for x in [1, 2, 3] if ns.l is none or m() == '' %}{% set ns.l = ['z' * 9, loop, 'y' * 9] %}{{ ns }}{% endfor %}",
]

NAMED = {"default": "default {{ messages[0].content }}", "tool_use": "tools {{ tools | length }}", "rag": "rag {{ documents | length }}"}


def emit(template, request):
    text, _ = reference.render_or_error(template, request)
    case = {"template": template, "request": request}
    if text is None:
        case["refused"] = True
    else:
        case["text"] = text
        if isinstance(template, str) and "{% generation %}" in template and "continue_final_message" not in request:
            case["generated"] = reference.generated(template, request)
    print(json.dumps(case, ensure_ascii=False))


def features():
    """The lines of FEATURES; the lines from one that begins a block to its end are one template."""
    lines = FEATURES.strip("\n").split("\n")
    at = lines.index("{% if true %}kept{% endif %}")
    yield from lines[:at - 1]
    yield "\n".join(lines[at - 1:at + 5])
    yield from lines[at + 5:]


def main():
    for template in CHAT.values():
        for request in conversations.REQUESTS:
            emit(template, request)
    small = {"messages": [ASK, ANSWER]}
    for template in [*features(), *OTHERS, *FOUND, *KEPT]:
        emit(template, small)
    for line_end in ("\r\n", "\r"):
        emit(line_end.join(["{% if true %}", "  a", "{% endif %}", "b", ""]), small)
    for name in (None, "rag", "tool_use", "{{ messages | length }} given"):
        for more in ({}, {"tools": [WEATHER]}, {"tools": []}, {"documents": DOCUMENTS}):
            emit(NAMED, {"messages": [ASK], **more, **({"chat_template": name} if name else {})})
    emit({"rag": "only"}, {"messages": [ASK]})
    every = "{% for m in messages %}{% for k, v in m.items() %}{{ k }}={{ v }};{% endfor %}\n{% endfor %}"
    for messages in ([NULLS], [REASONED], [THOUGHT], [{"role": "assistant", "reasoning": "r", "content": "c"}],
                     [{"role": "a", "reasoning": "r", "thinking": "t"}], [{"role": "a", "reasoning_content": "rc", "thinking": None}],
                     [{"role": "a", "reasoning_content": "", "thinking": "t"}], [], [{"content": "no role"}], ["text"]):
        emit(every, {"messages": messages})
    trimming = "{% for m in messages %}<{{ m.content | trim }}>{% endfor %}"
    thinking = "{% for m in messages %}<{{ m.reasoning_content }}|{{ m.content }}>{% endfor %}"
    end = {"role": "assistant", "content": "It is  \n", "reasoning": "Because "}
    for template in (trimming, trimming.replace(" | trim", ""), thinking, "{{ messages[0].content }}", "{{ messages | tojson }}", "{{ 'nothing' }}"):
        for field in (True, "content", "reasoning_content", "reasoning", "zz", False):
            emit(template, {"messages": [ASK, end], "continue_final_message": field})
        emit(template, {"messages": [ASK, end], "continue_final_message": True, "add_generation_prompt": True})
        emit(template, {"messages": [PARTS], "continue_final_message": True})
    emit("{{ bos_token }}{{ custom }}{{ messages | length }}", {"messages": [SYSTEM, THANKS, CALL, RESULT], "bos_token": "[B]", "custom": {"k": [1.5, None]}})


if __name__ == "__main__":
    sys.exit(main())
