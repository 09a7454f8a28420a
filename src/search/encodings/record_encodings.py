"""Writes single_byte_encodings.inc and encoding_labels.inc: the indexes and labels of the Encoding Standard
(https://encoding.spec.whatwg.org), as the packages text-encoding 0.7.0 (npm) and webencodings 0.6.1 (PyPI) have them.

    npm pack text-encoding@0.7.0 && tar xzf text-encoding-0.7.0.tgz
    python record_encodings.py package/lib/encoding-indexes.js
"""
import json
import pathlib
import sys

import webencodings.labels

HERE = pathlib.Path(__file__).parent
# Labels that the standard has had since then.
LATER = {"unicode11utf8": "utf-8", "unicode20utf8": "utf-8", "x-unicode20utf8": "utf-8", "unicodefffe": "utf-16be",
         "csunicode": "utf-16le", "iso-10646-ucs-2": "utf-16le", "ucs-2": "utf-16le", "unicode": "utf-16le",
         "unicodefeff": "utf-16le"}
HEAD = "// Written by record_encodings.py; do not edit."


def indexes(path):
    text = pathlib.Path(path).read_text()
    begin = text.index("{", text.index('global["encoding-indexes"] ='))
    return json.loads(text[begin:text.index("\n};", begin) + 2])


def main():
    tables = {name: table for name, table in indexes(sys.argv[1]).items() if len(table) == 128}
    lines = [HEAD, "// The characters of bytes 128 to 255; 0: none.",
             f"constexpr std::array<SingleByteEncoding, {len(tables)}> kSingleByteEncodings = {{{{"]
    for name in sorted(tables):
        lines.append(f'    {{"{name}",')
        lines.append("     {{")
        values = [f"0x{value or 0:04X}" for value in tables[name]]
        for i in range(0, 128, 14):
            lines.append("         " + ", ".join(values[i:i + 14]) + ("," if i + 14 < 128 else ""))
        lines.append("     }}},")
    (HERE / "single_byte_encodings.inc").write_text("\n".join([*lines, "}};"]) + "\n")

    labels = sorted({**webencodings.labels.LABELS, **LATER}.items())
    lines = [HEAD, f"constexpr std::array<EncodingLabel, {len(labels)}> kEncodingLabels = {{{{"]
    lines += [f'    {{"{label}", "{name}"}},' for label, name in labels]
    (HERE / "encoding_labels.inc").write_text("\n".join([*lines, "}};"]) + "\n")


main()
