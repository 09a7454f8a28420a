"""Records what the Python package `tokenizers` (0.23.3) makes of each line of corpus.jsonl, as hashes; or shows where a program differs.

    python record.py [REAL]                      REAL: a folder with NAME/tokenizer.json of published tokenizers (tools/fetch_tokenizers)
    python record.py --compare PROGRAM FILE…     runs `PROGRAM tokenize FILE` and shows the first lines that differ from the reference

Writes NAME.hashes beside NAME.json, and real/NAME.hashes: a line of 12 hexadecimal digits for each 32 lines of the corpus. A line's hash is
the begin of the SHA-256 of the lists of `record` below, a group's that of its lines' hashes. tests/unit/tokenizers/corpus_test.cpp
makes the same text, and names the groups that differ; --compare shows the lines.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent


def corpus():
    for line in (HERE / "corpus.jsonl").read_text(encoding="ascii").splitlines():
        entry = json.loads(line)
        text = entry["text"] if "text" in entry else entry["repeat"][0] * entry["repeat"][1]
        yield "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)


def bytes_before(text):
    """For each number of code points, the bytes that they take."""
    places, total = [0], 0
    for c in text:
        total += len(c.encode("utf-8"))
        places.append(total)
    return places


def record(tokenizer, text):
    encoding = tokenizer.encode(text)
    places = bytes_before(text)
    return {
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "special_mask": encoding.special_tokens_mask,
        "offsets": [place for pair in encoding.offsets for place in pair],
        "byte_offsets": [places[place] for pair in encoding.offsets for place in pair],
        "tokens": encoding.tokens,
        "plain": tokenizer.encode(text, add_special_tokens=False).ids,
        "decoded": tokenizer.decode(encoding.ids, skip_special_tokens=False),
        "skipped": tokenizer.decode(encoding.ids, skip_special_tokens=True),
    }


def listed(entries):
    return entries + "," if isinstance(entries, str) else "".join(f"{entry}," for entry in entries)


def short_hash(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def digest(entry):
    return short_hash("".join(map(listed, entry.values())))


GROUP = 32  # lines of the corpus that share a hash


def group_hashes(lines):
    """Of the hashes of all lines: a hash for each group."""
    return [short_hash("".join(line + "\n" for line in lines[begin:begin + GROUP])) for begin in range(0, len(lines), GROUP)]


def load(path):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def write(source, target):
    tokenizer = load(source)
    target.parent.mkdir(exist_ok=True)
    lines = [digest(record(tokenizer, text)) for text in corpus()]
    target.write_text("".join(group + "\n" for group in group_hashes(lines)), encoding="ascii")
    print(target.name)


def run(program, arguments, lines):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        answer = subprocess.run([program, "tokenize", *arguments, "--file", file.name, "--output", "jsonl"], check=True, capture_output=True)
    return [json.loads(line) for line in answer.stdout.splitlines()]  # of bytes: a line of text ends at more characters


def compare(program, source):
    tokenizer = load(source)
    texts = list(corpus())
    with_specials = run(program, [source], [{"text": text} for text in texts])
    without = run(program, [source, "--no-special"], [{"text": text} for text in texts])
    decoded = run(program, [source, "--decode"], [{"ids": entry["ids"]} for entry in with_specials])
    skipped = run(program, [source, "--decode", "--skip-special"], [{"ids": entry["ids"]} for entry in with_specials])
    wrong = 0
    for number, text in enumerate(texts):
        want = record(tokenizer, text)
        got = dict(with_specials[number], plain=without[number]["ids"], decoded=decoded[number]["text"], skipped=skipped[number]["text"])
        for key in ("offsets", "byte_offsets"):
            got[key] = [place for pair in got[key] for place in pair]
        differing = [key for key in want if got[key] != want[key]]
        if not differing:
            continue
        wrong += 1
        if wrong <= 5:
            print(f"{source}: line {number + 1}: {text[:80]!r}")
            for key in differing:
                at = next((i for i, (a, b) in enumerate(zip(got[key], want[key])) if a != b), min(len(got[key]), len(want[key])))
                begin = max(0, at - 4)
                print(f"  {key} from {begin}: got {got[key][begin:at + 8]!r}, the reference {want[key][begin:at + 8]!r}")
    print(f"{source}: {wrong} of {len(texts)} lines differ")


def main():
    if sys.argv[1:2] == ["--compare"]:
        for source in sys.argv[3:]:
            compare(sys.argv[2], source)
        return
    for source in sorted(HERE.glob("*.json")):
        write(source, source.with_suffix(".hashes"))
    for source in sorted(pathlib.Path(sys.argv[1]).glob("*/tokenizer.json")) if len(sys.argv) > 1 else []:
        write(source, HERE / "real" / f"{source.parent.name}.hashes")


if __name__ == "__main__":
    main()
