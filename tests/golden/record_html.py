"""Writes pages.json: random pages in HTML and what a browser shows of them, by the tree that html5lib makes.

    pip install html5lib==1.1
    python record_html.py

A page's letters, a to z by their place, are compared, without white space. Left out are rules that html5lib does not have
(<template>, today's <select>), and text in a table outside of its cells, which a browser moves before the table.
"""
import json
import pathlib
import random

import html5lib

UNSEEN = {"script", "style", "noscript", "svg", "math", "iframe", "object", "audio", "video"}
KINDS = ["p div span b i a x h1 h2 ul li dl dt dd section br font",
         "svg p foreignobject title math mi div b button marquee",
         "p script style textarea noscript div pre object title iframe video"]


def shown_inside(node, is_hidden):
    name = node.tag.rpartition("}")[2]
    is_hidden = is_hidden or name in UNSEEN or (node.get("hidden") is not None and name not in ("html", "head", "body"))
    text = "" if is_hidden else node.text or ""
    for child in node:
        text += shown_inside(child, is_hidden) + ("" if is_hidden else child.tail or "")
    return text


def random_page(names):
    page = ""
    for i in range(random.randint(3, 14)):
        name, kind = random.choice(names), random.random()
        page += f"<{name}>" if kind < .35 else f"<{name} hidden>" if kind < .5 else f"</{name}>" if kind < .8 else ""
        page += chr(ord("a") + i)
    return page


def main():
    random.seed(12)
    pages = []
    for kind in KINDS:
        for _ in range(150):
            page = random_page(kind.split())
            tree = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree")).parse(page, scripting=True)
            pages.append([page, "".join(shown_inside(tree, False).split())])
    text = "[\n" + ",\n".join(json.dumps(each) for each in pages) + "\n]\n"
    (pathlib.Path(__file__).parent / "pages.json").write_text(text)


main()
