"""Writes corpus.jsonl: more than 2,000 nasty lines for tokenizers, from a seed and sentences written for this purpose.

    python make_corpus.py

A line is {"text": …} or {"repeat": [text, times]}. JSON escapes keep lone surrogates, which a reader turns into U+FFFD. The file is
committed, since later versions of Python have later Unicode tables.
"""
import json
import pathlib
import random
import unicodedata

OUT = pathlib.Path(__file__).parent / "corpus.jsonl"

SENTENCES = [
    "The quick brown fox jumps over the lazy dog while nobody's watching it.",
    "It isn't what you'd think; they've said we'll see, and I'm sure she'd agree: it's theirs.",
    "In the year 1984, 3,141 people paid $12.50 each — about £9.99 or €11,20 (tax included).",
    "Der Übermut tut selten gut, sagte Jürgen Groß auf der Straße nach Köln.",
    "L'été dernier, j'ai mangé des crêpes à l'orée du bois où naît l'œuvre d'un garçon naïf.",
    "El pingüino español comió piñas; ¿quién lo habría creído? ¡Nadie!",
    "Żółw ścigał się z zającem, a gęś patrzyła na źrebię w Łodzi.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Pijamalı hasta yağız şoföre çabucak güvendi; İstanbul'da ışık yandı.",
    "Tôi không biết tiếng Việt nhưng tôi thích phở và cà phê sữa đá.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Щастя і здоров'я бажаємо всім, хто їсть борщ у Києві.",
    "Ο γρήγορος σκύλος έτρεξε στον δρόμο· ΟΔΥΣΣΕΥΣ και Σίσυφος γελούσαν.",
    "על שולחן העץ היו שלושה ספרים, וביניהם מכתב ישן מירושלים.",
    "كان الولد يقرأ كتابًا في الحديقة عندما هطل المطر فجأة.",
    "گربه‌ای که روی دیوار می‌نشست، به ماه نگاه می‌کرد.",
    "बच्चे मैदान में खेल रहे थे और बारिश अचानक शुरू हो गई।",
    "আমি বাংলায় গান গাই, আমি আমার আমিকে চিরদিন খুঁজে পাই।",
    "நான் நாளை காலை பள்ளிக்கு செல்வேன்; மழை பெய்யலாம்.",
    "నేను రేపు ఉదయం పాఠశాలకు వెళ్తాను, వర్షం పడవచ్చు.",
    "แมวสีดำนั่งอยู่บนหลังคาบ้านและมองดูพระจันทร์เต็มดวง",
    "ແມວນັ່ງຢູ່ເທິງຫຼັງຄາເຮືອນ ແລະ ເບິ່ງດວງຈັນ",
    "ကြောင်လေးသည် အိမ်ခေါင်မိုးပေါ်တွင် ထိုင်နေသည်။",
    "ឆ្មាខ្មៅអង្គុយលើដំបូលផ្ទះ ហើយមើលព្រះច័ន្ទ។",
    "昨天晚上我们在河边看月亮，风很大，船都回来了。",
    "繁體中文的書寫與簡體不同，但意思往往相同：學習、開發、電腦。",
    "昨日、東京タワーの下で友達とラーメンを食べました。とても美味しかった！",
    "ｶﾀｶﾅとﾋﾗｶﾞﾅの違いは何ですか？「ー」も使います。",
    "어제 저녁에 강가에서 달을 보았는데 바람이 많이 불었습니다.",
    "ქართული ენა ძალიან ლამაზია და უძველესი დამწერლობა აქვს.",
    "Հայերենը հնդեվրոպական լեզու է, որն ունի իր այբուբենը։",
    "አማርኛ የኢትዮጵያ ቋንቋ ነው፤ በራሱ ፊደል ይጻፋል።",
    "Монгол хэл нь кирилл болон ᠮᠣᠩᠭᠣᠯ бичгээр бичигддэг.",
    "བོད་ཡིག་ནི་བོད་པའི་སྐད་ཡིག་ཡིན།",
    "Ich denke, thus je suis, 所以我在, そして私はここにいる, и всё.",
]
CODE = [
    "def f(x: int) -> str:\n    return f\"{x:>10}\"  # comment\n",
    "for (size_t i = 0; i < n; ++i) { sum += a[i] * b[i]; }\n",
    "#include <vector>\ntemplate <typename T> using V = std::vector<T>;\n",
    "SELECT id, name FROM users WHERE age >= 18 AND name LIKE '%O''Brien%';\n",
    "<div class=\"a b\" data-x='1'>&nbsp;&amp;<br/></div>\n",
    "{\"key\": [1, 2.5e-3, null, true, \"\\u00e9\\n\"]}\n",
    "git commit -m \"fix: don't\" && rm -rf ./build/*.o || exit 1\n",
    "fn main() { println!(\"{:?}\", vec![1u8, 0xFF]); }\n",
    "let re = /^[a-z0-9_-]{3,16}$/gi;\n",
    "x = (a ?? b)?.c ?? {...d, [e]: `t${f}`};\r\n",
    "\\begin{equation} \\sum_{i=0}^{n} x_i^2 \\leq \\alpha \\end{equation}\n",
    "if [[ $? -ne 0 ]]; then echo \"failed\" >&2; fi\n",
    "\tif a==b:\n\t\tpass\n\telse:\n\t    raise ValueError('x')\n\n\n",
    "camelCaseHTTPServer2XMLParser snake_case_name SCREAMING_SNAKE kebab-case-name __init__ $var @attr",
    "http://user:pa%20ss@example.org:8080/a/b.c?d=e&f=g#h https://例え.jp/パス",
]
SPECIALS = [
    "<s>", "</s>", "<unk>", "<pad>", "<mask>", "[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "<|endoftext|>", "<|startoftext|>",
    "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|im_start|>", "<|im_end|>",
    "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<|endofprompt|>", "<|fim_prefix|>", "<tool_call>", "</tool_call>", "<think>",
    "</think>", "<BOS_TOKEN>", "<EOS_TOKEN>", "[INST]", "[/INST]", "[TOOL_CALLS]", "<extra_id_0>", "<extra_id_99>", "<META>",
    "<|notimestamps|>", "<|0.00|>", "<|startoftranscript|>", "<|en|>", "<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cUser\uff5c>",
    "<0x0A>", "<0xE2>", "\u2581", "\u0120", "\u010a", "Ġthe", "▁the", "##ing", "</w>", "<|reserved_special_token_5|>", "<unused0>",
]
EMOJI = [
    "\U0001F600", "\U0001F44D\U0001F3FD", "\U0001F469\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466", "\U0001F468\U0001F3FF\u200D\U0001F4BB",
    "\U0001F3F3\uFE0F\u200D\U0001F308", "\U0001F1E9\U0001F1EA", "\U0001F1EB\U0001F1F7\U0001F1EF", "1\uFE0F\u20E3", "#\uFE0F\u20E3", "\u2764\uFE0F",
    "\u2764\uFE0F\u200D\U0001F525", "\U0001F9D1\U0001F3FB\u200D\U0001F91D\u200D\U0001F9D1\U0001F3FE", "\U0001FAF1\U0001F3FC\u200D\U0001FAF2\U0001F3FF",
    "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "\u261D\U0001F3FD", "\U0001F441\uFE0F\u200D\U0001F5E8\uFE0F",
    "\U0001FAE8", "\u00A9\uFE0F", "\u3030\uFE0F", "\U0001F636\u200D\U0001F32B\uFE0F",
]
SPACES = [
    " ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u00a0", "\u1680", "\u180e", "\u2000",
    "\u2003", "\u2007", "\u2009", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f", "\u205f", "\u2060", "\u3000", "\ufeff", "\u00ad", "\u200c",
    "\u200d", "\u2800", "\u3164", "\u115f", "\x00", "\x08", "\x7f",
]
BIDI = ["\u200e", "\u200f", "\u061c", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"]
NUMBERS = ["0", "7", "42", "007", "123", "1234", "12345", "1234567890", "3.14159", "1,000,000", "1e-9", "0x1F", "½", "²³", "Ⅷ", "٣٤٥", "१२३", "৭৮", "௧௨", "一二三",
           "１２３", "①②", "\U0001D7D8\U0001D7D9", "\u0bf0", "\u3007", "90210-1234", "+49 (0) 30 901820", "192.168.0.1", "2026-11-25T03:52:00Z"]
QUIRKS = ["'s", "'S", "'t", "'RE", "'ve", "'Ll", "'d", "'M", "\u2019s", "'\u017f", "\u2019ll", "``", "''", "\"", "...", "\u2026", "--", "\u2014", "((", "))", "!?",
          "\u212a", "\u017f", "\u0130", "\u0131", "\u00df", "\u1e9e", "\u01c5", "\ufb01", "\ufb03", "\u2126", "\u212b", "\u0149", "\u1fb7", "\u0390", "\u03c2",
          "\u00aa", "\u00ba", "\u02b0", "\u2071", "\u3231", "\u33a5", "\u3392", "\ufdfa", "\u1e9b\u0323", "e\u0301", "\u00e9", "q\u0307\u0323", "\u0323\u0307q",
          "\u0344", "\u0f73", "\u0958", "\u2adc", "\U0001d15e", "\u1100\u1161\u11a8", "\uac01", "\u11a8", "\u1161", "\u0e33", "\u0eb3", "\u093f", "\u09be",
          "\u20dd", "\u0488", "a\u20dd", "\U0002f800", "\uf900", "\u2e80", "\u2f00", "\U0010ffff", "\ue000", "\ufffd", "\ufffe", "\u0378", "\U000e0100"]
BLOCKS = [
    (0x00A1, 0x017F), (0x0180, 0x024F), (0x0250, 0x02FF), (0x0300, 0x036F), (0x0370, 0x03FF), (0x0400, 0x052F), (0x0531, 0x058F), (0x0591, 0x05F4),
    (0x0600, 0x06FF), (0x0700, 0x077F), (0x0780, 0x07FA), (0x0800, 0x08FF), (0x0900, 0x097F), (0x0980, 0x09FE), (0x0A01, 0x0A76), (0x0A81, 0x0AFF),
    (0x0B01, 0x0B77), (0x0B82, 0x0BFA), (0x0C00, 0x0C7F), (0x0C80, 0x0CF3), (0x0D00, 0x0D7F), (0x0D81, 0x0DF4), (0x0E01, 0x0E5B), (0x0E81, 0x0EDF),
    (0x0F00, 0x0FDA), (0x1000, 0x109F), (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x139F), (0x13A0, 0x13FD), (0x1400, 0x167F), (0x1680, 0x16F8),
    (0x1700, 0x17F9), (0x1800, 0x18AA), (0x1900, 0x19FF), (0x1A00, 0x1AAD), (0x1AB0, 0x1ACE), (0x1B00, 0x1BFF), (0x1C00, 0x1CFA), (0x1D00, 0x1DFF),
    (0x1E00, 0x1EFF), (0x1F00, 0x1FFE), (0x2000, 0x206F), (0x2070, 0x20F0), (0x2100, 0x218B), (0x2190, 0x22FF), (0x2300, 0x245F), (0x2460, 0x25FF),
    (0x2600, 0x27BF), (0x27C0, 0x29FF), (0x2A00, 0x2BFF), (0x2C00, 0x2DFF), (0x2E00, 0x2FDF), (0x3000, 0x30FF), (0x3100, 0x31EF), (0x3200, 0x33FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA000, 0xA4CF), (0xA4D0, 0xA6FF), (0xA700, 0xA7FF), (0xA800, 0xA8FF), (0xA900, 0xAAFF), (0xAB00, 0xABFF),
    (0xAC00, 0xD7A3), (0xD7B0, 0xD7FB), (0xE000, 0xF8FF), (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFEFC), (0xFF01, 0xFFFD), (0x10000, 0x101FD),
    (0x10280, 0x1039F), (0x10400, 0x104FF), (0x10900, 0x10A58), (0x11000, 0x111FF), (0x11200, 0x114FF), (0x12000, 0x12399), (0x13000, 0x1342F),
    (0x16800, 0x16FFF), (0x1B000, 0x1B2FB), (0x1D000, 0x1D1FF), (0x1D400, 0x1D7FF), (0x1E900, 0x1EEFF), (0x1F000, 0x1F2FF), (0x1F300, 0x1F6FF),
    (0x1F700, 0x1FAFF), (0x20000, 0x2A6DF), (0x2F800, 0x2FA1D), (0x30000, 0x3134A), (0xE0001, 0xE01EF), (0xF0000, 0xFFFFD),
]


def lines(rng):
    pick = rng.choice
    for text in ["", " ", "  ", "\n", "\t\n\r  ", "a", "A", "hello", " hello", "hello ", "  hello  world  ", "Hello, World!"]:
        yield text
    yield from SENTENCES
    yield from CODE
    yield "".join(CODE)
    for text in SPECIALS + EMOJI + NUMBERS + QUIRKS:
        yield text
    for text in SPACES:
        yield f"a{text}b{text}{text} c"
    for sentence in SENTENCES:  # each in other forms and cases
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            yield unicodedata.normalize(form, sentence)
        yield sentence.upper()
        yield sentence.lower()
        yield sentence.title()
        yield " ".join(sentence)
        yield sentence.replace(" ", pick(SPACES))
        yield sentence.replace(" ", "")
        words = sentence.split()
        rng.shuffle(words)
        yield " ".join(words) + pick(SPACES)
    for low, high in BLOCKS:
        for length in (5, 12, 30):
            yield "".join(pick([chr(rng.randint(low, high))] * 9 + [" "]) for _ in range(length))
        yield " ".join(chr(rng.randint(low, high)) + pick(["", "a", "\u0301", "\u200d", "1", "."]) for _ in range(8))
    parts = {"spaces": SPACES, "specials": SPECIALS, "emoji": EMOJI, "numbers": NUMBERS, "quirks": QUIRKS, "bidi": BIDI}
    words = [word for sentence in SENTENCES for word in sentence.split()]
    for name, own in parts.items():
        for _ in range(60):
            yield "".join(pick(own) if rng.random() < 0.5 else pick(words) + pick(["", " ", " "]) for _ in range(rng.randint(2, 14)))
    everything = [part for own in parts.values() for part in own] + words + [" "] * 60
    for _ in range(250):
        yield "".join(pick(everything) for _ in range(rng.randint(1, 25)))
    for _ in range(60):  # special tokens with spaces and letters around
        token = pick(SPECIALS)
        yield pick(["", " ", "a", "  ", "\n", "\u00e9"]) + token + pick(["", " ", "b", "  ", token, "1", "\u0301"]) + pick(["x", " y", ""])
    for _ in range(80):  # runs
        yield "".join(pick(" \n\ta1.'é中") * rng.randint(1, 9) for _ in range(rng.randint(1, 8)))
    for _ in range(60):  # digits
        yield "".join(pick("0123456789") for _ in range(rng.randint(1, 30))) + pick(["", ".", "km", " ", ",5"])
    for _ in range(80):  # Hangul jamo
        yield "".join(chr(pick([rng.randint(0x1100, 0x1112), rng.randint(0x1161, 0x1175), rng.randint(0x11A7, 0x11C2), rng.randint(0xAC00, 0xD7A3),
                                0x20, 0x302E])) for _ in range(rng.randint(2, 16)))
    for _ in range(80):  # letters with many marks, in any order
        yield "".join(pick("aeinozдיिक가") + "".join(chr(pick([0x0301, 0x0307, 0x0323, 0x0327, 0x0338, 0x05B0, 0x064B, 0x093C, 0x3099, 0x0345, 0x1D165, 0x200D]))
                                               for _ in range(rng.randint(0, 4))) for _ in range(rng.randint(1, 8)))
    for _ in range(60):  # lone surrogates
        yield "".join(pick(["a", " ", "\ud800", "\udfff", "\udbff", "\udc00", "é", "\U0001F600", "word "]) for _ in range(rng.randint(1, 10)))
    for _ in range(150):  # any code points at all
        yield "".join(chr(pick([rng.randint(0, 0x7F), rng.randint(0x80, 0xD7FF), rng.randint(0xE000, 0xFFFF), rng.randint(0x10000, 0x10FFFF)]))
                      for _ in range(rng.randint(1, 20)))
    for _ in range(60):  # paragraphs
        yield "".join(pick(SENTENCES) + pick([" ", "\n", "\n\n", "  ", "\r\n"]) for _ in range(rng.randint(2, 4)))


REPEATED = [
    ("a", 100_000), (" ", 20_000), ("\n", 5_000), ("ab", 50_000), ("The quick brown fox. ", 4_800), ("中文", 16_000), ("\U0001F600", 25_000),
    ("é", 3_000), ("e\u0301", 3_000), ("1", 30_000), ("!?", 5_000), ("don't ", 5_000), ("\u0301", 500), ("<s>", 3_000), ("[MASK] ", 2_000),
    (" a", 30_000), ("a\n", 10_000), ("\u2581", 3_000), ("\uac00\u1100\u1161 ", 5_000), ("x" * 99 + " ", 200), ("x" * 101 + " ", 200),
]


def main():
    rng = random.Random(31)
    seen = set()
    with OUT.open("w", encoding="ascii") as out:
        for text in lines(rng):
            if text in seen:
                continue
            seen.add(text)
            out.write(json.dumps({"text": text}) + "\n")
        for text, times in REPEATED:
            out.write(json.dumps({"repeat": [text, times]}) + "\n")
    print(len(seen) + len(REPEATED), "lines,", OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
