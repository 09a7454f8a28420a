"""Records what the reference makes of a tokenizer.json and the files beside it, where they disagree or complete each other.

    python record_beside_json.py            needs transformers 5.23, tokenizers 0.23.3

beside_json.jsonl has a line for each case: the name of a file of ../tokenizer_corpus, members that are put into it, the other files of
the folder, and for TEXTS and PAIRS the ids (and types, null if the tokenizer gives none) of transformers.AutoTokenizer.
tests/unit/tokenizers/beside_json_test.cpp reads it.
"""
import json
import os
import pathlib
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

from transformers import AutoTokenizer
from transformers.utils import logging

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent / "tokenizer_corpus"
TEXTS = ["Hello  World", " The quick, Brown FOX\tjumps", "Café naïve Straße Ünï", "東京 日本語 text", "a [NEW] b <ent>c [SEP] <mask> d",
         "it's  (me)", "``quoted'' text", ""]
PAIRS = [["where is the cat", "the CAT sat on a mat"]]


def token(content, **options):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **options}


def numbered(*tokens):
    return {str(id): token for id, token in tokens}


BERT = {"tokenizer_class": "BertTokenizer"}
LOWER_FILE = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
CASED_FILE = {**LOWER_FILE, "lowercase": False}
SPACES_FILE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True}
NEW = numbered((900, token("[NEW]")), (901, token("<ent>", special=False)))
BERT_OWN = numbered(*((i, token(t)) for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])))


def bert(name, config=None, edits=None, **files):
    return {"name": name, "tokenizer": "bert_uncased", "edits": edits or {},
            "files": {**({} if config is None else {"tokenizer_config.json": config}), **{f.replace("_json", ".json"): v for f, v in files.items()}}}


def other(name, tokenizer, config, edits=None, **files):
    return {**bert(name, config, edits, **files), "tokenizer": tokenizer}


CASES = [
    bert("class_lowers_by_default", BERT, {"normalizer": CASED_FILE}),
    bert("class_keeps_case", {**BERT, "do_lower_case": False}, {"normalizer": LOWER_FILE}),
    bert("class_keeps_case_strips", {**BERT, "do_lower_case": False, "strip_accents": True}),
    bert("class_keeps_accents", {**BERT, "strip_accents": False}),
    bert("class_keeps_ideographs_together", {**BERT, "tokenize_chinese_chars": False}),
    bert("class_fast", {"tokenizer_class": "BertTokenizerFast", "do_lower_case": True}, {"normalizer": CASED_FILE}),
    bert("class_distilbert", {"tokenizer_class": "DistilBertTokenizer", "do_lower_case": True}, {"normalizer": CASED_FILE}),
    bert("class_electra", {"tokenizer_class": "ElectraTokenizerFast", "do_lower_case": True}, {"normalizer": CASED_FILE}),
    bert("class_mpnet", {"tokenizer_class": "MPNetTokenizer", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]",
                         "bos_token": "[CLS]", "eos_token": "[SEP]", "mask_token": "[MASK]", "do_lower_case": True}, {"normalizer": CASED_FILE}),
    bert("class_generic", {"tokenizer_class": "TokenizersBackend", "do_lower_case": False}),
    bert("class_older_generic", {"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": False}, {"normalizer": LOWER_FILE}),
    bert("class_unknown", {"tokenizer_class": "NomicBertTokenizer", "do_lower_case": False}),
    bert("class_of_model_type", {"do_lower_case": False}, config_json={"model_type": "bert"}),
    bert("class_without_config", None, {"normalizer": CASED_FILE}, config_json={"model_type": "bert"}),
    bert("model_type_without_class", BERT, {"normalizer": CASED_FILE}, config_json={"model_type": "modernbert"}),
    bert("class_without_post_processor", BERT, {"post_processor": None}),
    bert("class_without_normalizer", BERT, {"normalizer": None, "pre_tokenizer": {"type": "Whitespace"}}),
    bert("class_other_ends", {**BERT, "cls_token": "[MASK]", "sep_token": "[PAD]"}),
    bert("generic_without_post_processor", {"tokenizer_class": "TokenizersBackend", "cls_token": "[CLS]", "sep_token": "[SEP]"},
         {"post_processor": None}),
    bert("names_without_types", {**BERT, "model_input_names": ["input_ids", "attention_mask"]}),
    bert("names_with_types", {"tokenizer_class": "TokenizersBackend", "model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}),
    bert("cut_left", {**BERT, "truncation_side": "left"}),
    bert("cut_left_by_file", BERT, {"truncation": {"direction": "Left", "max_length": 8, "strategy": "LongestFirst", "stride": 0}}),
    bert("cut_right_by_config", {**BERT, "truncation_side": "right"},
         {"truncation": {"direction": "Left", "max_length": 8, "strategy": "LongestFirst", "stride": 0}}),
    bert("cut_left_generic", {"tokenizer_class": "TokenizersBackend", "truncation_side": "left"},
         {"truncation": {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}}),
    bert("tokens_in_decoder", {**BERT, "added_tokens_decoder": {**BERT_OWN, **NEW}}),
    bert("tokens_in_decoder_only", {**BERT, "added_tokens_decoder": NEW}),
    bert("tokens_in_decoder_generic", {"tokenizer_class": "TokenizersBackend", "added_tokens_decoder": NEW}),
    bert("tokens_in_decoder_changed", {"tokenizer_class": "TokenizersBackend",
                                       "added_tokens_decoder": numbered((4, token("[MASK]", lstrip=True)), (3, token("[SEP]", normalized=True, special=False)))}),
    bert("tokens_in_added_json", BERT, added_tokens_json={"[NEW]": 900, "<ent>": 901}),
    bert("tokens_in_added_json_generic", {"tokenizer_class": "TokenizersBackend"}, added_tokens_json={"[NEW]": 900, "<ent>": 901}),
    bert("tokens_in_added_json_and_decoder", {**BERT, "added_tokens_decoder": BERT_OWN}, added_tokens_json={"[NEW]": 900}),
    bert("tokens_in_special_map", BERT, special_tokens_map_json={"additional_special_tokens": ["[NEW]", "<ent>"], "mask_token": "<mask>"}),
    bert("tokens_in_special_map_generic", {"tokenizer_class": "TokenizersBackend"},
         special_tokens_map_json={"additional_special_tokens": ["[NEW]"], "mask_token": {"content": "<mask>", "lstrip": True, "normalized": False,
                                                                                       "rstrip": False, "single_word": False}}),
    bert("tokens_extra", {**BERT, "extra_special_tokens": ["[NEW]", "<ent>"]}),
    bert("tokens_extra_generic", {"tokenizer_class": "TokenizersBackend", "extra_special_tokens": ["[NEW]", "<ent>"]}),
    bert("tokens_extra_by_role", {"tokenizer_class": "TokenizersBackend", "extra_special_tokens": {"ent_token": "<ent>", "new_token": "[NEW]"}}),
    bert("tokens_additional_older", {"tokenizer_class": "PreTrainedTokenizerFast", "additional_special_tokens": ["[NEW]"]}),
    bert("tokens_named_generic", {"tokenizer_class": "TokenizersBackend", "mask_token": "<mask>", "cls_token": "[NEW]"}),
    bert("tokens_of_file_lost", {**BERT, "added_tokens_decoder": BERT_OWN},
         {"added_tokens": [{"id": i, **token(t)} for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])] + [{"id": 900, **token("[NEW]")}]}),
    bert("tokens_of_file_kept", BERT,
         {"added_tokens": [{"id": i, **token(t)} for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])] + [{"id": 900, **token("[NEW]")}]}),
    bert("tokens_of_file_absent", BERT, {"added_tokens": []}),
    other("roberta_prefix", "roberta", {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True}),
    other("roberta_no_prefix", "roberta", {"tokenizer_class": "RobertaTokenizer"},
          {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}}),
    other("roberta_generic", "roberta", {"tokenizer_class": "TokenizersBackend", "add_prefix_space": True}),
    other("roberta_normalizer_lost", "roberta", {"tokenizer_class": "RobertaTokenizerFast"}, {"normalizer": {"type": "Lowercase"}}),
    other("bart_prefix", "roberta", {"tokenizer_class": "BartTokenizer", "add_prefix_space": True}),
    other("longformer_prefix", "longformer", {"tokenizer_class": "LongformerTokenizer", "add_prefix_space": True}),
    other("gpt2_prefix", "gpt2", {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}),
    other("gpt2_prefix_lost", "gpt2", {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": False},
          {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}}),
    other("gpt2_bos", "gpt2", {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True}),
    other("deberta_class", "roberta", {"tokenizer_class": "DebertaTokenizer", "cls_token": "<s>", "sep_token": "</s>", "bos_token": "<s>",
                                       "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}),
    other("albert_cased", "albert", {"tokenizer_class": "AlbertTokenizer", "do_lower_case": False}),
    other("albert_accents", "albert", {"tokenizer_class": "AlbertTokenizer", "keep_accents": True}),
    other("albert_default", "albert", {"tokenizer_class": "AlbertTokenizer"}),
    other("deberta_v2_lower", "deberta_v2", {"tokenizer_class": "DebertaV2Tokenizer", "do_lower_case": True}),
    other("deberta_v2_punctuation", "deberta_v2", {"tokenizer_class": "DebertaV2TokenizerFast", "split_by_punct": True}),
    other("deberta_v2_default", "deberta_v2", {"tokenizer_class": "DebertaV2Tokenizer"}),
    other("xlm_roberta_default", "xlm_roberta", {"tokenizer_class": "XLMRobertaTokenizer"}),
    other("xlm_roberta_no_prefix", "xlm_roberta", {"tokenizer_class": "XLMRobertaTokenizerFast", "add_prefix_space": False}),
    other("xlm_roberta_normalizer_lost", "xlm_roberta", {"tokenizer_class": "XLMRobertaTokenizer"}, {"normalizer": {"type": "Lowercase"}}),
    other("t5_default", "t5", {"tokenizer_class": "T5Tokenizer"}),
    other("t5_parts_lost", "t5", {"tokenizer_class": "T5TokenizerFast"}, {"pre_tokenizer": SPACES_FILE, "post_processor": None}),
    other("t5_extra_ids", "t5", {"tokenizer_class": "T5Tokenizer", "extra_ids": 2}),
    other("t5_extra_additional", "t5", {"tokenizer_class": "T5Tokenizer", "additional_special_tokens": ["<ent>"]}),
    other("camembert_default", "xlm_roberta", {"tokenizer_class": "CamembertTokenizer"}),
    other("camembert_no_prefix", "xlm_roberta", {"tokenizer_class": "CamembertTokenizer", "add_prefix_space": False}),
    other("mbart_default", "xlm_roberta", {"tokenizer_class": "MBartTokenizer"}),
    other("mbart_language", "xlm_roberta", {"tokenizer_class": "MBartTokenizer", "src_lang": "ro_RO"}),
    other("qwen_default", "qwen", {"tokenizer_class": "Qwen2Tokenizer"}),
    other("qwen_prefix", "qwen", {"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": True}),
    other("qwen_parts_lost", "qwen", {"tokenizer_class": "Qwen2TokenizerFast"},
          {"normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}}),
    other("llama_default", "llama2", {"tokenizer_class": "LlamaTokenizer"}),
    other("llama_legacy", "llama2", {"tokenizer_class": "LlamaTokenizer", "legacy": True}),
    other("llama_no_prefix", "llama2", {"tokenizer_class": "LlamaTokenizerFast", "add_prefix_space": False}),
    other("llama_parts_lost", "llama2", {"tokenizer_class": "LlamaTokenizer"}, {"normalizer": {"type": "Lowercase"}}),
    other("gemma_default", "gemma", {"tokenizer_class": "GemmaTokenizer"}),
    other("gemma_parts_lost", "gemma", {"tokenizer_class": "GemmaTokenizerFast"}, {"normalizer": None, "pre_tokenizer": {"type": "Whitespace"}}),
]


def folder_of(case):
    folder = pathlib.Path(tempfile.mkdtemp())
    tokenizer = json.loads((CORPUS / (case["tokenizer"] + ".json")).read_text())
    tokenizer.update(case["edits"])
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    for name, content in case["files"].items():
        (folder / name).write_text(json.dumps(content))
    return folder


def record(case):
    tokenizer = AutoTokenizer.from_pretrained(folder_of(case))
    made = {**case, "ids": [tokenizer(text)["input_ids"] for text in TEXTS]}
    pairs = [tokenizer(*pair) for pair in PAIRS]
    made["pair_ids"] = [pair["input_ids"] for pair in pairs]
    made["pair_types"] = [pair.get("token_type_ids") for pair in pairs]
    made["cut_ids"] = [tokenizer(TEXTS[1], truncation=True, max_length=6)["input_ids"]]
    return made


if __name__ == "__main__":
    logging.set_verbosity_error()
    with open(HERE / "beside_json.jsonl", "w") as out:
        out.write(json.dumps({"texts": TEXTS, "pairs": PAIRS}, ensure_ascii=False) + "\n")
        for case in CASES:
            try:
                out.write(json.dumps(record(case), ensure_ascii=False) + "\n")
            except Exception as error:  # the reference refuses it
                print(case["name"], type(error).__name__, error)
