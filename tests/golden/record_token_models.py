"""Records what the Python package `tokenizers` makes of small models of every kind.

    python record_token_models.py                     (recorded with tokenizers 0.23.3)

Writes tokenizers/models.jsonl: a line for each configuration, with "name", "tokenizer" (a tokenizer.json) and "cases":
{"text", "ids", "tokens", "offsets" in code points}, {"text", "hash"} of the three for long texts (FNV-1a over entries
followed by commas), or {"text", "error": true} where the reference refuses the text.
"""
import json
import pathlib
import random

from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

OUT = pathlib.Path(__file__).parent / "tokenizers" / "models.jsonl"
BYTES = sorted(ByteLevel.alphabet())
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
SPLIT = {"type": "WhitespaceSplit"}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
LONGEST = "Z" * 48  # the reference copies a merge into a buffer as long as the longest token


def bpe(alphabet, merges, specials=(), suffix="", **options):
    vocab = {}
    for token in [*specials, *alphabet, *(c + suffix for c in alphabet if suffix), LONGEST]:
        vocab.setdefault(token, len(vocab))
    prefix = len(options.get("continuing_subword_prefix") or "")
    for left, right in merges:
        vocab.setdefault(left + right[prefix:], len(vocab))
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": suffix or None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": vocab, "merges": [list(pair) for pair in merges], **options}


def random_merges(rng, pieces, count, prefix=""):
    pieces, merges = list(pieces), []
    while len(merges) < count:
        left, right = rng.choice(pieces), rng.choice(pieces)
        if not right.startswith(prefix) or len(left) + len(right) > 12 or (left, right) in merges:
            continue
        merges.append((left, right))
        pieces.append(left + right[len(prefix):])
    return merges


def unigram(scores, unk_id=0, byte_fallback=False):
    return {"type": "Unigram", "unk_id": unk_id, "vocab": [list(pair) for pair in scores], "byte_fallback": byte_fallback}


def configurations():
    rng = random.Random(7)
    letters = list("abcdef ▁é漢'")
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    merges = random_merges(rng, letters, 60)
    yield "bpe", bpe(letters, merges), None
    yield "bpe with words", bpe(letters, merges), SPLIT
    yield "bpe with unknown", bpe(letters, merges, ["<unk>"], unk_token="<unk>"), None
    yield "bpe with fused unknown", bpe(letters, merges, ["<unk>"], unk_token="<unk>", fuse_unk=True), METASPACE
    yield "bpe with byte tokens", bpe(letters, merges, ["<unk>", *byte_tokens], unk_token="<unk>", byte_fallback=True,
                                      fuse_unk=True), None
    yield "bpe with some byte tokens", bpe(letters, merges, ["<unk>", *byte_tokens[:160]], unk_token="<unk>",
                                           byte_fallback=True), SPLIT
    yield "bpe whose unknown token is missing", bpe(letters, merges, unk_token="<unk>"), None
    yield "bpe whose merges use the unknown token", bpe(letters, [("<unk>", "a"), ("a", "<unk>"), ("▁", "<unk>a")],
                                                        ["<unk>"], unk_token="<unk>"), None
    yield "bpe without merges of tokens", bpe(letters, merges, ignore_merges=True), METASPACE
    yield "bpe with merges as texts", {**bpe([c for c in letters if c != " "], [("a", "b"), ("ab", "c")]),
                                       "merges": ["#version: 0.2", "a b", "ab c"]}, SPLIT
    yield "bpe with a pair twice", bpe(letters, [("a", "b"), ("b", "c"), ("a", "b")]), None
    yield "bpe with a suffix", bpe(letters, random_merges(rng, ["a", "b", "c", "a</w>", "b</w>"], 12), suffix="</w>"), SPLIT
    marked = [*letters, *("##" + c for c in letters)]
    yield "bpe with a prefix", bpe(marked, random_merges(rng, ["a", "b", "##a", "##b", "##c"], 20, "##"),
                                   continuing_subword_prefix="##"), SPLIT
    yield "bpe with a suffix and byte tokens", bpe(letters, merges[:5], ["<unk>", *byte_tokens], suffix="@@",
                                                   unk_token="<unk>", byte_fallback=True), SPLIT
    yield "bpe whose tokens cross word marks", bpe(letters, [("b", "▁"), ("b▁", "a"), ("▁", "▁"), ("▁▁", "a")], ["<unk>"],
                                                   unk_token="<unk>"), None
    byte_merges = random_merges(rng, [*"abcdeĠĠĠtsæľ¬Ã©ð", *BYTES[:4]], 120)
    yield "byte-level bpe", bpe(BYTES, byte_merges), BYTE_LEVEL
    yield "byte-level bpe with prefix space", bpe(BYTES, byte_merges), {**BYTE_LEVEL, "add_prefix_space": True}
    yield "byte-level bpe without pattern", bpe(BYTES, byte_merges, ignore_merges=True), {**BYTE_LEVEL, "use_regex": False}
    yield "byte-level bpe without all bytes", bpe(BYTES[20:150], [], ["<unk>"], unk_token="<unk>"), BYTE_LEVEL
    yield "byte-level bpe with a suffix", bpe(BYTES, [("a", "b</w>"), ("Ġ", "a")], suffix="</w>"), BYTE_LEVEL
    yield "byte level twice", bpe(BYTES, byte_merges), {"type": "Sequence", "pretokenizers": [
        BYTE_LEVEL, {"type": "Punctuation", "behavior": "Isolated"}, BYTE_LEVEL]}
    pieces = [("<unk>", 0.0)] + [(c, -rng.random() * 9) for c in "abcdef▁é"] + [
        ("".join(rng.choice("abc▁") for _ in range(rng.randint(2, 5))), -rng.random() * 14) for _ in range(60)]
    yield "unigram", unigram(pieces), METASPACE
    yield "unigram of whole texts", unigram(pieces), None
    yield "unigram with byte tokens", unigram(pieces + [(token, -20.0) for token in byte_tokens], byte_fallback=True), METASPACE
    yield "unigram without unknown", unigram([p for p in pieces if p[0] != "<unk>"], unk_id=None), METASPACE
    yield "unigram of equal scores", unigram([(text, -float(len(text))) for text, _ in pieces]), METASPACE
    yield "unigram of repeated texts", unigram(pieces + pieces[5:15]), METASPACE
    yield "unigram of positive scores", unigram([(text, score + 30) for text, score in pieces] + [("xy", 21.0)]), METASPACE
    yield "unigram of bytes", unigram(pieces), BYTE_LEVEL
    words = {"[UNK]": 0, "a": 1, "b": 2, "##b": 3, "##c": 4, "abc": 5, "é": 6, "##é漢": 7, "##": 8, "abcd": 9}
    word_piece = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 6, "vocab": words}
    yield "word piece", word_piece, SPLIT
    yield "word piece of whole texts", word_piece, None
    yield "word piece without prefix", {**word_piece, "continuing_subword_prefix": ""}, SPLIT
    yield "word piece without unknown", {**word_piece, "unk_token": "?"}, SPLIT
    yield "word level", {"type": "WordLevel", "unk_token": "[UNK]", "vocab": words}, SPLIT
    yield "word level without unknown", {"type": "WordLevel", "unk_token": "?", "vocab": words}, SPLIT
    for model in (bpe(letters, merges[:20]), word_piece, {"type": "WordLevel", "unk_token": "[UNK]", "vocab": words},
                  unigram(pieces)):
        yield f"{model['type']} of an older file", {key: value for key, value in model.items() if key != "type"}, SPLIT


def texts(rng):
    yield from ["", "a", "abc", "abcd abc ab", " a  b ", "▁a▁▁b b▁a", "xyz", "axb", "é漢字", "a<unk>b", "xaéy漢x a 😀a",
                "ab'cde 'f don't we'll", "ab\n\n  \tc\r\n", "12 345 abc6", "cab▁▁▁ fade", "<0x41>"]
    for length in (9, 20, 60, 130, 300):
        for _ in range(3):
            yield "".join(rng.choice("aaabbbccdef ▁é漢'x") for _ in range(length))
    yield "ab" * 200
    yield "".join(rng.choice("abc") for _ in range(500))


def hashed(encoding):
    entries = [*encoding.ids, *encoding.tokens, *(end for pair in encoding.offsets for end in pair)]
    state = 0xCBF29CE484222325
    for byte in "".join(f"{entry}," for entry in entries).encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return f"{state:016x}"


def main():
    lines = []
    for name, model, pre_tokenizer in configurations():
        file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
                "pre_tokenizer": pre_tokenizer, "post_processor": None, "decoder": None, "model": model}
        tokenizer = Tokenizer.from_str(json.dumps(file))
        cases = []
        for text in texts(random.Random(len(lines))):
            try:
                encoding = tokenizer.encode(text)
            except Exception:
                cases.append({"text": text, "error": True})
                continue
            if len(text) > 40:
                cases.append({"text": text, "hash": hashed(encoding)})
                continue
            cases.append({"text": text, "ids": encoding.ids, "tokens": encoding.tokens,
                          "offsets": [list(pair) for pair in encoding.offsets]})
        lines.append(json.dumps({"name": name, "tokenizer": file, "cases": cases}, ensure_ascii=False, separators=(",", ":")))
    OUT.write_text("\n".join(lines) + "\n")


main()
