"""Records how the pre-tokenizers of GGUF files ("tokenizer.ggml.pre") cut texts: pieces.jsonl.

    python record.py [PUBLISHED]        recorded with tokenizers 0.23.3

The patterns are those of the models' tokenizer.json, as llama.cpp (src/llama-vocab.cpp) quotes them beside its own; the package
`tokenizers` cuts by them. PUBLISHED is a folder of published tokenizers (tools/fetch_tokenizers): where it has one of a name's models, its
own normalizer and pre-tokenizer must cut alike. A line is {"name", "hashes"}: a hash for each 256 lines of
../tokenizer_corpus/corpus.jsonl (without its longest ones), the begin of the SHA-256 of the pieces with a zero byte behind each and a
line feed behind each text. tests/unit/tokenizers/gguf_pre_tokenizers_test.cpp makes the same text.
"""
import hashlib
import json
import pathlib
import sys

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tokenizer_corpus"))
from record import corpus  # noqa: E402

LINES_OF_A_HASH = 256
LONGEST = 2000

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES
QWEN2 = LLAMA3.replace("{1,3}", "")
QWEN35 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + SPACES
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def cased(upper, lower, suffix, numbers, last=r" ?[^\s\p{L}\p{N}]+[\r\n/]*"):
    """The pattern of GPT-4o and its relatives."""
    before = r"[^\r\n\p{L}\p{N}]?"
    return f"{before}{upper}*{lower}+{suffix}|{before}{upper}+{lower}*{suffix}|{numbers}|{last}" + SPACES


GPT4O = cased(UPPER, LOWER, CONTRACTIONS + "?", r"\p{N}{1,3}")
TEKKEN = cased(UPPER, LOWER, "", r"\p{N}")
without_han = [part[:-1] + r"&&[^\p{Han}]]" for part in (UPPER, LOWER)]
KIMI = r"[\p{Han}]+|" + cased(*without_han, CONTRACTIONS + "?", r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*")
ASCII_MARK = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"""
DEEPSEEK3 = ASCII_MARK + r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*" + SPACES
SPARK = ASCII_MARK + r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+"
HAN_AND_KANA = "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"
DEEPSEEK_CJK = "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+"
DEEPSEEK_LETTERS = (
    "\\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF\u0370-\u0373"
    "\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F"
    "\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77"
    "\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-"
    "\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC"
    "\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-"
    "\u2134\u2139\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3"
    "\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17"
    "\uFF21-\uFF3A\uFF41-\uFF5A\U00010400-\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-"
    "\U00010CB2\U00010CC0-\U00010CF2\U000118A0-\U000118DF\U0001E900-\U0001E943]+")
BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+"
DIGIT = r"\p{N}"
JAIS_SPACES = "".join(rf"|\s{{{n}}}(?!\S)" for n in (512, 256, 128, 64, 32, 16, 8, 4)) + r"|\s{1,2}(?!\S)|\s{1}"
AFMOE_SCRIPTS = "[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u3040-\u309F\u30A0-\u30FF\uFF65-\uFF9F\u2F00-\u2FDF\u0E40-\u0E7F\u0E80-\u0EFF\u1780-\u17FF\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF\uAC00-\uD7AF\u1100-\u11FF]+"
YOUTU_SCRIPTS = "[\uAC00-\uD7A3\u3131-\u318E]+|[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-\uFE4F]+|[\u3105-\u312F]+|[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"

# The patterns, one after the other; "NFC" stands for the normalizer.
NAMES = [
    (["default"], [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
    (["llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "dbrx", "smaug-bpe", "glm4",
      "chatglm-bpe"], [LLAMA3]),
    (["jais-2"], [LLAMA3.removesuffix(r"|\s+(?!\S)|\s+") + JAIS_SPACES]),
    (["deepseek-llm"], ["[\r\n]", DEEPSEEK_LETTERS, "\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+", r"\s+$", DEEPSEEK_CJK, r"\p{N}+"]),
    (["deepseek-coder"], ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", DEEPSEEK_CJK, DIGIT]),
    (["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"], [r"\p{N}{1,3}", HAN_AND_KANA, DEEPSEEK3]),
    (["spark2_5"], [r"\p{N}{1,3}", HAN_AND_KANA, SPARK, DIGIT]),
    (["youtu"], [YOUTU_SCRIPTS, cased(UPPER, LOWER, CONTRACTIONS + "?", DIGIT)]),
    (["falcon"], [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"]),
    (["mpt", "gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "gigachat", "a.x-4.0", "mellum", "modern-bert", "olmo",
      "jais", "trillion", "granite-docling", "exaone4", "jina-v1-en", "jina-v2-code", "roberta-bpe"], [GPT2]),
    (["starcoder", "refact", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"], [DIGIT, GPT2]),
    (["command-r"], ["NFC", DIGIT, GPT2]),
    (["qwen2"], ["NFC", QWEN2]),
    (["qwen35"], ["NFC", QWEN35]),
    (["deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"], [QWEN2]),
    (["poro-chat", "bloom", "gpt3-finnish"], [BLOOM]),
    (["viking"], [BLOOM, DIGIT]),
    (["tekken"], [TEKKEN]),
    (["chameleon"], ["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"([\t\n]|    |  )", DIGIT, r"[\p{P}!-/:-@\[-`{-~]",
                     GPT2]),
    (["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2", "granite-embed-multi-97m"], [GPT4O]),
    (["tiny_aya", "cohere2moe"], ["NFC", r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O]),
    (["kimi-k2"], [KIMI]),
    (["superbpe"], [r"\p{N}+", r"(?=(\d{3})+(?!\d))"]),
    (["bailingmoe", "bailingmoe2", "llada-moe"],
     [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"]),
    (["seed-coder"], [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+" + SPACES]),
    # Digits in threes from the right.
    (["afmoe"], [r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))", AFMOE_SCRIPTS, DEEPSEEK3]),
    (["exaone-moe"], [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"]),
    (["minicpm5"], [r"\p{N}{1,3}", CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES]),
    (["laguna"], [r"[^\n]+|[\n]+", QWEN2]),
    (["ufakzeka"], [r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES]),
]
PUBLISHED = {"gpt-4o": "gpt4o", "qwen2": "qwen2_5", "llama-bpe": "llama3", "deepseek-v3": "deepseek_v3", "command-r": "command_r_plus",
             "tekken": "mistral_nemo", "gpt-2": "gpt2"}
LINES = [line for line in corpus() if len(line) <= LONGEST]


def hashes_of(cut):
    text = ["".join(piece + "\0" for piece in cut(line)) + "\n" for line in LINES]
    groups = ["".join(text[i:i + LINES_OF_A_HASH]) for i in range(0, len(text), LINES_OF_A_HASH)]
    return [hashlib.sha256(group.encode()).hexdigest()[:12] for group in groups]


def cut_by(patterns):
    normalize = normalizers.NFC().normalize_str if patterns[0] == "NFC" else lambda text: text

    def part(pattern):
        if pattern == DIGIT:  # this is how tokenizer.json says it
            return pre_tokenizers.Digits(individual_digits=True)
        return pre_tokenizers.Split(Regex(pattern), "isolated")

    splitter = pre_tokenizers.Sequence([part(pattern) for pattern in patterns if pattern != "NFC"])

    def cut(text):
        text = normalize(text)
        return [piece for piece, _ in splitter.pre_tokenize_str(text)] if text else []

    return cut


def cut_by_published(path):
    tokenizer = Tokenizer.from_file(str(path))

    def cut(text):
        text = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        ends = [offsets for _, offsets in tokenizer.pre_tokenizer.pre_tokenize_str(text)] if text else []
        return [text[begin:end] for begin, end in ends]

    return cut


def main():
    with (HERE / "pieces.jsonl").open("w") as out:
        for names, patterns in NAMES:
            hashes = hashes_of(cut_by(patterns))
            for name in names:
                out.write(json.dumps({"name": name, "hashes": " ".join(hashes)}) + "\n")
                if len(sys.argv) > 1 and name in PUBLISHED:
                    published = hashes_of(cut_by_published(pathlib.Path(sys.argv[1]) / PUBLISHED[name] / "tokenizer.json"))
                    print(name, PUBLISHED[name], "the same" if published == hashes else "DIFFERENT")


if __name__ == "__main__":
    main()
