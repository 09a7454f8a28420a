"""Records what the Python packages `tokenizers` and `transformers` make of a nasty corpus.

    python record_tokenizers.py MODEL_FOLDER      MODEL_FOLDER: all-MiniLM-L6-v2 (its vocabulary is not kept here)

Recorded with tokenizers 0.23.3 and transformers 5.23.0. Writes under tokenizers/ beside this file:
    corpus.jsonl            {"text"} a line, or {"hex"} for bytes that are no UTF-8, or {"repeat": [text, times]}
    NAME/                   a small tokenizer: tokenizer.json, or vocab.txt and its companions
    NAME.jsonl              cases for it (see `case` below)
    minilm.jsonl            the same for all-MiniLM-L6-v2
Long encodings are kept as a hash and their ids.
Values are in the contract's terms: offsets in code points, byte_offsets in UTF-8 bytes.
"""
import json
import pathlib
import sys
import unicodedata

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertTokenizer

OUT = pathlib.Path(__file__).parent / "tokenizers"

CORPUS = [
    {"text": text}
    for text in [
        "",
        " ",
        "   \t\n\r  ",
        "\u00a0\u3000\u2003",
        "The quick brown fox jumps over the lazy dog.",
        "hello",
        "Hello, World! unaffable's un-affable can't won't do not",
        "UPPER lower MiXeD ÄÖÜ äöü ẞ ß",
        "naïve café résumé Zürich façade piñata Ångström",
        "nai\u0308ve cafe\u0301 re\u0301sume\u0301 A\u030angstro\u0308m",
        "a\u0301\u0302\u0303\u0304\u0323 stacked q\u0307\u0323 \u0323\u0307q",
        "\u0301leading mark, \u200dzero width joiner",
        "İstanbul IĞDIR ıüŞş \u0130\u0307",
        "straße ſtraße ſ \u212aelvin \u2126hm \u212bngström",
        "ﬁne ﬂow oﬀice ﬃ ﬄ ĳ ǆ ǅ",
        "ΑΒΓΔ Σίσυφος ΟΔΥΣΣΕΎΣ άέήίόύώ",
        "Привет, мир! ЁЖИК ёжик Й й",
        "你好，世界。中文分词 mixed 中a文b",
        "日本語のテキスト、カタカナ ﾊﾝｶｸ がぎぐげご",
        "한국어 텍스트 \u1112\u1161\u11ab\u1100\u116e\u11a8 한글",
        "繁體字 㐀㐁 𠀀𠀁 豈更車 𪜀 丽 𫠠",
        "مرحبا بالعالم، كيف الحالك؟ مُحَمَّد",
        "שלום עולם! שָׁלוֹם",
        "สวัสดีชาวโลก ภาษาไทย ำ น้ำ",
        "नमस्ते दुनिया। हिन्दी में क्षत्रिय ज़िंदगी",
        "বাংলা ভাষা தமிழ் తెలుగు ಕನ್ನಡ മലയാളം",
        "ខ្មែរ ລາວ မြန်မာ བོད་ཡིག",
        "Tiếng Việt: Cụ thể, bạn sẽ tham gia một nhóm",
        "😀 😃😄 👍🏽 👩‍👩‍👧‍👦 👨🏿‍💻 🏳️‍🌈 🇩🇪🇫🇷 1️⃣ #️⃣ ❤️",
        "smile🙂middle text🙂",
        "a\u0000b\u0001c\u0007d\u001fe\u007ff\u0080g\u009fh",
        "tab\tnew\nline\r\ncarriage\rvertical\u000bform\u000cnext\u0085line\u2028sep\u2029par",
        "zero\u200bwidth\u200cnon\u200djoiner\u2060word\ufeffbom soft\u00adhyphen",
        "right\u202eto\u202cleft \u200emarks\u200f",
        "replacement \ufffd char \ufffd\ufffd",
        "private \ue000 use \U000f0000 \U0010ffff unassigned \u0378 \u2fe0",
        "[CLS] and [MASK] in text [SEP] [PAD][UNK] [mask] [ MASK ] [MASK]s",
        "[[CLS]] [MASK[MASK]] [SEP][SEP]",
        "...!!!??? --- ___ ***'\"``~~ @#$%^&*()+=[]{}|\\:;<>,/",
        "“curly” ‘quotes’ — dash – en … ellipsis « guillemets » ¿qué? ¡sí!",
        "、。「」『』【】〈〉《》・：；！？（）",
        "$100 €200 £300 ¥400 ₹500 ₿1 50% ±3 ×÷ √2 ∑ ∞ ≤≥",
        "0 1 12 123 1234567890 3.14159 1,000,000 1e-9 0x1F ½ ² ³ Ⅷ ٣٤٥ १२३",
        "https://www.example.com/path/to?query=1&b=c#frag mailto:someone@example.org",
        "user_name@domain.co.uk C:\\Windows\\System32 /usr/local/bin",
        "def f(x): return x**2  # comment\n\tif x > 0: pass",
        "snake_case camelCase kebab-case SCREAMING_CASE",
        "pneumonoultramicroscopicsilicovolcanoconiosis antidisestablishmentarianism",
        "ⒶⒷⒸ ①②③ 𝐀𝐁𝐂 𝒜𝔅ℂ ＡＢＣ ａｂｃ １２３",
        "Ǻ ǻ Ḕ ḕ Ṩ ṩ ậ ặ ὰ ᾳ ᾲ ᾷ",
        "\u0344 \u0340\u0341 \u0f73 \u0958 \u2adc \U0001d15e \U0001d1bc",
        "\U0001d165\u0301 x\u302e\u0301y \U0001d16d\u0323\u0301",
        "ꟋꟌꟐꟖ Ᲊ \U00010d50\U00010d51 \U00016ea0 ẞ Ⴀ Ა Ꭰ ꭰ",
        "\u07fd\u0898\u1abf\u1ac1 \u11938 \u32ff \ua7f2",
        "a" * 100,
        "a" * 101,
        "é" * 100 + " " + "é" * 101,
        "\u4e2d" * 60,
        "ab" * 49 + "ab" + " tail",
        "word " * 40,
        "trailing space ",
        "  leading and   inner   spaces  ",
        "The Foo<Bar> token, FOO<bar> and foo <bar> ; <left> x <right> y<both> z <one> a<one>b <one>",
        "  <left>   <right>   <both>   <one>   end",
        "ÉTÉ été e\u0301te\u0301 special<SP> <sp>  <SP>  <NORM> <norm> <Norm>",
        "aaa aaaa aaaaa xaaax aaa",
    ]
] + [
    {"repeat": ["a", 10000]},
    {"repeat": ["é", 10000]},
    {"repeat": ["東", 1000]},
    {"repeat": ["e\u0301", 5000]},
    {"repeat": ["!", 3000]},
    {"repeat": ["The cat sat on the mat; naïve 東京 😀. ", 60]},
    {"hex": "ff"},
    {"hex": "68c3"},
    {"hex": "61c36220e28262e282ac"},
    {"hex": "f09f98f09f9880ed a080edb08061f4908080c080".replace(" ", "")},
    {"hex": "e0808061f8888080806261ef bf".replace(" ", "")},
]

PAIRS = [
    ("", ""),
    ("", "only the second"),
    ("only the first", ""),
    ("How many people live in Berlin?", "Berlin has a population of 3,520,031 registered inhabitants."),
    ("the cat sat on the mat and the dog ran", "naïve 東京"),
    ("[MASK] café", "[SEP] 😀 the fox"),
    ("x", "the quick brown fox jumps over the lazy dog the quick brown fox"),
]

CUT_TEXT = "the quick brown fox jumps over the lazy dog, naïve café 東京"

CUTS = [
    {"max_length": length, "stride": stride, "strategy": strategy, "side": side}
    for length, stride in [(0, 0), (3, 0), (4, 0), (8, 0), (8, 2), (12, 3), (5, 1), (64, 3), (6, 5)]
    for strategy in ("longest_first", "only_first", "only_second")
    for side in ("right", "left")
]


def text_of(entry):
    if "hex" in entry:
        return bytes.fromhex(entry["hex"]).decode("utf-8", errors="replace")
    return entry["text"] if "text" in entry else entry["repeat"][0] * entry["repeat"][1]


def described(encoding, first, second, is_window=False):
    """The encoding in the contract's terms. Offsets of `tokenizers` are of the text that the token is from: the second
    one has the type 1 in all tokenizers here, or 2 in the template of normal_forms."""
    byte_offsets = []
    for (begin, end), type_id in zip(encoding.offsets, encoding.type_ids):
        text = second if second is not None and type_id in (1, 2) else first
        byte_offsets.append([len(text[:begin].encode()), len(text[:end].encode())])
    told = {
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "special_mask": encoding.special_tokens_mask,
        "offsets": [list(pair) for pair in encoding.offsets],
        "byte_offsets": byte_offsets,
        "tokens": encoding.tokens,
    }
    if encoding.overflowing and not is_window:
        # Windows of a pair repeat windows of their own, all of which are in this list as well.
        told["overflowing"] = [described(window, first, second, True) for window in encoding.overflowing]
    return told


def hashed_text(told):
    """What is hashed: all lists' entries in order, each followed by a comma; the windows after their encoding."""
    parts = []
    for key in ("ids", "type_ids", "special_mask", "offsets", "byte_offsets", "tokens"):
        for entry in told[key]:
            parts += [f"{part}," for part in (entry if isinstance(entry, list) else [entry])]
    return "".join(parts) + "".join(map(hashed_text, told.get("overflowing", [])))


def hash_of(told):
    """FNV-1a with 64 bits."""
    state = 0xCBF29CE484222325
    for byte in hashed_text(told).encode():
        state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{state:016x}"


def case(tokenizer, first, second=None, options=None, source=None):
    """{"line" | "text" (+ "pair"), "options"?, then "error": true | "want": {...} | "hash" and "ids"}"""
    options = options or {}
    record = dict(source) if source else {"text": first}
    if second is not None:
        record["pair"] = second
    if options:
        record["options"] = options
    try:
        if "max_length" in options:
            if options["max_length"] < tokenizer.num_special_tokens_to_add(second is not None):
                raise ValueError
            tokenizer.enable_truncation(
                options["max_length"], stride=options["stride"], strategy=options["strategy"], direction=options["side"]
            )
        encoding = tokenizer.encode(first, second, add_special_tokens=options.get("add_special_tokens", True))
    except BaseException as error:  # PanicException of the Rust side is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        record["error"] = True
        return record
    finally:
        tokenizer.no_truncation()
    want = described(encoding, first, second)
    if len(want["ids"]) <= 12 and len(encoding.overflowing) <= 1:
        record["want"] = want
    else:
        record["hash"] = hash_of(want)
        if len(want["ids"]) <= 60:
            record["ids"] = want["ids"]
    return record


def record(name, tokenizer, corpus, cuts=(), pairs=()):
    tokenizer.no_padding()
    tokenizer.no_truncation()
    records = [case(tokenizer, text_of(CORPUS[line]), source={"line": line}) for line in corpus]
    for first, second in pairs:
        records.append(case(tokenizer, first, second))
        records.append(case(tokenizer, first, second, {"add_special_tokens": False}))
    for cut in cuts:
        for first, second in [(CUT_TEXT, None), PAIRS[3], PAIRS[4], PAIRS[6]]:
            records.append(case(tokenizer, first, second, cut))
    for line in corpus:
        ids = tokenizer.encode(text_of(CORPUS[line])).ids
        if not 0 < len(ids) <= 30:
            continue
        for skip in (False, True):
            records.append({"decode": ids, "skip": skip, "text": tokenizer.decode(ids, skip_special_tokens=skip)})
    lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in records]
    (OUT / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(name, len(records), sum(map(len, lines)))


WORDS = """the quick brown fox jump over lazy dog hello world how many people live in berlin has a population of café cafe
naive naïve zürich zurich The Hello World résumé un aff able do not can won cat sat on mat and ran only first second été
foo bar left right both one end tail word special aaa aaaa strasse straße istanbul привет мир 中 東 京 東京 γ σ""".split()


def vocabulary(extra=()):
    """Special tokens, words, and the letters of the corpus below U+3000 in several forms; about one in eight is left out
    so that unknown words occur."""
    letters = set()
    for entry in CORPUS:
        text = text_of(entry)[:200]
        for form in (text, text.lower(), unicodedata.normalize("NFD", text), unicodedata.normalize("NFKC", text)):
            letters.update(c for c in form if not c.isspace() and unicodedata.category(c)[0] != "C" and ord(c) < 0x3000)
    letters = sorted(c for c in letters if ord(c) % 8 != 5 or ord(c) < 128)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *letters]
    tokens += ["##" + c for c in letters if c.isalnum() or unicodedata.category(c)[0] == "M"]
    tokens += ["##s", "##ing", "##able", "##aff", "##ness", "##\u0301", "##京"] + list(extra)
    return {token: i for i, token in enumerate(dict.fromkeys(tokens))}


def small(normalizer, pre_tokenizer, post_processor=None, decoder=None, **rules):
    vocab = vocabulary()
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", **rules))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    if post_processor is not None:
        tokenizer.post_processor = post_processor(vocab)
    if decoder is not None:
        tokenizer.decoder = decoder
    return tokenizer


def template(single, pair):
    return lambda vocab: processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(token, vocab[token]) for token in ("[CLS]", "[SEP]", "[MASK]")]
    )


BERT_TEMPLATE = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
SPECIAL = [AddedToken(token, special=True) for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")]


def save(name, tokenizer):
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    return tokenizer


def record_small():
    everything = range(len(CORPUS))
    some = [i for i in everything if i % 3 == 0]
    bert = pre_tokenizers.BertPreTokenizer()

    cased = small(
        normalizers.BertNormalizer(lowercase=False),
        bert,
        lambda vocab: processors.BertProcessing(("[SEP]", vocab["[SEP]"]), ("[CLS]", vocab["[CLS]"])),
        decoders.WordPiece(cleanup=False),
    )
    cased.add_special_tokens(SPECIAL)
    record("cased", save("cased", cased), everything, CUTS[::3], PAIRS)

    accents = small(
        normalizers.BertNormalizer(strip_accents=False, handle_chinese_chars=False), bert, BERT_TEMPLATE, decoders.WordPiece()
    )
    record("accents_kept", save("accents_kept", accents), everything, (), PAIRS)

    stripped = small(
        normalizers.BertNormalizer(strip_accents=True, lowercase=False, clean_text=False),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous")]),
        BERT_TEMPLATE,
        decoders.WordPiece(),
        max_input_chars_per_word=20,
    )
    record("stripped_cased", save("stripped_cased", stripped), some)

    forms = small(
        normalizers.Sequence(
            [
                normalizers.Strip(),
                normalizers.Replace("``", '"quoted"'),
                normalizers.NFKD(),
                normalizers.StripAccents(),
                normalizers.Lowercase(),
                normalizers.NFC(),
            ]
        ),
        pre_tokenizers.Whitespace(),
        template("$A", "$B:2 [SEP]:1 $A:3 [MASK]:4 $A:5"),
    )
    record("normal_forms", save("normal_forms", forms), everything, CUTS[1::4], PAIRS)

    added = small(normalizers.BertNormalizer(), bert, BERT_TEMPLATE, decoders.WordPiece())
    added.add_special_tokens(SPECIAL)
    added.add_tokens(
        [
            AddedToken("Foo<Bar>", normalized=True),
            AddedToken("<left>", lstrip=True, normalized=False),
            AddedToken("<right>", rstrip=True, normalized=False),
            AddedToken("<both>", lstrip=True, rstrip=True),
            AddedToken("<one>", single_word=True),
            AddedToken("ÉTÉ", single_word=True),
            AddedToken("<SP>", special=True, normalized=True),
            AddedToken("<Norm>", normalized=False),
            AddedToken("aaa", normalized=False),
            AddedToken("aaaa", normalized=False),
            AddedToken("の", normalized=True),
        ]
    )
    record("added_tokens", save("added_tokens", added), everything, CUTS[2::9], PAIRS)

    plain = small(None, pre_tokenizers.WhitespaceSplit())
    record("plain", save("plain", plain), some, CUTS[::7], PAIRS)


def record_vocab_txt():
    tokens = list(vocabulary(["<mask>", "", "the ", "\u3000x"]))
    for name, files in {
        "vocab_txt": {},
        "vocab_txt_cased": {
            "tokenizer_config.json": {
                "do_lower_case": False,
                "strip_accents": None,
                "tokenize_chinese_chars": False,
                "tokenizer_class": "BertTokenizer",
            },
            "special_tokens_map.json": {
                "mask_token": {"content": "<mask>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False},
                "unk_token": "[UNK]",
                "additional_special_tokens": ["<left>", "<SP>"],
            },
            "added_tokens.json": {"<right>": 9001, "Foo<Bar>": 9000, "<SP>": 9002},
        },
        "vocab_txt_decoder": {
            "tokenizer_config.json": {
                "do_lower_case": True,
                "strip_accents": False,
                "cls_token": "<cls>",
                "mask_token": "[MASK]",
                "added_tokens_decoder": {
                    "4": {"content": "[MASK]", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False, "special": True},
                    "2000": {"content": "<One>", "lstrip": False, "normalized": True, "rstrip": False, "single_word": True, "special": False},
                },
            },
        },
    }.items():
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8", newline="")
        for file, content in files.items():
            (folder / file).write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        tokenizer = BertTokenizer.from_pretrained(str(folder)).backend_tokenizer
        record(name, tokenizer, [i for i in range(len(CORPUS)) if i % 2 == 0 or i in range(36, 38) or i in range(62, 66)], (), PAIRS[:4])


def main():
    OUT.mkdir(exist_ok=True)
    (OUT / "corpus.jsonl").write_text(
        "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in CORPUS), encoding="utf-8"
    )
    record_small()
    record_vocab_txt()
    minilm = Tokenizer.from_file(str(pathlib.Path(sys.argv[1]) / "tokenizer.json"))
    record("minilm", minilm, range(len(CORPUS)), CUTS[::5], PAIRS)


main()
