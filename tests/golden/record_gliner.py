"""Records the entities that the package gliner finds with tiny models.

usage: record_gliner.py [--out DIR]     (DIR: the folder `gliner` beside this file)

Needs gliner 0.2.29 (which wants transformers below 5.17). Each folder DIR/NAME has gliner_config.json, where the
backbone's config is not in it also config.json, tokenizer_config.json, shapes.json (tiny_weights.py makes the weights
from it) and case_texts.json: the tokenizer (a file of tokenizer_corpus), whether it gets GLiNER's markers, the texts, and
runs. A run has labels, options, and for each text its entities: label, start, end and score. In runs with `windows`, the tokens
of one, the scores of each window are the reference's, and its greedy_search chooses among those of all windows; in others gliner
cuts the texts.
"""
import argparse
import json
import pathlib
import shutil
import warnings

import gliner.model
import torch
import transformers
from gliner.config import GLiNERConfig
from gliner.decoding.decoder import Span

from golden_folder import pack_folders
from record_models import write_json
from tiny_weights import weight

HERE = pathlib.Path(__file__).parent
CORPUS = HERE / "tokenizer_corpus"
TEXTS = [
    "Ada Lovelace met Charles Babbage in London.",
    "",
    " \n\t ",
    "caf\u00e9 cafe\u0301 \U0001f600 state-of-the-art foo_bar -x- a--b\r\n\u732b\u306f Z\u00fcrich's 221B\u00a0Baker",
    "The committee met in S\u00e3o Paulo until Mar\u00eda Jos\u00e9 of Alate & Sons, 221B Baker St, knows "
    "what Ada Lovelace and Charles Babbage said of it in London, and until then nobody speaks of it again.",
]
LABELS = [["person", "date of birth", "city", "person"], ["organization"]]
MOST, FEW = 192, 56  # tokens of a row: as the tokenizer states, and of runs with windows
# nested, multi_label, windows
WAYS = [(False, False, False), (True, False, False), (False, True, False), (False, False, True), (True, True, True)]
SPECIALS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def fill(model, seed):
    """Gives every parameter the values of tiny_weights.py. Returns the extents by name."""
    shapes = {}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(weight(name, tuple(parameter.shape), seed)))
            shapes[name] = list(parameter.shape)
    return shapes


def row_spans(model, words, labels, threshold):
    """All spans of a row of words with a score above the threshold, before any is chosen."""
    batch = model.collate_batch(model.prepare_base_input([words]), labels)
    names = batch["id_to_classes"]
    names = names[0] if isinstance(names, list) else names
    logits = model.run_batch(batch, threshold)[0][0]
    if logits.shape[-1] == 3 and hasattr(model.decoder, "_calculate_span_score"):
        start, end, inside = logits.permute(2, 0, 1)
        above = model.decoder._get_indices_above_threshold
        return model.decoder._calculate_span_score(above(start, threshold), above(end, threshold), inside.sigmoid(),
                                                   start.sigmoid(), end.sigmoid(), names, threshold)
    scores = logits.sigmoid()
    return [Span(start=s, end=s + w, entity_type=names[c + 1], score=scores[s, w, c].item())
            for s, w, c in torch.nonzero(scores > threshold).tolist() if s + w < len(words)]


def windows_of(sizes, tokens, words):
    """The windows of a text whose words have these numbers of tokens."""
    windows, begin = [], 0
    while True:
        end, held = begin, 0
        while end < len(sizes) and end - begin < words and held + sizes[end] <= tokens:
            held += sizes[end]
            end += 1
        windows.append((begin, end))
        if end == len(sizes):
            return windows
        shared, begin_next = 0, end
        while begin_next > begin + 1 and shared + sizes[begin_next - 1] <= held // 4:
            begin_next -= 1
            shared += sizes[begin_next]
        begin = begin_next


def window_entities(model, text, labels, run, row_length):
    splits = list(model.data_processor.words_splitter(text))
    if not splits:
        return []
    words = [word for word, _, _ in splits]
    labels = list(dict.fromkeys(labels))
    prompt, _ = model.data_processor.prepare_inputs([[]], labels)
    encode = lambda items: model.data_processor.transformer_tokenizer(items, is_split_into_words=True)
    taken = len(encode(prompt[0])["input_ids"])
    word_ids = encode(words).word_ids()
    sizes = [word_ids.count(i) for i in range(len(words))]
    best = {}
    for begin, end in windows_of(sizes, row_length - taken, model.config.max_len):
        for span in row_spans(model, words[begin:end], labels, run["threshold"]):
            key = (span.start + begin, span.end + begin, labels.index(span.entity_type))
            best[key] = max(best.get(key, 0), span.score)
    spans = [Span(start=s, end=e, entity_type=labels[label], score=score) for (s, e, label), score in sorted(best.items())]
    kept = model.decoder.greedy_search(spans, not run["nested"], run["multi_label"])
    return [{"label": s.entity_type, "start": splits[s.start][1], "end": splits[s.end][2], "score": s.score} for s in kept]


def record(folder, corpus, backbone, has_markers, thresholds, seed=5, config_is_inside=True, **fields):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(CORPUS / corpus), model_max_length=MOST, **SPECIALS)
    backbone = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 20,
                "max_position_embeddings": MOST, "vocab_size": 11, **backbone}
    config = GLiNERConfig(encoder_config=dict(backbone), **fields)
    kind = gliner.model.GLiNER._get_gliner_class(config)
    model = kind(config, tokenizer=tokenizer, backbone_from_pretrained=False)
    kind._resize_token_embeddings(model, config, tokenizer)
    model.eval()
    shapes = fill(model.model, seed)
    runs = []
    for labels in LABELS:
        for threshold in thresholds:
            for nested, multi_label, windows in WAYS:
                run = {"labels": labels, "threshold": threshold, "nested": nested, "multi_label": multi_label,
                       "windows": FEW if windows else None}
                if windows:
                    found = [window_entities(model, text, labels, run, FEW) for text in TEXTS]
                else:
                    found = model.inference(TEXTS, labels, flat_ner=not nested, threshold=threshold,
                                            multi_label=multi_label, batch_size=1)
                run["entities"] = [[[e["label"], e["start"], e["end"], round(e["score"], 5)] for e in each] for each in found]
                runs.append(run)
    stored = json.loads(json.dumps({**fields, "class_token_index": config.class_token_index,
                                    "vocab_size": config.vocab_size}))
    if config_is_inside:
        stored["encoder_config"] = {**backbone, "vocab_size": config.vocab_size}
    else:  # as published folders without either: the indices come from the tokenizer, which has no markers
        del stored["class_token_index"], stored["vocab_size"]
        write_json(folder / "config.json", backbone)
    write_json(folder / "gliner_config.json", stored)
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": MOST, **SPECIALS})
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    with (folder / "case_texts.json").open("w") as out:
        lines = ",\n".join(json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in runs)
        markers = len(tokenizer) - 3 if has_markers else None
        out.write('{"tokenizer":%s,"markers":%s,"texts":%s,"runs":[\n%s]}\n' % (
            json.dumps(corpus), json.dumps(markers), json.dumps(TEXTS, ensure_ascii=False), lines))
    print(folder.name, [(r["threshold"], [len(e) for e in r["entities"]]) for r in runs if not r["windows"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "gliner")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    deberta = {"model_type": "deberta-v2", "relative_attention": True, "position_biased_input": False,
               "pos_att_type": ["p2c", "c2p"], "position_buckets": 8, "norm_rel_ebd": "layer_norm", "type_vocab_size": 0,
               "share_att_key": True, "max_relative_positions": -1}
    bert = {"model_type": "bert"}
    record(options.out / "spans", "deberta_v2.json", deberta, True, [0.85], hidden_size=12, max_width=4, max_len=20,
           span_mode="markerV0", num_rnn_layers=0)
    record(options.out / "old_markers", "bert_cased.json", bert, False, [0.9995], config_is_inside=False, hidden_size=16,
           max_width=3, max_len=384, span_mode="marker", num_rnn_layers=0, embed_ent_token=False, subtoken_pooling="last",
           ent_token="<<ENT>>", sep_token="<<SEP>>")
    record(options.out / "lstm", "deberta_v2.json", deberta, True, [0.775], seed=10, hidden_size=12, max_width=4, max_len=20,
           span_mode="markerV0", num_rnn_layers=2)
    record(options.out / "words", "bert_cased.json", bert, False, [0.58], seed=6, hidden_size=12, max_width=12, max_len=24,
           span_mode="token_level", num_rnn_layers=1)
    pack_folders(options.out)


if __name__ == "__main__":
    main()
