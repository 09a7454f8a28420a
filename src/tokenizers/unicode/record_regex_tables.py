"""Writes general_categories.inc, scripts.inc, regex_properties.inc and case_variants.inc: what \\p{…} and (?i:…) mean in
the regular expressions of the Python package `tokenizers` (Oniguruma), asked with patterns over all code points.

    python record_regex_tables.py        (recorded with tokenizers 0.23.3)
"""
import pathlib
import sys

import tokenizers
from tokenizers import Regex, pre_tokenizers

HERE = pathlib.Path(__file__).parent
ALL = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF)

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()

# Name and four-letter code.
SCRIPTS = """Adlam Adlm|Ahom Ahom|Anatolian_Hieroglyphs Hluw|Arabic Arab|Armenian Armn|Avestan Avst|Balinese Bali|Bamum Bamu|
Bassa_Vah Bass|Batak Batk|Bengali Beng|Bhaiksuki Bhks|Bopomofo Bopo|Brahmi Brah|Braille Brai|Buginese Bugi|Buhid Buhd|
Canadian_Aboriginal Cans|Carian Cari|Caucasian_Albanian Aghb|Chakma Cakm|Cham Cham|Cherokee Cher|Chorasmian Chrs|
Common Zyyy|Coptic Copt|Cuneiform Xsux|Cypriot Cprt|Cypro_Minoan Cpmn|Cyrillic Cyrl|Deseret Dsrt|Devanagari Deva|
Dives_Akuru Diak|Dogra Dogr|Duployan Dupl|Egyptian_Hieroglyphs Egyp|Elbasan Elba|Elymaic Elym|Ethiopic Ethi|Garay Gara|
Georgian Geor|Glagolitic Glag|Gothic Goth|Grantha Gran|Greek Grek|Gujarati Gujr|Gunjala_Gondi Gong|Gurmukhi Guru|
Gurung_Khema Gukh|Han Hani|Hangul Hang|Hanifi_Rohingya Rohg|Hanunoo Hano|Hatran Hatr|Hebrew Hebr|Hiragana Hira|
Imperial_Aramaic Armi|Inherited Zinh|Inscriptional_Pahlavi Phli|Inscriptional_Parthian Prti|Javanese Java|Kaithi Kthi|
Kannada Knda|Katakana Kana|Kawi Kawi|Kayah_Li Kali|Kharoshthi Khar|Khitan_Small_Script Kits|Khmer Khmr|Khojki Khoj|
Khudawadi Sind|Kirat_Rai Krai|Lao Laoo|Latin Latn|Lepcha Lepc|Limbu Limb|Linear_A Lina|Linear_B Linb|Lisu Lisu|
Lycian Lyci|Lydian Lydi|Mahajani Mahj|Makasar Maka|Malayalam Mlym|Mandaic Mand|Manichaean Mani|Marchen Marc|
Masaram_Gondi Gonm|Medefaidrin Medf|Meetei_Mayek Mtei|Mende_Kikakui Mend|Meroitic_Cursive Merc|
Meroitic_Hieroglyphs Mero|Miao Plrd|Modi Modi|Mongolian Mong|Mro Mroo|Multani Mult|Myanmar Mymr|Nabataean Nbat|
Nag_Mundari Nagm|Nandinagari Nand|New_Tai_Lue Talu|Newa Newa|Nko Nkoo|Nushu Nshu|Nyiakeng_Puachue_Hmong Hmnp|Ogham Ogam|
Ol_Chiki Olck|Ol_Onal Onao|Old_Hungarian Hung|Old_Italic Ital|Old_North_Arabian Narb|Old_Permic Perm|Old_Persian Xpeo|
Old_Sogdian Sogo|Old_South_Arabian Sarb|Old_Turkic Orkh|Old_Uyghur Ougr|Oriya Orya|Osage Osge|Osmanya Osma|
Pahawh_Hmong Hmng|Palmyrene Palm|Pau_Cin_Hau Pauc|Phags_Pa Phag|Phoenician Phnx|Psalter_Pahlavi Phlp|Rejang Rjng|
Runic Runr|Samaritan Samr|Saurashtra Saur|Sharada Shrd|Shavian Shaw|Siddham Sidd|SignWriting Sgnw|Sinhala Sinh|
Sogdian Sogd|Sora_Sompeng Sora|Soyombo Soyo|Sundanese Sund|Sunuwar Sunu|Syloti_Nagri Sylo|Syriac Syrc|Tagalog Tglg|
Tagbanwa Tagb|Tai_Le Tale|Tai_Tham Lana|Tai_Viet Tavt|Takri Takr|Tamil Taml|Tangsa Tnsa|Tangut Tang|Telugu Telu|
Thaana Thaa|Thai Thai|Tibetan Tibt|Tifinagh Tfng|Tirhuta Tirh|Todhri Todr|Toto Toto|Tulu_Tigalari Tutg|Ugaritic Ugar|
Vai Vaii|Vithkuqi Vith|Wancho Wcho|Warang_Citi Wara|Yezidi Yezi|Yi Yiii|Zanabazar_Square Zanb"""

PROPERTIES = """Alphabetic Lowercase Uppercase Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation
Extended_Pictographic Ideographic Unified_Ideograph Dash Diacritic Regional_Indicator Variation_Selector
Default_Ignorable_Code_Point Grapheme_Extend""".split()


def code_point(index):
    return index if index < 0xD800 else index + 0x800


def ranges(pattern):
    """Inclusive ranges of the code points that match; a run that reaches the surrogates goes on over them."""
    splitter = pre_tokenizers.Split(Regex(f"(?:{pattern})+"), "removed", invert=True)
    return [(code_point(begin), code_point(end - 1)) for _, (begin, end) in splitter.pre_tokenize_str(ALL)]


def members(pattern):
    return {c for first, last in ranges(pattern) for c in range(first, last + 1)}


def check_derived():
    """Classes that the program derives from the recorded ones."""
    of = {category: members(rf"\p{{{category}}}") for category in CATEGORIES}
    everything = set(range(0x110000))
    group = lambda letter: set().union(*[of[c] for c in CATEGORIES if c[0] == letter])
    for letter in "LMNPSZ":
        assert members(rf"\p{{{letter}}}") == group(letter), letter
    alpha = members(r"\p{Alphabetic}")
    word = alpha | group("M") | of["Nd"] | of["Pc"]
    space = members(r"\s")
    assert space == {*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
    assert members(r"\w") == members(r"\p{Word}") == word | {0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE}
    assert members(r"[\w]") == members("[[:word:]]") == word
    assert members(r"\d") == of["Nd"]
    assert members(r"\h") == members("[[:xdigit:]]") == {ord(c) for c in "0123456789abcdefABCDEF"}
    assert members("[[:punct:]]") == group("P") | group("S") and members(r"\p{Punct}") == group("P")
    assert members("[[:alnum:]]") == alpha | of["Nd"]
    assert members("[[:blank:]]") == of["Zs"] | {9}
    graph = everything - space - of["Cc"] - of["Cn"] - set(range(0xD800, 0xE000))
    assert members("[[:graph:]]") - set(range(0xD800, 0xE000)) == graph
    assert members("[[:print:]]") - set(range(0xD800, 0xE000)) == graph | of["Zs"]


def write(name, lines):
    head = f"// Written by record_regex_tables.py from tokenizers {tokenizers.__version__}; do not edit."
    (HERE / name).write_text("\n".join([head, *lines]) + "\n")


def packed(entries, indent="    "):
    lines, line = [], indent[:-1]
    for entry in entries:
        if len(line) + len(entry) + 2 > 118:
            lines.append(line)
            line = indent[:-1]
        line += f" {entry},"
    return [*lines, line]


def runs(patterns):
    """(first code point, number of its pattern or -1) of each run, -2 for surrogates; a code point matches one
    pattern at most. The number plus one is asked bit by bit."""
    values = [0] * 0x110000
    for bit in range(len(patterns).bit_length()):
        for first, last in ranges("[" + "".join(p for i, p in enumerate(patterns, 1) if i >> bit & 1) + "]"):
            for c in range(first, last + 1):
                values[c] |= 1 << bit
    values[0xD800:0xE000] = [-1] * 0x800
    return [(c, v - 1) for c, v in enumerate(values) if c == 0 or v != values[c - 1]]


def record_case_variants():
    """Groups of code points that match each other in (?i:…), and the texts that code points match beside that."""
    candidates = sorted(set().union(*[members(rf"\p{{{c}}}") for c in ("Lu", "Ll", "Lt", "Lm", "Mn", "Nl", "So")])
                        | members(r"\p{Cherokee}") | members(r"\p{Georgian}"))
    text = "\n".join(map(chr, candidates))
    groups, several = {}, {}
    for c in candidates:
        found = pre_tokenizers.Split(Regex(rf"(?i:\x{{{c:x}}})"), "removed", invert=True).pre_tokenize_str(text)
        variants = {ord(piece) for piece, _ in found if len(piece) == 1}
        if len(variants) > 1:
            groups[c] = variants
        folded = chr(c).casefold()
        if len(folded) > 1:
            several[c] = folded
            assert pre_tokenizers.Split(Regex(rf"\A(?i:\x{{{c:x}}})\z"), "removed").pre_tokenize_str(folded) == [], hex(c)
    for c, variants in groups.items():
        for other in variants:
            assert groups[other] == variants, (hex(c), hex(other))
    unique = sorted({tuple(sorted(variants)) for variants in groups.values()})
    lines = ["// Code points that match each other when case is ignored; a group ends with 0.",
             "constexpr char32_t kCaseGroups[] = {"]
    lines += packed([", ".join(f"0x{c:X}" for c in group) + ", 0" for group in unique])
    lines += ["};", "// Code points that also match texts of several, and these texts, lower-cased.",
              "constexpr struct {", "  char32_t whole;", "  char32_t parts[3];", "} kSeveralFold[] = {"]
    lines += packed([f"{{0x{c:X}, {{" + ", ".join(f"0x{ord(p):X}" for p in parts) + "}}" for c, parts in several.items()])
    write("case_variants.inc", [*lines, "};"])


def main():
    if "--quick" not in sys.argv:
        check_derived()
    assigned = [c for c in CATEGORIES if c not in ("Cn", "Cs")]
    found = runs([rf"\p{{{c}}}" for c in assigned])
    found = [(c, "Cs" if v == -2 else "Cn" if v == -1 else assigned[v]) for c, v in found]
    write("general_categories.inc", [f"constexpr CategoryRun kCategoryRuns[] = {{  // {len(found)}",
          *packed([f"{{0x{c:X}, k{v}}}" for c, v in found]), "};"])

    names = [entry.split() for entry in SCRIPTS.replace("\n", "").split("|")]
    found = runs([rf"\p{{{name}}}" for name, _ in names])
    samples = "".join({v: chr(c) for c, v in found if v >= 0}.values())
    for i, (name, code) in enumerate(names):
        splitter = pre_tokenizers.Split(Regex(rf"\p{{{code}}}+"), "removed", invert=True)
        assert [ord(piece) for piece, _ in splitter.pre_tokenize_str(samples)] == [max(c for c, v in found if v == i)], name
    lines = ["// Script 0 is Unknown.", "constexpr ScriptName kScriptNames[] = {"]
    lines += packed([f'{{"{name.replace("_", "").lower()}", "{code.lower()}"}}' for name, code in names])
    lines += ["};", f"constexpr ScriptRun kScriptRuns[] = {{  // {len(found)}",
              *packed([f"{{0x{c:X}, {max(v + 1, 0)}}}" for c, v in found]), "};"]
    write("scripts.inc", lines)

    lines = []
    for name in PROPERTIES:
        found = ranges(rf"\p{{{name}}}")
        lines += [f"constexpr CodePointRange k{name.replace('_', '')}Ranges[] = {{  // {len(found)}",
                  *packed([f"{{0x{first:X}, 0x{last:X}}}" for first, last in found]), "};"]
    lines += ["constexpr struct {", "  std::string_view name;", "  std::span<const CodePointRange> ranges;",
              "} kPropertyRanges[] = {"]
    lines += packed([f'{{"{name.replace("_", "").lower()}", k{name.replace("_", "")}Ranges}}' for name in PROPERTIES])
    write("regex_properties.inc", [*lines, "};"])
    record_case_variants()


main()
