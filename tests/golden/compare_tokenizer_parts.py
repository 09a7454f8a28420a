"""Holds `alate tokenize` to the Python package `tokenizers` (0.23.3) over random post-processors, decoders, added tokens,
truncation and padding around the small tokenizers of tokenizer_corpus.

    python compare_tokenizer_parts.py PROGRAM [ROUNDS [SEED]]

Each round makes one tokenizer.json, encodes and decodes nasty texts with both, and prints what differs. Exits 1 then.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
BASES = ["gpt2", "bert_cased", "llama2", "t5", "word_level", "openai_gpt", "wav2vec2", "albert", "roberta", "byte_fallback_unigram"]
FRAGMENTS = ["the", "cat", " ", "  ", "\t", "\n", "\u00a0", "\u3000", "a", "b", "B", "Day", "day", "DAY", "<s>", "</s>", "[X]", "<m>", ".", ",", "!", "?",
             "'s", " n't", " do not", "\u00e9", "e\u0301", "\u4e2d\u6587", "\U0001f600", "\U0001f468\u200d\U0001f469", "\ud55c", "\ufffd", "\u0120", "\u2581",
             "##x", "@@", "</w>", "|", "<pad>", "1", "2026", "\u0130", "\u00df", "\u200b", "\u0e33", "\ufb01", "_", "-"]


def pick(rng, *choices):
    return rng.choice(choices)


def flag(rng):
    return rng.random() < 0.5


def text(rng):
    return "".join(rng.choice(FRAGMENTS) for _ in range(rng.randrange(0, 12)))


def special(rng):
    return [pick(rng, "<s>", "</s>", " x ", "[X]", "\u0120a"), rng.randrange(0, 300)]


def post_processor(rng, depth=0):
    kind = rng.randrange(0, 6 if depth < 2 else 4)
    if kind == 0:
        return {"type": "BertProcessing", "sep": special(rng), "cls": special(rng)}
    if kind == 1:
        return {"type": "RobertaProcessing", "sep": special(rng), "cls": special(rng), "trim_offsets": flag(rng), "add_prefix_space": flag(rng)}
    if kind == 2:
        return {"type": "ByteLevel", "add_prefix_space": flag(rng), "trim_offsets": flag(rng), "use_regex": flag(rng)}
    if kind == 3:
        names = ["[X]", "two", "none"]
        tokens = {"[X]": {"id": "[X]", "ids": [5], "tokens": ["[X]"]}, "two": {"id": "two", "ids": [6, 7], "tokens": ["t", "\u0120wo "]},
                  "none": {"id": "none", "ids": [], "tokens": []}}
        def piece(sequences):
            if flag(rng):
                return {"Sequence": {"id": rng.choice(sequences), "type_id": rng.randrange(0, 3)}}
            return {"SpecialToken": {"id": rng.choice(names), "type_id": rng.randrange(0, 3)}}
        single = [piece("A") for _ in range(rng.randrange(1, 4))]
        pair = [piece("AB") for _ in range(rng.randrange(1, 6))]
        return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}
    if kind == 4:
        # A template takes one or two encodings: it comes first, or behind parts that add none.
        parts = [part for part in (post_processor(rng, depth + 1) for _ in range(rng.randrange(0, 3))) if part]
        parts.sort(key=lambda part: part["type"] != "TemplateProcessing")
        kept, seen = [], False
        for part in parts:
            is_template = "TemplateProcessing" in json.dumps(part)
            if not (is_template and seen):
                kept.append(part)
            seen = seen or is_template
        return {"type": "Sequence", "processors": kept}
    return None


def decoder(rng, depth=0):
    kind = rng.randrange(0, 11 if depth == 0 else 9)
    if kind == 0:
        return {"type": "ByteLevel", "add_prefix_space": flag(rng), "trim_offsets": flag(rng), "use_regex": flag(rng)}
    if kind == 1:
        return {"type": "WordPiece", "prefix": pick(rng, "##", "\u2581", ""), "cleanup": flag(rng)}
    if kind == 2:
        scheme = pick(rng, "always", "never", "first")
        return {"type": "Metaspace", "replacement": pick(rng, "\u2581", "_", "e"), "prepend_scheme": scheme, "split": flag(rng)}
    if kind == 3:
        return {"type": "BPEDecoder", "suffix": pick(rng, "</w>", "e", "")}
    if kind == 4:
        return {"type": "CTC", "pad_token": pick(rng, "<pad>", "a", ""), "word_delimiter_token": pick(rng, "|", "e", ""), "cleanup": flag(rng)}
    if kind == 5:
        return {"type": "ByteFallback"}
    if kind == 6:
        return {"type": "Fuse"}
    if kind == 7:
        return {"type": "Strip", "content": pick(rng, " ", "\u2581", "e", "\u0120"), "start": rng.randrange(0, 3), "stop": 0}
    if kind == 8:
        pattern = pick(rng, {"String": "\u2581"}, {"String": "e"}, {"String": "aa"}, {"String": "\u0120t"}, {"Regex": "[a-e]+"}, {"Regex": "\\s"}, {"Regex": "^."})
        return {"type": "Replace", "pattern": pattern, "content": pick(rng, " ", "", "xy", "\u00e9")}
    if kind == 9:
        return {"type": "Sequence", "decoders": [decoder(rng, 1) for _ in range(rng.randrange(0, 5))]}
    return None


def added_tokens(rng, base):
    tokens = list(base)
    contents = {token["content"] for token in tokens}
    for _ in range(rng.randrange(0, 8)):
        content = "".join(rng.choice(FRAGMENTS) for _ in range(rng.randrange(1, 3)))
        # Two that normalize to the same text match at random in the reference; so do ones that normalize to nothing, which it refuses.
        if content.casefold().strip() in {known.casefold().strip() for known in contents} or not any(c.isalnum() for c in content):
            continue
        contents.add(content)
        tokens.append({"id": 900 + len(tokens), "content": content, "single_word": flag(rng), "lstrip": flag(rng), "rstrip": flag(rng),
                       "normalized": flag(rng), "special": flag(rng)})
    return tokens


def configuration(rng):
    name = rng.choice(BASES)
    file = json.loads((HERE / "tokenizer_corpus" / f"{name}.json").read_text(encoding="utf-8"))
    file["truncation"] = file["padding"] = None
    if rng.random() < 0.8:
        file["post_processor"] = post_processor(rng)
    if rng.random() < 0.8:
        file["decoder"] = decoder(rng)
    if rng.random() < 0.7:
        file["added_tokens"] = added_tokens(rng, file["added_tokens"])
    return name, file


def lists(encoding):
    none = lambda values: [None if value is None else value for value in values]
    return {"ids": encoding.ids, "tokens": encoding.tokens, "type_ids": encoding.type_ids, "special_mask": encoding.special_tokens_mask,
            "offsets": [list(pair) for pair in encoding.offsets], "word_ids": none(encoding.word_ids), "attention_mask": encoding.attention_mask,
            "overflowing": [lists(window) for window in encoding.overflowing]}


def run(program, arguments, rows):
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    done = subprocess.run([program, "tokenize", *map(str, arguments), "--input", "jsonl", "--output", "jsonl", "--on-error", "skip"],
                          input=lines.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0 and not done.stdout:
        return done.stderr.decode().strip()
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(program, rng, file, path):
    path.write_text(json.dumps(file), encoding="utf-8")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except BaseException as error:  # a panic is none of Exception
        return [("reference refuses", str(error))]
    arguments = [path, "--words"]
    specials = flag(rng)
    if not specials:
        arguments.append("--no-special")
    if flag(rng):
        # Below the number of special tokens, the reference does not cut at all; here that is an error.
        least = max(tokenizer.num_special_tokens_to_add(False), tokenizer.num_special_tokens_to_add(True)) if specials else 0
        length, stride = least + rng.randrange(0, 16), rng.randrange(0, 4)
        strategy, side = pick(rng, "longest_first", "only_first", "only_second"), pick(rng, "left", "right")
        try:
            tokenizer.enable_truncation(length, stride=stride, strategy=strategy, direction=side)
            arguments += ["--max-length", length, "--stride", stride, "--truncation", strategy, "--truncation-side", side]
        except BaseException:
            pass
    if flag(rng):
        length, multiple, side = rng.randrange(0, 20), rng.randrange(0, 5), pick(rng, "left", "right")
        tokenizer.enable_padding(direction=side, pad_id=3, pad_type_id=0, pad_token=tokenizer.id_to_token(3), length=length, pad_to_multiple_of=multiple or None)
        arguments += ["--padding", length, "--pad-to-multiple", multiple, "--padding-side", side, "--pad-token", tokenizer.id_to_token(3)]
    rows, wanted, differing = [], [], []
    for _ in range(20):
        row = {"text": text(rng)}
        if flag(rng):
            row["pair"] = text(rng)
        try:
            wanted.append(lists(tokenizer.encode(row["text"], row.get("pair"), add_special_tokens=specials)))
        except BaseException:  # a strategy that cannot cut enough, which ends the whole command
            continue
        rows.append(row)
    got = run(program, arguments, rows) if rows else []
    if isinstance(got, str):
        return [("encode", got, str(arguments))]
    for row, have, want in zip(rows, got, wanted):
        if "error" in have:
            differing.append(("encode", row, have["error"], str(arguments[1:])))
            continue
        have.setdefault("overflowing", [])
        have.setdefault("attention_mask", [1] * len(have["ids"]))
        for key, value in want.items():
            strip = lambda windows: [{k: v for k, v in window.items() if k not in ("byte_offsets", "sequence_ids", "overflowing")} for window in windows]
            mine, theirs = have[key], value
            if key == "overflowing":
                for window in mine:
                    window.setdefault("attention_mask", [1] * len(window["ids"]))
                mine, theirs = strip(mine), strip(theirs)
            if mine != theirs:
                differing.append((key, row, mine, theirs, str(arguments[1:])))
    size = tokenizer.get_vocab_size()
    sequences = [[rng.randrange(0, size + 2) for _ in range(rng.randrange(0, 12))] for _ in range(20)]
    sequences += [want["ids"] for want in wanted]
    byte_ids = [i for i in range(size) if (tokenizer.id_to_token(i) or "").startswith("<0x")]
    if byte_ids:
        sequences += [[rng.choice(byte_ids + [5, 40]) for _ in range(rng.randrange(0, 8))] for _ in range(20)]
    for skip in (False, True):
        results = run(program, [path, "--decode"] + (["--skip-special"] if skip else []), [{"ids": ids} for ids in sequences])
        if isinstance(results, str):
            return differing + [("decode", results)]
        for ids, result in zip(sequences, results):
            try:
                want = tokenizer.decode(ids, skip_special_tokens=skip)
            except BaseException:
                continue
            if result.get("text") != want:
                differing.append(("decode", ids, [tokenizer.id_to_token(i) for i in ids], result, want, json.dumps(file["decoder"])))
    return differing


def main():
    program, rounds, seed = sys.argv[1], int((sys.argv + ["100"])[2] if len(sys.argv) > 2 else 100), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    differing = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            rng = random.Random(seed * 1000003 + number)
            name, file = configuration(rng)
            found = compare(program, rng, file, pathlib.Path(folder) / "tokenizer.json")
            if found and found[0][0] == "reference refuses":
                refused += 1
                continue
            if found:
                differing += 1
                print(f"round {number} ({name}): {len(found)} differ; post_processor {json.dumps(file['post_processor'])[:300]}")
                for entry in found[:3]:
                    print("   ", *(str(part)[:400] for part in entry), sep="\n      ")
    print(f"{rounds - refused} tokenizers compared, {differing} differ; the reference refused {refused}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
