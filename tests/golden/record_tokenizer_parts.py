"""Records what the Python package `tokenizers` (0.23.3) makes of post-processors, decoders and padding with random options, around
small tokenizers of tokenizer_corpus: tokenizer_parts.jsonl, read by tests/unit/tokenizers/parts_golden_test.cpp.

    python record_tokenizer_parts.py
"""
import json
import pathlib
import random

from tokenizers import Tokenizer

from compare_tokenizer_parts import HERE, decoder, flag, lists, pick, post_processor, text

DECODERS, PROCESSORS = 150, 100
LONGEST = 3000  # of a line; many windows make longer ones
TOKENS = ["\u2581the", "\u2581cat", "##s", "the", "cat</w>", "e</w>", "aa", "a", "a", "<pad>", "|", "<0xE4>", "<0xB8>", "<0xAD>", "<0x0A>", "<0x+A>", "<0xZZ>", "\u0120the",
          "\u00e4", "\u00b8", "\u0143", "\u4e2d", " ", "  ", ".", "n't", "do not", "\u2581", "\u2581\u2581", "e", "\u00e9", "'", "\ufffd"]


def tokenizer_of(name, **parts):
    file = json.loads((HERE / "tokenizer_corpus" / f"{name}.json").read_text(encoding="utf-8"))
    return Tokenizer.from_str(json.dumps(file | {"truncation": None, "padding": None} | parts))


def vocabulary_tokenizer(chosen):
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(TOKENS))}
    return Tokenizer.from_str(json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
                                          "post_processor": None, "decoder": chosen, "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "a"}}))


def decoded(rng):
    chosen = decoder(rng)
    tokens = [rng.choice(TOKENS) for _ in range(rng.randrange(0, 10))]
    tokenizer = vocabulary_tokenizer(chosen)
    return {"decoder": chosen, "tokens": tokens, "text": tokenizer.decode([tokenizer.token_to_id(token) for token in tokens])}


def processed(rng):
    base = pick(rng, "gpt2", "bert_cased", "llama2")
    entry = {"base": base, "post_processor": post_processor(rng), "text": text(rng), "pair": text(rng) if flag(rng) else None, "add_special_tokens": flag(rng)}
    tokenizer = tokenizer_of(base, post_processor=entry["post_processor"])
    if flag(rng):
        cut = {"max_length": rng.randrange(3, 14), "stride": rng.randrange(0, 3), "strategy": pick(rng, "longest_first", "only_first", "only_second"),
               "direction": pick(rng, "left", "right")}
        tokenizer.enable_truncation(**cut)
        entry["truncation"] = cut
    if flag(rng):
        padding = {"length": rng.randrange(0, 16), "pad_to_multiple_of": rng.randrange(1, 5), "direction": pick(rng, "left", "right"), "pad_id": 3, "pad_type_id": 1,
                   "pad_token": "pad"}
        tokenizer.enable_padding(**padding)
        entry["padding"] = padding
    return entry | {"encoding": lists(tokenizer.encode(entry["text"], entry["pair"], add_special_tokens=entry["add_special_tokens"]))}


def main():
    rng = random.Random(31)
    lines = []
    for make, count in ((decoded, DECODERS), (processed, PROCESSORS)):
        kept = 0
        while kept < count:
            try:
                line = json.dumps(make(rng))
            except BaseException:  # what the reference refuses or panics on
                continue
            if len(line) < LONGEST:
                lines.append(line)
                kept += 1
    (HERE / "tokenizer_parts.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
