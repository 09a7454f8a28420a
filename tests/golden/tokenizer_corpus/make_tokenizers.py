"""Trains the small tokenizers NAME.json, one for each combination of parts that model families use.

    python make_tokenizers.py        with tokenizers 0.23.3 and sentencepiece 0.2.3 (for its normalization tables)

They are trained on the sentences of make_corpus.py, so that half of the corpus is foreign to them. Vocabularies are small, so that texts fall into many tokens and unknown ones are common.
"""
import base64
import json
import pathlib
import random
import tempfile
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from make_corpus import CODE, SENTENCES
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
ALPHABET = pre_tokenizers.ByteLevel.alphabet()
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


TEXTS = [variant for text in SENTENCES + CODE for variant in (text, text.lower(), unicodedata.normalize("NFKD", text), text + " " + text)]


def charsmap(rules):
    """The compiled form of normalization rules: a name that sentencepiece knows, or a table from texts to texts."""
    with tempfile.TemporaryDirectory() as folder:
        options = {"normalization_rule_name": rules} if isinstance(rules, str) else {"normalization_rule_tsv": f"{folder}/rules.tsv"}
        if not isinstance(rules, str):
            lines = ["\t".join(" ".join(f"{ord(c):X}" for c in text) for text in rule) for rule in rules.items()]
            pathlib.Path(folder, "rules.tsv").write_text("\n".join(lines) + "\n")
        pathlib.Path(folder, "text").write_text("a b c d e f g\nab cd ef\n" * 20)
        sentencepiece.SentencePieceTrainer.train(input=f"{folder}/text", model_prefix=f"{folder}/m", vocab_size=20, hard_vocab_limit=False,
                                                 minloglevel=2, **options)
        model = sentencepiece_model_pb2.ModelProto.FromString(pathlib.Path(folder, "m.model").read_bytes())
        return model.normalizer_spec.precompiled_charsmap


def trained(tokenizer, trainer):
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def bpe(size=700, specials=(), alphabet=ALPHABET, **options):
    return trainers.BpeTrainer(vocab_size=size, special_tokens=list(specials), initial_alphabet=alphabet, show_progress=False, **options)


def byte_level(pre_tokenizer, specials, normalizer=None, size=700, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.normalizer = normalizer or tokenizer.normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, bpe(size, specials))


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behavior, invert),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def unigram(normalizer, pre_tokenizer, specials, size=1300, unk="<unk>", **options):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Metaspace()
    return trained(tokenizer, trainers.UnigramTrainer(vocab_size=size, special_tokens=list(specials), unk_token=unk, show_progress=False, **options))


def template(tokenizer, single, pair, tokens):
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=[(t, tokenizer.token_to_id(t)) for t in tokens])
    return tokenizer


def bert(**options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trained(tokenizer, trainers.WordPieceTrainer(vocab_size=900, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    return tokenizer


def bert_uncased():
    return template(bert(), "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])


def bert_cased():
    tokenizer = bert(lowercase=False, strip_accents=False, handle_chinese_chars=False)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    return tokenizer


def gpt2():
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def roberta():
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True), ["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return tokenizer


def longformer():  # without a space before the text, and offsets that keep spaces
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False), ["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=False, add_prefix_space=False)
    return tokenizer


def xlm_roberta():
    tokenizer = unigram(normalizers.Precompiled(charsmap("nmt_nfkc")),
                        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]),
                        ["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return template(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>", ["<s>", "</s>"])


SMALL_RULES = {"\u00a0": " ", "\u3000": " ", "\ufb01": "fi", "\uff21": "A", "\u2460": "1", "e\u0301": "\u00e9", "\u0301": "", "\u1100\u1161": "\uac00",
               "\u2026": "...", "\t": " ", "\n": " ", "\u200d": "", "\u0130": "i\u0307", "\U0001F600": ":)", "ab": "ba", "\u00df": "ss"}


def t5():
    tokenizer = unigram(normalizers.Sequence([normalizers.Precompiled(charsmap(SMALL_RULES)), normalizers.Replace(Regex(" {2,}"), " ")]),
                        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]), ["<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken(f"<extra_id_{i}>", special=True, lstrip=i % 2 == 0, rstrip=i % 3 == 0) for i in (0, 1, 2, 99)])
    return template(tokenizer, "$A </s>", "$A </s> $B </s>", ["</s>"])


def albert():
    tokenizer = unigram(normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                                              normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Precompiled(charsmap(SMALL_RULES)),
                                              normalizers.Replace(Regex(" {2,}"), " ")]),
                        pre_tokenizers.Metaspace(), ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
    return template(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])


def deberta_v2():
    tokenizer = unigram(normalizers.Sequence([normalizers.Lowercase(), normalizers.Strip()]),
                        pre_tokenizers.Sequence([pre_tokenizers.Punctuation(behavior="isolated"), pre_tokenizers.Metaspace()]),
                        ["[PAD]", "[CLS]", "[SEP]", "[UNK]"], unk="[UNK]")
    tokenizer.add_special_tokens([AddedToken("[MASK]", special=True)])
    return template(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])


def xlnet():  # types of its own, special tokens at the end, no space before the text
    tokenizer = unigram(normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")]),
                        pre_tokenizers.Metaspace(prepend_scheme="never"), ["<unk>", "<sep>", "<cls>"])
    return template(tokenizer, "$A:0 <sep>:0 <cls>:2", "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2", ["<sep>", "<cls>"])


def byte_fallback_unigram():
    tokenizer = unigram(normalizers.NFC(), pre_tokenizers.Metaspace(prepend_scheme="first"), ["<unk>", "<s>"] + [f"<0x{i:02X}>" for i in range(256)], size=1500)
    file = json.loads(tokenizer.to_str())
    file["model"]["byte_fallback"] = True
    file["added_tokens"] = file["added_tokens"][:2]
    tokenizer = Tokenizer.from_str(json.dumps(file))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return tokenizer


def scripts():
    return unigram(normalizers.Sequence([normalizers.NFD(), normalizers.Strip(left=True, right=False)]),
                   pre_tokenizers.Sequence([pre_tokenizers.UnicodeScripts(), pre_tokenizers.Metaspace()]), ["<unk>"])


def whisper():
    tokens = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>"]
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), [])
    tokenizer.add_special_tokens(tokens)
    tokenizer.add_tokens([AddedToken(f"<|{i * 0.02:.2f}|>", normalized=False) for i in range(5)])
    return template(tokenizer, "<|startoftranscript|> <|en|> <|notimestamps|> $A <|endoftext|>",
                    "<|startoftranscript|> <|en|> <|notimestamps|> $A $B:1 <|endoftext|>:1",
                    ["<|startoftranscript|>", "<|en|>", "<|notimestamps|>", "<|endoftext|>"])


def clip():
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", continuing_subword_prefix="", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CLIP), "removed", True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trained(tokenizer, bpe(700, ["<|startoftext|>", "<|endoftext|>"], end_of_word_suffix="</w>"))
    tokenizer.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), add_prefix_space=False, trim_offsets=False)
    return tokenizer


def with_byte_tokens(tokenizer):
    """The tokens <0x00> … <0xFF> behind the special ones, and byte fallback."""
    file = json.loads(tokenizer.to_str())
    vocab, first = file["model"]["vocab"], len(file["added_tokens"])
    vocab = {token: id if id < first else id + 256 for token, id in vocab.items()}
    vocab.update({f"<0x{i:02X}>": first + i for i in range(256)})
    file["model"].update(vocab=vocab, byte_fallback=True)
    return Tokenizer.from_str(json.dumps(file))


def llama2():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    trained(tokenizer, bpe(600, ["<unk>", "<s>", "</s>"], alphabet=[], limit_alphabet=200, max_token_length=12))
    tokenizer = with_byte_tokens(tokenizer)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return template(tokenizer, "<s> $A", "<s> $A <s>:1 $B:1", ["<s>"])


def mistral():  # Metaspace instead of normalizers
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    trained(tokenizer, bpe(600, ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"], alphabet=[], limit_alphabet=200, max_token_length=12))
    tokenizer = with_byte_tokens(tokenizer)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return template(tokenizer, "<s> $A </s>", "<s> $A </s> $B </s>", ["<s>", "</s>"])


def gemma():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    trained(tokenizer, bpe(600, ["<pad>", "<eos>", "<bos>", "<unk>"], alphabet=[], limit_alphabet=200, max_token_length=12))
    tokenizer = with_byte_tokens(tokenizer)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ("<start_of_turn>", "<end_of_turn>", "\n\n", "\n", "\u2581\u2581", "<unused0>")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    return template(tokenizer, "<bos> $A", "<bos> $A <bos>:1 $B:1", ["<bos>"])


def llama3():
    tokenizer = byte_level(split(CL100K), [], ignore_merges=True)
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
                                      special_tokens=[("<|begin_of_text|>", tokenizer.token_to_id("<|begin_of_text|>"))])])
    return tokenizer


def qwen():
    tokenizer = byte_level(split(QWEN), [], normalizer=normalizers.NFC())
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens(["<tool_call>", "</tool_call>", "<think>", "</think>"])
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    return tokenizer


def gpt4o():
    tokenizer = byte_level(split(O200K, "removed", True), ["<|endoftext|>", "<|endofprompt|>"], normalizer=normalizers.NFKC())
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def deepseek():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"), pre_tokenizers.Split(Regex("[一-龥\u3040-ゟ゠-ヿ]+"), "isolated"),
        pre_tokenizers.Split(Regex("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
                                   " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trained(tokenizer, bpe(700))
    tokenizer.add_special_tokens(["<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>"])
    tokenizer.add_tokens([AddedToken("<\uff5cUser\uff5c>", normalized=False), AddedToken("<think>", normalized=False, rstrip=True)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def command_r():
    return byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]),
                      ["<PAD>", "<BOS_TOKEN>", "<EOS_TOKEN>"], normalizer=normalizers.NFC())


def bloom():
    tokenizer = byte_level(split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), ["<unk>", "<s>", "</s>", "<pad>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def openai_gpt():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    return trained(tokenizer, bpe(900, ["<unk>"], alphabet=[], limit_alphabet=150, end_of_word_suffix="</w>"))


def prefixed_bpe():
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False)])
    tokenizer.decoder = decoders.WordPiece()
    return trained(tokenizer, bpe(800, ["[UNK]", "[PAD]"], alphabet=[], limit_alphabet=150, continuing_subword_prefix="##"))


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation(behavior="contiguous"),
                                                       pre_tokenizers.Digits(individual_digits=True)])
    trained(tokenizer, trainers.WordLevelTrainer(vocab_size=600, special_tokens=["[UNK]", "[PAD]"], show_progress=False))
    tokenizer.add_tokens([AddedToken("hello", single_word=True), AddedToken("don't", normalized=True), AddedToken("MiXeD", normalized=False)])
    return tokenizer


def wav2vec2():
    tokenizer = Tokenizer(models.WordLevel({"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, "|": 4,
                                            **{c: 5 + i for i, c in enumerate("ETAONIHSRDLUMWCFGYPBVK'XJQZ")}}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(" ", "|"), normalizers.Replace(Regex("[a-z]"), "E")])
    tokenizer.pre_tokenizer = pre_tokenizers.FixedLength(length=1)
    tokenizer.add_special_tokens(["<s>", "</s>", "<unk>", "<pad>"])
    tokenizer.decoder = decoders.CTC(pad_token="<pad>", word_delimiter_token="|", cleanup=True)
    return tokenizer


def delimiters():
    tokenizer = Tokenizer(models.WordLevel(unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.Split("-", "merged_with_next"), pre_tokenizers.Split(Regex("[.,;:]+"), "merged_with_previous"),
        pre_tokenizers.Punctuation(behavior="removed"), pre_tokenizers.FixedLength(length=3)])
    tokenizer.decoder = decoders.Sequence([decoders.Fuse(), decoders.Replace(Regex("a+"), "a")])
    return trained(tokenizer, trainers.WordLevelTrainer(vocab_size=500, special_tokens=["?"], show_progress=False))


MAKERS = [bert_uncased, bert_cased, gpt2, roberta, longformer, xlm_roberta, t5, albert, deberta_v2, xlnet, byte_fallback_unigram, scripts, whisper, clip,
          llama2, mistral, gemma, llama3, qwen, gpt4o, deepseek, command_r, bloom, openai_gpt, prefixed_bpe, word_level, wav2vec2, delimiters]


def main():
    total = 0
    for make in MAKERS:
        random.seed(0)
        tokenizer = make()
        path = HERE / f"{make.__name__}.json"
        path.write_text(tokenizer.to_str(), encoding="utf-8")
        total += path.stat().st_size
        print(make.__name__, tokenizer.get_vocab_size(), path.stat().st_size)
    print(total, "bytes")


if __name__ == "__main__":
    main()
