"""Records how jina-reranker-v3's own code ranks lists of texts, with a tiny model. transformers has no class for it: this
follows modeling.py of jinaai/jina-reranker-v3, step by step, over transformers' Qwen3.

usage: record_list_rerankers.py [--out DIR]     (DIR: rerankers beside this file)

DIR/jina_ranking has config.json, the tokenizer's settings and shapes.json; DIR/lists.json has cases: the query, the texts,
the instruction, the length of a text, the tokens that a prompt may have, and the scores.
"""
import argparse
import json
import pathlib
import shutil

import numpy as np
import tokenizers
import torch
import transformers

from golden_folder import pack_folders
from record_architectures import fill
from record_models import write_json

HERE = pathlib.Path(__file__).parent
TOKENIZER = HERE / "tokenizer_corpus" / "qwen.json"
TEXT, QUERY = "<|embed_token|>", "<|rerank_token|>"
SYSTEM = ("You are a search relevance expert who can determine a ranking of the passages based on how relevant they are to the query. "
          "If the query is a question, how relevant a passage is depends on how well it answers the question. "
          "If not, try to analyze the intent of the query and assess how well each passage satisfies the intent. "
          "If an instruction is provided, you should follow the instruction when determining the ranking.")
TEXTS = ["The cat sat on the mat.", "", f"fox {TEXT}and{QUERY} hounds", "A caf\u00e9, na\u00efve \u732b <|im_end|> yes",
         "the quick brown fox, " * 12]
CASES = [
    {"name": "one_block", "texts": TEXTS},
    {"name": "instruction", "texts": TEXTS, "instruction": "Find animals"},
    {"name": "short_texts", "texts": TEXTS, "text_length": 20},
    # Blocks by their tokens, where the prompt's own fit beside.
    {"name": "small_prompts", "texts": [f"{word} and {other}" for word in ("cat", "fox", "hen", "mat", "dog") for other in ("sun", "moon")],
     "text_length": 1000, "prompt_length": 1060},
    {"name": "many_texts", "texts": [f"text {i}" for i in range(130)]},
]


class Ranking(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = transformers.Qwen3Model(config)
        half = config.hidden_size // 2
        self.projector = torch.nn.Sequential(torch.nn.Linear(config.hidden_size, half, bias=False), torch.nn.ReLU(),
                                             torch.nn.Linear(half, 12, bias=False))

    def tie_weights(self):
        pass


def tokenizer_text():
    described = json.loads(TOKENIZER.read_text())
    first = 1 + max([*described["model"]["vocab"].values(), *(token["id"] for token in described["added_tokens"])])
    described["added_tokens"] += [{"id": first + i, "content": word, "single_word": False, "lstrip": False, "rstrip": False,
                                   "normalized": False, "special": True} for i, word in enumerate([TEXT, QUERY])]
    return json.dumps(described)


def prompt(query, texts, instruction):
    def clean(text):
        return text.replace(QUERY, "").replace(TEXT, "")
    parts = [f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n",
             f"I will provide you with {len(texts)} passages, each indicated by a numerical identifier. "
             f"Rank the passages based on their relevance to query: {clean(query)}\n"]
    if instruction:
        parts.append(f"<instruct>\n{instruction}\n</instruct>\n")
    parts.append("\n".join(f'<passage id="{i}">\n{clean(text)}{TEXT}\n</passage>' for i, text in enumerate(texts)) + "\n")
    parts.append(f"<query>\n{clean(query)}{QUERY}\n</query>")
    parts.append("<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n")
    return "".join(parts)


def vectors(model, tokenizer, text):
    ids = tokenizer.encode(text).ids
    with torch.no_grad():
        hidden = model.model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        found = model.projector(hidden).double().numpy()
    of = [np.array(ids) == tokenizer.token_to_id(token) for token in (QUERY, TEXT)]
    assert of[0].sum() == 1
    return found[of[0]][0], found[of[1]], len(ids)


def cosines(query, texts):
    return texts @ query / (np.linalg.norm(texts, axis=1) * np.linalg.norm(query))


def cut(tokenizer, text, length):
    ids = tokenizer.encode(text).ids[:length]
    return (tokenizer.decode(ids, skip_special_tokens=False) if len(ids) >= length else text), len(ids)


def rank(model, tokenizer, query, texts, case):
    longest, room = case.get("text_length", 2048), case.get("prompt_length", 8192)
    query, query_length = cut(tokenizer, query, 512)
    left, block, queries, found, weights = room - 2 * query_length, [], [], [], []
    sizes = []

    def flush():
        asked, of_texts, size = vectors(model, tokenizer, prompt(query, block, case.get("instruction")))
        queries.append(asked)
        found.extend(of_texts)
        weights.append(((1 + cosines(asked, of_texts)) / 2).max())
        sizes.append((len(block), size))
        block.clear()

    for text in texts:
        text, length = cut(tokenizer, text, longest)
        block.append(text)
        left -= length
        if len(block) >= 125 or left <= longest:
            flush()
            left = room - 2 * query_length
    if block:
        flush()
    print(case["name"], "texts and tokens of the prompts:", sizes)
    assert max(size for _, size in sizes) <= room
    return cosines(np.average(queries, axis=0, weights=weights), np.array(found)).tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "rerankers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = tokenizers.Tokenizer.from_str(tokenizer_text())
    config = transformers.Qwen3Config(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=12,
        intermediate_size=20, max_position_embeddings=8192, pad_token_id=0, bos_token_id=None, eos_token_id=None,
        tie_word_embeddings=True, rope_parameters={"rope_theta": 10000.0, "rope_type": "default"})
    config._attn_implementation = "eager"
    model = Ranking(config).eval()
    folder = options.out / "jina_ranking"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shapes = fill(model, 91)
    config.architectures = ["JinaForRanking"]
    config.auto_map = {"AutoModel": "modeling.JinaForRanking"}
    write_json(folder / "config.json", json.loads(config.to_json_string()))
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 131072,
                                                  "pad_token": "<|endoftext|>", "eos_token": "<|im_end|>"})
    (folder / "shapes.json").write_text('{"seed": 91, "shapes": {\n' + ",\n".join(
        f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items()) + "}}\n")
    query = "Where did the cat sit?"
    cases = []
    for case in CASES:
        scores = rank(model, tokenizer, query, case["texts"], case)
        assert len({round(score, 5) for score in scores}) > len(scores) // 2
        cases.append({**case, "scores": scores})
    write_json(options.out / "lists.json", {"query": query, "cases": cases})
    pack_folders(options.out)


if __name__ == "__main__":
    main()
