"""Records what the package gliner2 extracts with tiny models.

usage: record_extract.py [--out DIR]     (DIR: the folder `extractors` beside this file)

Needs gliner2 2.1.0. Each folder DIR/NAME has config.json, encoder_config/config.json, tokenizer_config.json, shapes.json
(tiny_weights.py makes the weights from it) and case_texts.json: the tokenizer (a file of tokenizer_corpus), the first id
of the markers that it gets, the texts, and runs. A run has a schema as `alate extract` reads it, a threshold, and of each
text the results with scores and places, and without. DIR/words.json has texts with the places of their words.

Two things differ from the package on purpose, and are changed here: the period that it adds to texts is no part of values
(a value that ends with it loses it), and a relation with a description has its own name in the results.

In runs with `windows`, the tokens of a row, each window is a text of its own for the package; of entities all spans of all
windows are chosen from as it chooses those of one text, instances of structures and relations are those of all windows,
each once with the best score, and labels of classifications have the best of their scores.
"""
import argparse
import json
import pathlib
import random
import shutil

import torch
import transformers
from gliner2.configuration import ExtractorConfig
from gliner2.inference.schema import Schema
from gliner2.models.span.model import SpanExtractorModel
from gliner2.inference import engine
from gliner2.processing.word_splitter import WhitespaceTokenSplitter
from gliner2.processor import SchemaTransformer

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
    "Write to ada@example.com, @babbage or https://alate.example/a?b=c now",
    "The committee met in S\u00e3o Paulo until Mar\u00eda Jos\u00e9 of Alate & Sons, 221B Baker St, knows "
    "what Ada Lovelace and Charles Babbage said of it in London, and until then nobody speaks of it again! "
    "Grace Hopper sold 3 blue lamps to \u0130stanbul's museum for 40 euros; Charles paid 12 for a red one ",
]
LONG = len(TEXTS) - 1
SCHEMAS = [
    {"person": ["name::str", "cities::list", "tone::[warm|cold|Ada]"]},
    {"entities": ["person", "city", "date of birth"]},
    {"entities": {"person": "a human being", "city": {"dtype": "str", "threshold": 0.3}, "thing": {}}},
    {"relations": {"lives in": "where somebody lives", "knows": {"threshold": 0.4}}},
    {"classifications": [
        {"task": "tone", "labels": ["warm", "cold", "neutral"]},
        {"task": "topics", "labels": {"trade": "buying and selling", "travel": "going places"}, "multi_label": True,
         "cls_threshold": 0.45, "prompt": "what it is about", "examples": [["He sold it", "trade"], ["x", "none"]]},
        {"task": "both", "labels": ["a", "b", "c"], "multi_label": True, "cls_threshold": 0.2, "top_k": 2,
         "class_act": "softmax"}]},
    {"product": ["name::str::the product's name", "price::str", "colours::[red|blue]::list", "size::[small|red]::str",
                 {"name": "buyer", "dtype": "list", "threshold": 0.6, "description": "who paid"}],
     "structures": {"meeting": {"fields": [{"name": "people"}, {"name": "place", "dtype": "str"}]}},
     "entities": ["person"], "relations": ["sold to"],
     "classifications": [{"task": "mood", "labels": ["good", "bad"], "class_act": "sigmoid"}]},
]
MOST = 512
SPECIALS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def fill(model, seed):
    """Gives every parameter the values of tiny_weights.py. Returns the extents by name."""
    shapes = {}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(weight(name, tuple(parameter.shape), seed)))
            shapes[name] = list(parameter.shape)
    return shapes


def without_period(model):
    """Makes the model's spans end with the text that it was given."""
    find = model._find_spans

    def found(scores, threshold, text_len, text, start_map, end_map):
        given = model.given[text]
        spans = []
        for _, score, start, end in find(scores, threshold, text_len, text, start_map, end_map):
            if start < len(given.rstrip()) and (end <= len(given) or text[start:len(given)].strip()):
                end = min(end, len(given.rstrip()) if end > len(given) else end)
                spans.append((text[start:end].strip(), score, start, end))
        return spans

    model._find_spans = found


def package_schema(model, schema):
    """The schema as gliner2.Schema.from_dict takes it."""
    made = {key: schema[key] for key in ("entities", "relations", "classifications") if key in schema}
    structures = dict(schema.get("structures", {}))
    for name, fields in schema.items():
        if name in ("entities", "relations", "classifications", "structures"):
            continue
        structures[name] = {"fields": []}
        for field in fields:
            if isinstance(field, str):
                name_of, dtype, choices, description = model._parse_field_spec(field)
                field = {"name": name_of, "dtype": dtype, "choices": choices, "description": description}
            structures[name]["fields"].append({key: value for key, value in field.items() if value is not None})
    if structures:
        order = [name for name in schema if name in structures] + list(schema.get("structures", {}))
        made["structures"] = {name: structures[name] for name in dict.fromkeys(order)}
    return Schema.from_dict(made)


def renamed(result, schema):
    """Relations under their own names."""
    relations = schema.get("relations")
    if not isinstance(relations, dict):
        return result
    result = dict(result)
    found = dict(result.get("relation_extraction", {}))
    for name, content in relations.items():
        description = content if isinstance(content, str) else content.get("description")
        if description:
            found[name] = found.pop(f"{name}: {description}", None) or result.pop(f"{name}: {description}", [])
    result["relation_extraction"] = {name: found[name] for name in relations}
    return result


def extract(model, texts, schema, threshold, detailed, **more):
    for text in texts:
        model.given[SchemaTransformer._normalize_text(text)] = text
    results = model.batch_extract(texts, package_schema(model, schema), threshold=threshold, batch_size=1,
                                  include_confidence=detailed, include_spans=detailed, **more)
    return [renamed(result, schema) for result in results]


def windows_of(sizes, tokens):
    """The windows of a text whose words have these numbers of tokens."""
    windows, begin = [], 0
    while True:
        end, held = begin, 0
        while end < len(sizes) and held + sizes[end] <= tokens:
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


def moved(value, by):
    if isinstance(value, list):
        return [moved(each, by) for each in value]
    if isinstance(value, dict):
        made = {key: moved(each, by) for key, each in value.items()}
        if "start" in made:
            made["start"] += by
            made["end"] += by
        return made
    return value


def says(value):
    """What an instance says, without scores."""
    if isinstance(value, list):
        return [says(each) for each in value]
    if isinstance(value, dict):
        return {key: says(each) for key, each in value.items() if key != "confidence"}
    return value


def best(value):
    if isinstance(value, list):
        return max([best(each) for each in value], default=0)
    if isinstance(value, dict):
        return value.get("confidence", max([best(each) for each in value.values()], default=0))
    return 0


def once(items):
    kept = {}
    for item in items:
        key = json.dumps(says(item))
        if key not in kept or best(item) > best(kept[key]):
            kept[key] = item  # in the place of the first
    return list(kept.values())


def apart(spans):
    kept = []
    for span in sorted(spans, key=lambda span: -span["confidence"]):
        if all(span["end"] <= other["start"] or other["end"] <= span["start"] for other in kept):
            kept.append(span)
    return kept


def label_scores(model, text, schema):
    """Of each classification all labels with their scores."""
    schema = json.loads(json.dumps(schema))
    for task in schema["classifications"]:
        task["class_act"] = task.get("class_act") or ("sigmoid" if task.get("multi_label") else "softmax")
        task.update(multi_label=True, cls_threshold=0)
        task.pop("top_k", None)
    found = extract(model, [text], schema, 0.5, True)[0]
    return {task["task"]: {each["label"]: each["confidence"] for each in found[task["task"]]}
            for task in schema["classifications"]}


def window_result(model, text, schema, threshold, room):
    prompt = model.processor.transform_record("x.", package_schema(model, schema))
    period = len(model.processor.tokenizer.tokenize("."))
    taken = prompt.text_word_first_positions[-2] + period  # which windows may get
    row_length = max(2 * taken, taken + room)  # the prompt takes at most half
    words = list(WhitespaceTokenSplitter()(text))
    sizes = [len(model.processor.tokenizer.tokenize(word)) for word, _, _ in words]
    windows = windows_of(sizes, row_length - taken)
    results, spans, scores = [], {}, {}
    for begin, end in windows:
        offset, part = words[begin][1], text[words[begin][1]:words[end - 1][2]]
        if (begin, end) == (0, len(words)):
            offset, part = 0, text
        results.append(moved(extract(model, [part], schema, threshold, True)[0], offset))
        if "entities" in schema:
            found = moved(extract(model, [part], schema, threshold, True, overlap_policy="allow")[0]["entities"], offset)
            for name, each in found.items():
                spans.setdefault(name, []).extend(each if isinstance(each, list) else [each] if each else [])
        if "classifications" in schema:
            for task, labels in label_scores(model, part, schema).items():
                for label, score in labels.items():
                    scores.setdefault(task, {})[label] = max(score, scores.get(task, {}).get(label, 0))
    merged = {}
    for key, value in results[0].items():
        if key == "entities":
            # Of a single value the package keeps one span a window: the best of all is among them.
            is_list = {name: isinstance(found, list) for result in results for name, found in result[key].items()}
            merged[key] = {name: apart(spans.get(name, [])) for name in is_list}
            merged[key] = {name: found if is_list[name] else (found[0] if found else None)
                           for name, found in merged[key].items()}
        elif key == "relation_extraction":
            merged[key] = {name: once([pair for result in results for pair in result[key][name]]) for name in value}
        elif key in scores:
            task = next(each for each in schema["classifications"] if each["task"] == key)
            labels = [{"label": label, "confidence": score} for label, score in scores[key].items()]
            top = max(labels, key=lambda each: each["confidence"])
            if task.get("multi_label"):
                chosen = [each for each in labels if each["confidence"] >= task.get("cls_threshold", 0.5)] or [top]
                if "top_k" in task:
                    chosen = sorted(chosen, key=lambda each: -each["confidence"])[:task["top_k"]]
                merged[key] = chosen
            else:
                merged[key] = top
        else:
            instances = once([each for result in results for each in (result[key] or [])])
            merged[key] = instances or value
    return merged, row_length, len(windows)


def rounded(value):
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return round(value, 6) if isinstance(value, float) else value


def record(folder, corpus, backbone, threshold, room, seed, **fields):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "encoder_config").mkdir(parents=True)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(CORPUS / corpus), model_max_length=MOST, **SPECIALS)
    before = len(tokenizer)
    kind = backbone["model_type"]
    encoder = transformers.AutoConfig.for_model(kind, **{
        "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 20,
        "max_position_embeddings": MOST, "vocab_size": 11, **{k: v for k, v in backbone.items() if k != "model_type"}})
    config = ExtractorConfig(model_name="tiny", **fields)
    model = public_class()(config, encoder_config=encoder, tokenizer=tokenizer)
    model.eval()
    model.given = {}
    shapes = fill(model, seed)
    without_period(model)
    runs = []
    for schema in SCHEMAS:
        detailed = extract(model, TEXTS, schema, threshold, True)
        plain = extract(model, TEXTS, schema, threshold, False)
        runs.append({"schema": schema, "threshold": threshold, "results": rounded(detailed), "plain": rounded(plain)})
        merged, row_length, count = window_result(model, TEXTS[LONG], schema, threshold, room)
        runs.append({"schema": schema, "threshold": threshold, "windows": row_length, "texts": [LONG],
                     "results": rounded([merged])})
        print(folder.name, count, "windows", [len(json.dumps(each)) for each in detailed])
    stored = {"model_type": "extractor", "architectures": ["Extractor"], "model_name": "tiny", **fields}
    write_json(folder / "config.json", stored)
    write_json(folder / "encoder_config" / "config.json",
               {"model_type": kind, **{k: v for k, v in backbone.items() if k != "model_type"},
                **{k: getattr(encoder, k) for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                                   "intermediate_size", "max_position_embeddings", "vocab_size")}})
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": MOST, **SPECIALS})
    (folder / "shapes.json").write_text(
        '{"seed": %d, "shapes": {\n' % seed
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    with (folder / "case_texts.json").open("w") as out:
        lines = ",\n".join(json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in runs)
        out.write('{"tokenizer":%s,"markers":%d,"texts":%s,"runs":[\n%s]}\n' % (
            json.dumps(corpus), before, json.dumps(TEXTS, ensure_ascii=False), lines))


def public_class():
    """The span model with the package's methods for users."""
    for name in ("GLiNER2", "SpanAutoExtractor", "SpanExtractor", "Span"):
        found = getattr(engine, name, None)
        if isinstance(found, type) and issubclass(found, SpanExtractorModel):
            return found
    return next(each for each in vars(engine).values()
                if isinstance(each, type) and issubclass(each, SpanExtractorModel) and each is not SpanExtractorModel)


def record_words(path):
    """Texts of pieces on which the alternatives of the expression differ."""
    pieces = ["a", "B", "9", "_", "-", ".", "@", "%", "+", " ", "\u00a0", "http://", "HTTPS://", "https:/", "www.", "WWW",
              ".com", ".c", "x@y.de", "\u0130", "\u0131", "\u017f", "\u212a", "\u0301", "\u200d", "\u732b", "\U0001f600", "'",
              "\u00bd", "\u0e33", "\u093f", "#", "(", "https://\u017f", "http\u017f://q", "\x1c", "\n"]
    source = random.Random(7)
    texts = ["".join(source.choice(pieces) for _ in range(source.randint(1, 14))) for _ in range(400)]
    words = [[[start, end] for _, start, end in WhitespaceTokenSplitter()(text)] for text in texts]
    path.write_text("[\n" + ",\n".join(json.dumps([text, each], separators=(",", ":"))
                                       for text, each in zip(texts, words)) + "]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "extractors")
    options = parser.parse_args()
    torch.set_num_threads(1)
    deberta = {"model_type": "deberta-v2", "relative_attention": True, "position_biased_input": False,
               "pos_att_type": ["p2c", "c2p"], "position_buckets": 8, "norm_rel_ebd": "layer_norm", "type_vocab_size": 0,
               "share_att_key": True, "max_relative_positions": -1}
    record(options.out / "lstm", "deberta_v2.json", deberta, 0.8, 48, seed=5, max_width=4, counting_layer="count_lstm")
    record(options.out / "lstm_v2", "bert_cased.json", {"model_type": "bert"}, 0.6, 48, seed=6, max_width=3,
           counting_layer="count_lstm_v2")
    record(options.out / "experts", "bert_cased.json", {"model_type": "bert"}, 0.6, 48, seed=8, max_width=2,
           counting_layer="count_lstm_moe")
    record_words(options.out / "words.json")
    pack_folders(options.out)


if __name__ == "__main__":
    main()
