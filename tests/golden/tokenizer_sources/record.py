"""Makes small vocabularies in every form but tokenizer.json, and records what the reference makes of texts with them.

    python record.py            needs transformers 5.24, tokenizers 0.23.3, sentencepiece and gguf 0.19

files/ has the vocabularies; cases.jsonl names for each case the files of a folder, with its tokenizer_config.json, and has a hash of 12
hexadecimal digits for each 32 lines of ../tokenizer_corpus/corpus.jsonl (without its longest ones): the begin of the SHA-256 of what
../tokenizer_corpus/record.py lists for these lines. The reference of a folder is transformers.AutoTokenizer; that of a GGUF file
is the tokenizer that it was made from. tests/unit/tokenizers/sources_test.cpp makes the same text.
"""
import base64
import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import gguf
import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, TokenizersBackend
from transformers.utils import logging

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE / "files"
sys.path.insert(0, str(HERE.parent / "tokenizer_corpus"))
import record as corpus_record  # noqa: E402

LINES_OF_A_HASH = 32
LONGEST = 2000

WORDS = """the quick brown fox jumps over lazy dog hello world token izer machine learn ing numbers and things naïve café résumé straße
über coöperate don't it's we're of to in that is was for on with as by 12 345 2024 3.14 Москва привет мир 東京 日本語 テスト 한국어 مرحبا
שלום हिन्दी ไทย 🎉 👍 end . , ! ? ( ) [ ] { } def return class import""".split()


def training_lines():
    random.seed(7)
    endings = ["", "", "", "s", "ing", "ed", ",", "."]
    return [" ".join(random.choice(WORDS) + random.choice(endings) for _ in range(random.randint(3, 14))) for _ in range(1500)]


LINES = training_lines()
# Some rules of NFKC and of SentencePiece's own, so that the compiled rules stay small.
RULES = [(0xA0, 0x20), (0x3000, 0x20), (0x9, 0x20), (0xA, 0x20), (0x200B, None), (0xFF01, 0x21), (0xFB01, (0x66, 0x69)), (0x2160, 0x49)]
RULES += [(0xFF21 + i, 0x41 + i) for i in range(26)]


def rules_file():
    def text(target):
        return "" if target is None else " ".join(f"{c:X}" for c in (target if isinstance(target, tuple) else (target,)))

    os.chdir(tempfile.mkdtemp())  # the model names the file as it is given
    pathlib.Path("rules.tsv").write_text("".join(f"{source:X}\t{text(target)}\n" for source, target in RULES))
    return "rules.tsv"


def train_sentencepiece(name, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=out, minloglevel=2, hard_vocab_limit=False, self_test_sample_size=0, **options)
    (FILES / name).write_bytes(out.getvalue())


def make_sentencepiece():
    rules = {"normalization_rule_tsv": rules_file()}
    kept = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    train_sentencepiece("unigram.model", vocab_size=350, model_type="unigram", **rules)
    train_sentencepiece("unigram_bytes.model", vocab_size=520, model_type="unigram", byte_fallback=True, **rules)
    train_sentencepiece("bpe.model", vocab_size=400, model_type="bpe", **rules)
    train_sentencepiece("bpe_bytes.model", vocab_size=560, model_type="bpe", byte_fallback=True, **kept)
    train_sentencepiece("bpe_user.model", vocab_size=560, model_type="bpe", byte_fallback=True, add_dummy_prefix=False, split_digits=True,
                        user_defined_symbols=["<sep>", "(ent)", "\n", "\n\n"], **kept)
    train_sentencepiece("gemma.model", vocab_size=560, model_type="bpe", byte_fallback=True, pad_id=0, eos_id=1, bos_id=2, unk_id=3,
                        add_dummy_prefix=False, user_defined_symbols=["<start_of_turn>", "\n", "\t"], pad_piece="<pad>",
                        eos_piece="<eos>", bos_piece="<bos>", **kept)
    train_sentencepiece("t5.model", vocab_size=350, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, **rules)
    train_sentencepiece("albert.model", vocab_size=350, model_type="unigram", pad_id=0, unk_id=1, bos_id=-1, eos_id=-1,
                        control_symbols=["[CLS]", "[SEP]"], user_defined_symbols=["(", ")"], **rules)
    train_sentencepiece("deberta.model", vocab_size=350, model_type="unigram", pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]",
                        bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]", **rules)


def train_byte_level(name, specials, suffix=None, size=420):
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix=suffix) if suffix else models.BPE())
    if suffix:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    options = {"end_of_word_suffix": suffix} if suffix else {}
    tokenizer.train_from_iterator(LINES, trainers.BpeTrainer(vocab_size=size, special_tokens=specials, show_progress=False,
                                                             initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **options))
    folder = pathlib.Path(tempfile.mkdtemp())
    tokenizer.model.save(str(folder))
    shutil.copy(folder / "vocab.json", FILES / f"{name}.vocab.json")
    shutil.copy(folder / "merges.txt", FILES / f"{name}.merges.txt")


def make_byte_level():
    train_byte_level("gpt2", ["<|endoftext|>"])
    train_byte_level("roberta", ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    train_byte_level("clip", ["<|startoftext|>", "<|endoftext|>"], suffix="</w>", size=620)
    train_byte_level("deberta", ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"])
    train_byte_level("whisper", ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>",
                                 "<|notimestamps|>"])


def byte_characters():
    """The byte of each character of the byte-level alphabet."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {**{chr(b): b for b in printable}, **{chr(0x100 + i): b for i, b in enumerate(others)}}


def make_word_piece():
    """A vocabulary with the special tokens of all classes that read one."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "<pad>", "</s>", "<unk>", "<mask>", "<cls>", "<sep>", "[QUESTION]"]
    tokenizer.train_from_iterator(LINES, trainers.WordPieceTrainer(vocab_size=300, special_tokens=specials, show_progress=False))
    vocabulary = tokenizer.get_vocab()
    (FILES / "word_piece.vocab.txt").write_text("".join(token + "\n" for token in sorted(vocabulary, key=vocabulary.get)))


def make_tiktoken():
    characters = byte_characters()
    vocabulary = json.loads((FILES / "gpt2.vocab.json").read_text())
    tokens = [t for t in sorted(vocabulary, key=vocabulary.get) if t != "<|endoftext|>"]
    lines = [f"{base64.b64encode(bytes(characters[c] for c in token)).decode()} {rank}\n" for rank, token in enumerate(tokens)]
    (FILES / "ranks.tiktoken").write_text("".join(lines))


def write_gguf(name, architecture, model, tokens, scores=None, types=None, merges=None, **entries):
    writer = gguf.GGUFWriter(FILES / name, architecture)
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    if scores:
        writer.add_token_scores(scores)
    if types:
        writer.add_token_types(types)
    if merges:
        writer.add_token_merges(merges)
    for key, value in entries.items():
        getattr(writer, f"add_{key}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def make_llama_gguf():
    model = sentencepiece.SentencePieceProcessor(model_file=str(FILES / "bpe_bytes.model"))
    ids = range(model.vocab_size())
    kind = lambda i: 2 if model.is_unknown(i) else 3 if model.is_control(i) else 6 if model.is_byte(i) else 1
    write_gguf("llama.gguf", "llama", "llama", [model.id_to_piece(i) for i in ids], [model.get_score(i) for i in ids],
               [kind(i) for i in ids], bos_token_id=1, eos_token_id=2, unk_token_id=0, add_bos_token=True, add_eos_token=False)
    tokenizer = Tokenizer.from_str(transformers_tokenizer(
        {"tokenizer.model": "bpe_bytes.model"}, {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}).to_str())
    return tokenizer


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def make_gpt2_gguf():
    vocabulary = json.loads((FILES / "gpt2.vocab.json").read_text())
    merges = [line for line in (FILES / "gpt2.merges.txt").read_text().splitlines() if line and not line.startswith("#version")]
    tokens = sorted(vocabulary, key=vocabulary.get) + ["<|begin_of_text|>", "<tool>"]
    types = [3] + [1] * (len(tokens) - 3) + [3, 4]
    write_gguf("llama_bpe.gguf", "llama", "gpt2", tokens, None, types, merges, tokenizer_pre="llama-bpe",
               bos_token_id=len(tokens) - 2, eos_token_id=0)
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens[:-2])}, [tuple(m.split(" ")) for m in merges], ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", special=True), AddedToken("<|begin_of_text|>", special=True)])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", special_tokens=[("<|begin_of_text|>", len(tokens) - 2)])
    return tokenizer


def make_bert_gguf():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(LINES, trainers.WordPieceTrainer(vocab_size=300, special_tokens=specials, show_progress=False))
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                             special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    vocabulary = tokenizer.get_vocab()
    tokens = sorted(vocabulary, key=vocabulary.get)
    phantom = lambda t: t if t in specials else t[2:] if t.startswith("##") else "▁" + t
    write_gguf("bert.gguf", "bert", "bert", [phantom(t) for t in tokens], None, [3 if t in specials else 1 for t in tokens],
               bos_token_id=2, sep_token_id=3, unk_token_id=1, pad_token_id=0, mask_token_id=4)
    return tokenizer


def make_t5_gguf():
    from sentencepiece import sentencepiece_model_pb2
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString((FILES / "t5.model").read_bytes())
    tokens = [p.piece for p in proto.pieces] + [f"[PAD{len(proto.pieces) + i}]" for i in range(100)]
    write_gguf("t5.gguf", "t5", "t5", tokens, [p.score for p in proto.pieces] + [-1000.0] * 100, [p.type for p in proto.pieces] + [5] * 100,
               bos_token_id=0, eos_token_id=1, unk_token_id=2, pad_token_id=0, add_space_prefix=True, remove_extra_whitespaces=True,
               add_bos_token=False, add_eos_token=True, precompiled_charsmap=proto.normalizer_spec.precompiled_charsmap)
    return Tokenizer.from_str(transformers_tokenizer({"spiece.model": "t5.model"}, {"tokenizer_class": "T5Tokenizer"}).to_str())


def make_gemma_gguf():
    """Gemma's tokenizer as llama.cpp names it: merges over characters, spaces marked, no pattern."""
    config = {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True}
    description = json.loads(transformers_tokenizer({"tokenizer.model": "gemma.model"}, config).to_str())
    description["added_tokens"] = [token for token in description["added_tokens"] if token["content"] != "<mask>"]  # not in the model
    vocabulary = description["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.get)
    kinds = {"<pad>": 3, "<eos>": 3, "<bos>": 3, "<unk>": 2, "<start_of_turn>": 4, "\n": 4, "\t": 4}
    types = [kinds.get(token, 6 if token.startswith("<0x") else 1) for token in tokens]
    write_gguf("gemma_bpe.gguf", "granite", "gpt2", tokens, None, types, [" ".join(merge) for merge in description["model"]["merges"]],
               tokenizer_pre="gemma4", bos_token_id=2, eos_token_id=1, unk_token_id=3, pad_token_id=0, add_bos_token=True)
    return Tokenizer.from_str(json.dumps(description))


def added(content, **properties):
    return {"__type": "AddedToken", "content": content, "lstrip": False, "normalized": True, "rstrip": False, "single_word": False, **properties}


def decoder_entry(content, **properties):
    return {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True, **properties}


def bpe(name):
    return {"vocab.json": f"{name}.vocab.json", "merges.txt": f"{name}.merges.txt"}


CASES = {
    "llama": ({"tokenizer.model": "bpe_bytes.model"}, {"tokenizer_class": "LlamaTokenizer"}),
    "llama_legacy": ({"tokenizer.model": "bpe_bytes.model"}, {
        "tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": True, "legacy": True, "bos_token": added("<s>"),
        "eos_token": added("</s>"), "unk_token": "<unk>", "pad_token": None}),
    "llama_no_prefix": ({"tokenizer.model": "bpe_user.model"}, {
        "tokenizer_class": "LlamaTokenizerFast", "add_prefix_space": False, "extra_special_tokens": ["<extra>"]}),
    "gemma": ({"tokenizer.model": "gemma.model"}, {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True, "added_tokens_decoder": {
        "0": decoder_entry("<pad>"), "2": decoder_entry("<bos>"), "560": decoder_entry("<image>", special=False)}}),
    "t5": ({"spiece.model": "t5.model"}, {"tokenizer_class": "T5Tokenizer", "extra_ids": 5}),
    "albert": ({"spiece.model": "albert.model"}, {"tokenizer_class": "AlbertTokenizer"}),
    "albert_cased": ({"spiece.model": "albert.model"}, {"tokenizer_class": "AlbertTokenizer", "do_lower_case": False, "keep_accents": True}),
    "xlm_roberta": ({"sentencepiece.bpe.model": "unigram.model"}, {"tokenizer_class": "XLMRobertaTokenizer"}),
    "mbart": ({"sentencepiece.bpe.model": "unigram.model"}, {"tokenizer_class": "MBartTokenizer", "src_lang": "ro_RO"}),
    "mbart50": ({"sentencepiece.bpe.model": "unigram.model"}, {"tokenizer_class": "MBart50Tokenizer"}),
    "deberta_v2": ({"spm.model": "deberta.model"}, {"tokenizer_class": "DebertaV2Tokenizer", "do_lower_case": True, "split_by_punct": True}),
    "camembert": ({"sentencepiece.bpe.model": "unigram.model"}, {"tokenizer_class": "CamembertTokenizer"}),
    "nllb": ({"sentencepiece.bpe.model": "bpe.model"}, {"tokenizer_class": "NllbTokenizer", "src_lang": "fra_Latn", "added_tokens_decoder": {
        "400": decoder_entry("eng_Latn"), "401": decoder_entry("fra_Latn")}}),
    "pegasus": ({"spiece.model": "t5.model"}, {"tokenizer_class": "PegasusTokenizer", "offset": 10}),
    "plain_unigram": ({"tokenizer.model": "unigram.model"}, None),
    "plain_bytes": ({"tokenizer.model": "unigram_bytes.model"}, {"tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": True}),
    "plain_bpe": ({"tokenizer.model": "bpe.model"}, {"tokenizer_class": "TokenizersBackend", "legacy": False}),
    "plain_user": ({"tokenizer.model": "bpe_user.model"}, {"tokenizer_class": "TokenizersBackend", "added_tokens_decoder": {
        "0": decoder_entry("<nothing>"), "560": decoder_entry("<more>")}}),
    "gpt2": (bpe("gpt2"), {"tokenizer_class": "GPT2Tokenizer"}),
    "gpt2_prefix": ({**bpe("gpt2")}, {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True, "add_bos_token": True,
                                      "bos_token": added("<|endoftext|>"), "pad_token": "<pad>"}),
    "roberta": (bpe("roberta"), {"tokenizer_class": "RobertaTokenizer", "mask_token": added("<mask>", lstrip=True)}),
    "bart": (bpe("roberta"), {"tokenizer_class": "BartTokenizerFast", "add_prefix_space": True, "trim_offsets": False}),
    "clip": (bpe("clip"), {"tokenizer_class": "CLIPTokenizer"}),
    "whisper": (bpe("whisper"), {"tokenizer_class": "WhisperTokenizer", "language": "English", "task": "translate"}),
    "qwen2": (bpe("gpt2"), {"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {
        "420": decoder_entry("<|im_start|>"), "421": decoder_entry("<tool>", special=False)}, "eos_token": "<|im_start|>"}),
    "deberta": (bpe("deberta"), {"tokenizer_class": "DebertaTokenizer"}),
    "gpt_neox": (bpe("gpt2"), {"tokenizer_class": "GPTNeoXTokenizer", "add_bos_token": True}),
    "albert_marks": ({"spiece.model": "albert.model"}, {"tokenizer_class": "AlbertTokenizer", "add_bos_token": True}),
    "t5_extra": ({"spiece.model": "t5.model"}, {
        "tokenizer_class": "T5Tokenizer", "additional_special_tokens": ["<a>"], "extra_special_tokens": {"image_token": "<img>"}}),
    "mpnet": ({"vocab.txt": "word_piece.vocab.txt"}, {"tokenizer_class": "MPNetTokenizer"}),
    "funnel": ({"vocab.txt": "word_piece.vocab.txt"}, {"tokenizer_class": "FunnelTokenizer", "do_lower_case": False}),
    "splinter": ({"vocab.txt": "word_piece.vocab.txt"}, {"tokenizer_class": "SplinterTokenizer"}),
    "bert_accents": ({"vocab.txt": "word_piece.vocab.txt"}, {
        "tokenizer_class": "BertTokenizer", "do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False}),
    "tiktoken": ({"tokenizer.model": "ranks.tiktoken"}, {"tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": {
        "419": decoder_entry("<|begin|>"), "420": decoder_entry("<|end|>")}, "bos_token": "<|begin|>", "add_bos_token": True}),
}
GGUF_CASES = {"llama.gguf": make_llama_gguf, "llama_bpe.gguf": make_gpt2_gguf, "bert.gguf": make_bert_gguf, "t5.gguf": make_t5_gguf,
              "gemma_bpe.gguf": make_gemma_gguf}


def transformers_tokenizer(files, config):
    folder = pathlib.Path(tempfile.mkdtemp())
    for name, file in files.items():
        shutil.copy(FILES / file, folder / name)
    if config is None:
        return TokenizersBackend.from_pretrained(str(folder))._tokenizer
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return AutoTokenizer.from_pretrained(str(folder))._tokenizer


def hashes(tokenizer):
    tokenizer.no_truncation()
    tokenizer.no_padding()
    lines = [text for text in corpus_record.corpus() if len(text.encode()) <= LONGEST]
    for begin in range(0, len(lines), LINES_OF_A_HASH):
        state = hashlib.sha256()
        for text in lines[begin:begin + LINES_OF_A_HASH]:
            entry = corpus_record.record(tokenizer, text)
            state.update("".join(map(corpus_record.listed, entry.values())).encode())
        yield state.hexdigest()[:12]


def main():
    logging.set_verbosity_error()
    FILES.mkdir(exist_ok=True)
    make_sentencepiece()
    make_byte_level()
    make_tiktoken()
    make_word_piece()
    cases = []
    for name, (files, config) in CASES.items():
        cases.append({"name": name, "files": files, "config": config, "hashes": list(hashes(transformers_tokenizer(files, config)))})
    for file, make in GGUF_CASES.items():
        name = file.replace(".", "_")
        cases.append({"name": name, "files": {file: file}, "config": None, "hashes": list(hashes(make()))})
    (HERE / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


if __name__ == "__main__":
    main()
