"""Writes random.jsonl: tokenizers put together at random from all parts, and what the package `tokenizers` (0.23.3) makes of texts.

    python record_random.py [COUNT [SEED [FILE]]]      by default the 200 tokenizers that are committed

A line is {"tokenizer": …, "cases": [{"text", "pair", "options", "hash"}]}; a hash is made as by record.py, over the windows too but
without byte_offsets, or is "error" where the reference refuses, or "panic" where any answer will do.
tests/unit/tokenizers/random_test.cpp runs this file, or the one that ALATE_RANDOM_TOKENIZERS names.
"""
import base64
import hashlib
import json
import pathlib
import random
import sys

from make_tokenizers import CL100K, CLIP, O200K, QWEN, SMALL_RULES, charsmap
from record import corpus, listed
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
TEXTS = [text for text in corpus() if len(text) <= 120]
WORDS = ["the", "quick", "hello", "world", "don", "'t", "über", "é", "e\u0301", "中文", "日本", "한국", "при", "вет", "123", "4", "😀", "👍🏽", "!", "...", "ab", "ba",
         "_", "-", ".", "\n", "\t", "  ", " ", "a", "b", "c", "ss", "ß", "İ", "ﬁ", "½", "١٢", "नम", "ไทย", "\u200d", "<s>", "[MASK]", "fi", "A", "B", "x"]
PATTERNS = [CL100K, QWEN, O200K, CLIP, r"\s+", r"\w+|[^\w\s]+", r"[a-z]+", r"\d", r"\p{N}{1,3}", r"(?=[A-Z])", r"[^\s]+", r" ?[^(\s|[.,!?…。，、।۔،])]+",
            r"\p{Han}+", r"[\p{L}\p{M}]+", r"(?i)the|an", r"\r?\n", r".", r"b+?", r"(a|b)*c", r"\S+\s?", r"[\u4e00-\u9fa5]+", r"\p{Lu}\p{Ll}*", r"^\s|\s$", r"\bt"]
BYTE_ALPHABET = {}
for byte in range(256):
    plain = 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255
    BYTE_ALPHABET[byte] = chr(byte) if plain else chr(256 + sum(1 for b in range(byte) if not (33 <= b <= 126 or 161 <= b <= 172 or 174 <= b <= 255)))


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def flag(self, chance=0.5):
        return self.random.random() < chance

    def pattern(self):
        if self.flag(0.6):
            return {"Regex": self.pick(*PATTERNS)}
        return {"String": self.pick(" ", "a", "the", "中", ".", "\n", "\u2581", "--", "e\u0301", "ab")}

    def normalizer(self, depth=0):
        kind = self.pick(None, "BertNormalizer", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Replace", "Prepend", "Precompiled",
                         "ByteLevel", "Nmt", *(["Sequence"] * 3 if depth < 2 else []))
        if kind is None:
            return None if depth == 0 else {"type": "Lowercase"}
        part = {"type": kind}
        if kind == "BertNormalizer":
            part.update(clean_text=self.flag(), handle_chinese_chars=self.flag(), strip_accents=self.pick(None, True, False), lowercase=self.flag())
        elif kind == "Strip":
            part.update(strip_left=self.flag(), strip_right=self.flag())
        elif kind == "Replace":
            part.update(pattern=self.pattern(), content=self.pick("", " ", "\u2581", "b", "xyz", "é"))
        elif kind == "Prepend":
            part.update(prepend=self.pick("\u2581", "a", "é ", ""))
        elif kind == "Precompiled":
            part.update(precompiled_charsmap=base64.b64encode(charsmap(SMALL_RULES)).decode())
        elif kind == "Sequence":
            part.update(normalizers=[self.normalizer(depth + 1) for _ in range(self.random.randint(0, 3))])
        return part

    def behavior(self):
        return self.pick("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")

    def metaspace(self):
        return {"type": "Metaspace", "replacement": self.pick("\u2581", "\u2581", "_"), "prepend_scheme": self.pick("always", "first", "never"), "split": self.flag(0.7)}

    def byte_level(self):
        return {"type": "ByteLevel", "add_prefix_space": self.flag(), "trim_offsets": self.flag(), "use_regex": self.flag()}

    def pre_tokenizer(self, depth=0):
        kind = self.pick(None, "BertPreTokenizer", "ByteLevel", "ByteLevel", "Metaspace", "Metaspace", "Whitespace", "WhitespaceSplit", "Punctuation", "Digits", "Split", "Split",
                         "CharDelimiterSplit", "UnicodeScripts", "FixedLength", *(["Sequence"] * 5 if depth < 2 else []))
        if kind is None:
            return None if depth == 0 else {"type": "WhitespaceSplit"}
        if kind == "Metaspace":
            return self.metaspace()
        if kind == "ByteLevel":
            return self.byte_level()
        part = {"type": kind}
        if kind == "Punctuation":
            part.update(behavior=self.behavior())
        elif kind == "Digits":
            part.update(individual_digits=self.flag())
        elif kind == "Split":
            part.update(pattern=self.pattern(), behavior=self.behavior(), invert=self.flag(0.3))
        elif kind == "CharDelimiterSplit":
            part.update(delimiter=self.pick(" ", "a", "中", "\n"))
        elif kind == "FixedLength":
            part.update(length=self.random.randint(1, 6))
        elif kind == "Sequence":
            part.update(pretokenizers=[self.pre_tokenizer(depth + 1) for _ in range(self.random.randint(1, 3))])
        return part

    def vocabulary(self, mapped, prefix="", suffix=""):
        """Tokens in the order of their ids: single characters (or all bytes), then parts of words."""
        write = (lambda text: "".join(BYTE_ALPHABET[b] for b in text.encode())) if mapped else (lambda text: text.replace(" ", self.space))
        singles = list(BYTE_ALPHABET.values()) if mapped and self.flag(0.7) else sorted({c for word in WORDS for c in write(word) if self.flag(0.9)} | {self.space})
        tokens = list(dict.fromkeys(singles))
        for word in WORDS:
            text = write(self.pick(word, " " + word))
            for end in range(2, len(text) + 1):
                tokens.append(text[:end])
            tokens.append(text[-2:])
        if prefix or suffix:
            tokens += [prefix + token for token in tokens] + [token + suffix for token in tokens]
        return list(dict.fromkeys(token for token in tokens if token))

    def model(self, mapped):
        self.space = self.pick("\u2581", "\u2581", "_", " ")
        kind = self.pick("BPE", "BPE", "BPE", "Unigram", "Unigram", "WordPiece", "WordLevel")
        unk = self.pick("<unk>", "[UNK]")
        fallback = [f"<0x{byte:02X}>" for byte in range(256)] if not mapped and self.flag(0.3) else []
        if kind == "Unigram":
            tokens = list(dict.fromkeys([unk] + fallback + self.vocabulary(mapped)))
            vocab = [[token, 0.0 if i == 0 else -round(self.random.uniform(0.5, 12), 4)] for i, token in enumerate(tokens)]
            return {"type": kind, "unk_id": 0, "vocab": vocab, "byte_fallback": bool(fallback)}
        if kind == "WordLevel":
            tokens = list(dict.fromkeys([unk] + self.vocabulary(mapped) + WORDS))
            return {"type": kind, "vocab": {t: i for i, t in enumerate(tokens)}, "unk_token": unk}
        if kind == "WordPiece":
            prefix = self.pick("##", "##", "")
            tokens = list(dict.fromkeys([unk] + self.vocabulary(mapped, prefix)))
            return {"type": kind, "unk_token": unk, "continuing_subword_prefix": prefix, "max_input_chars_per_word": self.pick(4, 20, 100), "vocab": {t: i for i, t in enumerate(tokens)}}
        prefix = self.pick(None, None, None, "##", "")
        suffix = self.pick(None, None, None, "</w>", "") if not prefix else None
        tokens = self.vocabulary(mapped, prefix or "", suffix or "")
        known = set(tokens)
        merges = []
        for token in tokens:
            for cut in range(1, len(token)):
                left, right = token[:cut], (prefix or "") + token[cut:]
                if prefix and (token.startswith(prefix) and cut < len(prefix)):
                    continue
                if left in known and right in known and " " not in token and self.flag(0.6):
                    merges.append([left, right])
                    break
        self.random.shuffle(merges)
        with_unk = self.flag(0.7)
        tokens = list(dict.fromkeys(([unk] if with_unk else []) + fallback + tokens))
        return {"type": kind, "dropout": None, "unk_token": unk if with_unk else None, "continuing_subword_prefix": prefix, "end_of_word_suffix": suffix,
                "fuse_unk": self.flag(), "byte_fallback": bool(fallback), "ignore_merges": self.flag(0.3), "vocab": {t: i for i, t in enumerate(tokens)},
                "merges": merges if self.flag() else [" ".join(merge) for merge in merges]}

    def added(self, model):
        names = ["<s>", "</s>", "[MASK]", "<|end|>", "ab c", "é", "the", "\n\n", "𝒳", "<s><s>", " x"]
        size = len(model["vocab"])
        tokens = []
        for name in self.random.sample(names, self.random.randint(1, 6)):
            tokens.append({"id": size + len(tokens), "content": name, "single_word": self.flag(0.2), "lstrip": self.flag(0.3), "rstrip": self.flag(0.3),
                           "normalized": self.flag(), "special": self.flag()})
        return tokens

    def post_processor(self, added, depth=0):
        kind = self.pick(None, "BertProcessing", "RobertaProcessing", "TemplateProcessing", "TemplateProcessing", "ByteLevel", "ByteLevel", *(["Sequence"] if depth == 0 else []))
        first, last = added[0], added[-1]
        pair = lambda token: [token["content"], token["id"]]
        if kind is None:
            return None if depth == 0 else self.byte_level()
        if kind == "ByteLevel":
            return self.byte_level()
        if kind == "BertProcessing":
            return {"type": kind, "sep": pair(first), "cls": pair(last)}
        if kind == "RobertaProcessing":
            return {"type": kind, "sep": pair(first), "cls": pair(last), "trim_offsets": self.flag(), "add_prefix_space": self.flag()}
        if kind == "Sequence":
            return {"type": kind, "processors": [self.post_processor(added, 1) for _ in range(self.random.randint(1, 2))]}
        special = lambda token, type_id: {"SpecialToken": {"id": token["content"], "type_id": type_id}}
        text = lambda name, type_id: {"Sequence": {"id": name, "type_id": type_id}}
        single = [special(first, 0), text("A", 0)] + ([special(last, self.pick(0, 2))] if self.flag() else [])
        both = [special(first, 0), text("A", 0), special(last, 0), text("B", 1)] + ([special(last, 1)] if self.flag() else [])
        return {"type": kind, "single": single, "pair": both,
                "special_tokens": {t["content"]: {"id": t["content"], "ids": [t["id"]], "tokens": [t["content"]]} for t in (first, last)}}

    def decoder(self, depth=0):
        kind = self.pick(None, "ByteLevel", "ByteLevel", "WordPiece", "Metaspace", "BPEDecoder", "CTC", "ByteFallback", "Fuse", "Strip", "Replace", *(["Sequence"] * 4 if depth == 0 else []))
        if kind is None:
            return None if depth == 0 else {"type": "Fuse"}
        if kind == "ByteLevel":
            return self.byte_level()
        if kind == "Metaspace":
            return self.metaspace()
        part = {"type": kind}
        if kind == "WordPiece":
            part.update(prefix="##", cleanup=self.flag())
        elif kind == "BPEDecoder":
            part.update(suffix=self.pick("</w>", "a", ""))
        elif kind == "CTC":
            part.update(pad_token=self.pick("a", "<s>"), word_delimiter_token=self.pick("\u2581", "|", "b"), cleanup=self.flag())
        elif kind == "Strip":
            part.update(content=self.pick(" ", "\u2581", "a"), start=self.pick(0, 1, 2), stop=self.pick(0, 1))
        elif kind == "Replace":
            part.update(pattern=self.pattern(), content=self.pick(" ", "", "a", "é"))
        elif kind == "Sequence":
            part.update(decoders=[self.decoder(1) for _ in range(self.random.randint(0, 4))])
        return part

    def tokenizer(self):
        normalizer, pre_tokenizer = self.normalizer(), self.pre_tokenizer()
        mapped = "ByteLevel" in json.dumps([normalizer, pre_tokenizer]) and self.flag(0.9)
        model = self.model(mapped)
        added = self.added(model)
        return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
                "post_processor": self.post_processor(added), "decoder": self.decoder(), "model": model}

    def text(self):
        if self.flag(0.5):
            return self.pick(*TEXTS)
        return "".join(self.pick(*WORDS) + self.pick("", "", " ") for _ in range(self.random.randint(0, 12)))

    def case(self):
        case = {"text": self.text()}
        if self.flag(0.3):
            case["pair"] = self.text()
        if self.flag(0.3):
            options = {"max_length": self.random.randint(2, 12), "stride": self.pick(0, 0, 1, 2), "side": self.pick("left", "right"),
                       "strategy": self.pick("longest_first", "only_first", "only_second")}
            case["options"] = options
        return case


def listed_parts(encoding):
    return "".join(map(listed, [encoding.ids, encoding.type_ids, encoding.special_tokens_mask, [p for o in encoding.offsets for p in o], encoding.tokens]))


def described(encoding):
    """Of the encoding and its windows: ids, types, special tokens, offsets and tokens. Windows of a pair have windows again in
    the package, which repeat the others."""
    return listed_parts(encoding) + "".join(map(listed_parts, encoding.overflowing))


def is_accident(tokenizer, description):
    """Whether the package's answers are by chance or by accident: an added token that is empty once it is normalized is found
    between any two bytes; of two that are the same, the order of a hash map decides; and what an empty Prepend or a match of nothing
    puts before the first character has no origin, so that later parts repeat the first character or panic."""
    normalizer = tokenizer.normalizer
    if normalizer is None:
        return False
    contents = [normalizer.normalize_str(token["content"]) for token in description["added_tokens"] if token["normalized"]]
    parts = json.dumps(description["normalizer"])
    return "" in contents or len(set(contents)) < len(contents) or '"prepend": ""' in parts or "(?=[A-Z])" in parts


def answer(tokenizer, case):
    options = case.get("options")
    tokenizer.no_truncation()
    if options:
        # The package refuses a stride that would leave nothing of windows, also for texts that need none.
        if options["stride"] >= options["max_length"] - tokenizer.num_special_tokens_to_add(False):
            return "panic"
        tokenizer.enable_truncation(options["max_length"], stride=options["stride"], strategy=options["strategy"], direction=options["side"])
        # Without room for the special tokens the package counts below zero, and cuts nothing.
        if options["max_length"] < tokenizer.num_special_tokens_to_add("pair" in case):
            return "panic"
    encoding = tokenizer.encode(case["text"], case.get("pair"))
    text = described(encoding)
    for skip in (False, True):
        text += tokenizer.decode(encoding.ids, skip_special_tokens=skip) + ","
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    path = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else HERE / "random.jsonl"
    written = refused = errors = 0
    with path.open("w", encoding="ascii") as out:
        for number in range(100 * count):
            if written == count:
                break
            maker = Maker(f"{seed}/{number}")
            description = maker.tokenizer()
            cases = [maker.case() for _ in range(6)]
            try:
                tokenizer = Tokenizer.from_str(json.dumps(description))
            except BaseException as error:  # a panic of the reference is no Exception
                if isinstance(error, KeyboardInterrupt):
                    raise
                refused += 1
                print("refused:", str(error)[:150], file=sys.stderr)
                continue
            for case in cases:
                try:
                    case["hash"] = answer(tokenizer, case)
                except BaseException as error:
                    if isinstance(error, KeyboardInterrupt):
                        raise
                    case["hash"] = "panic" if "Panic" in type(error).__name__ else "error"
                    errors += 1
            if is_accident(tokenizer, description):
                continue
            out.write(json.dumps({"tokenizer": description, "cases": cases}) + "\n")
            written += 1
    print(written, "tokenizers,", refused, "refused,", errors, "errors,", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
