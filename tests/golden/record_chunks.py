"""Records chunks of a text, and their vectors by late chunking, with the tiny sentence-transformers folders of models/.

usage: record_chunks.py [--out FILE]          (FILE: chunks.json beside this file; needs uniseg 0.10.1 besides)

Sentences are uniseg's, tokens those of `tokenizers`, hidden states those of transformers' forward over each window by
itself, sentences' vectors for the method semantic those of sentence-transformers. Windows and pooling are as
include/alate/chunk.h says: windows of as many tokens as fit beside special tokens and the prompt, each sharing a quarter with
the one before, of which the first half is taken from the earlier one.
"""
import argparse
import json
import pathlib

import numpy as np
import tokenizers
import torch
import transformers
from sentence_transformers import SentenceTransformer
from uniseg.sentencebreak import sentence_boundaries

HERE = pathlib.Path(__file__).parent
TEXT = ("The quick brown fox jumps. It jumped on the café mat, e.g. on 1.5 mats! Why?\n\n"
        "\t猫在垫子上。狐狸跳了。 the passage - \u201cA cat sat.\u201d The cat sat on the mat. Fox \U0001F98A: foxes; foxes\u2026 naïve query\r\n"
        "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 the quick brown fox jumped on the cat. "
        "Fox: cat: mat? no.   ")


def sentences(text):
    ends = list(sentence_boundaries(text))
    return list(zip(ends, ends[1:]))


class Tokens:
    def __init__(self, folder, text):
        self.text = text
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        settings = json.loads((folder / "sentence_bert_config.json").read_text())
        lower = text.lower() if settings.get("do_lower_case") else text
        assert len(lower) == len(text)
        encoding = self.tokenizer.encode(lower, add_special_tokens=False)
        self.ids, self.offsets = encoding.ids, encoding.offsets

    def first_from(self, character):
        return sum(begin < character for begin, _ in self.offsets)

    def slice_of(self, first, end):
        begin, stop = self.offsets[first][0], self.offsets[end - 1][1]
        part = self.text[begin:stop]
        return begin + len(part) - len(part.lstrip()), stop - (len(part) - len(part.rstrip()))


def by_sentence(tokens, target, overlap):
    """Whole sentences, as many as fit; REQUIRES: each fits."""
    starts = [tokens.first_from(begin) for begin, _ in sentences(tokens.text)] + [len(tokens.ids)]
    pieces = [(a, b) for a, b in zip(starts, starts[1:]) if a < b]
    assert all(b - a <= target for a, b in pieces), pieces
    chunks, first, own, end = [], 0, 0, 0
    for a, b in pieces:
        if b - first > target and end > own:
            chunks.append((first, end))
            room = min(overlap, target - (b - a))
            first = min([s for s, _ in pieces if s >= max(end - room, first + 1)] + [end])
            own = end
            first = min(first, end)
        end = b
    chunks.append((first, end))
    return chunks


def late_vectors(folder, tokens, chunks):
    encoder = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    prompt = (encoder.prompts or {}).get(encoder.default_prompt_name, "") if encoder.default_prompt_name else ""
    frame = tokens.tokenizer.encode("a").ids
    before = [frame[0], *(tokens.tokenizer.encode(prompt, add_special_tokens=False).ids if prompt else [])]
    room = encoder.max_seq_length - len(before) - 1
    shared = room // 4
    vectors = np.full((len(tokens.ids), model.config.hidden_size), np.nan)
    first, windows = 0, 0
    while True:
        ids = tokens.ids[first:first + room]
        with torch.no_grad():
            hidden = model(torch.tensor([[*before, *ids, frame[-1]]])).last_hidden_state[0].double().numpy()
        begin = first + shared // 2 if windows else 0
        vectors[begin:first + len(ids)] = hidden[len(before) + begin - first:len(before) + len(ids)]
        windows += 1
        if first + room >= len(tokens.ids):
            break
        first += room - shared
    assert not np.isnan(vectors).any() and windows > 2, windows
    modes = encoder[1].pooling_mode
    mode = modes if isinstance(modes, str) else modes[0]
    pool = {"mean": lambda x: x.mean(0), "max": lambda x: x.max(0), "mean_sqrt_len_tokens": lambda x: x.sum(0) / np.sqrt(len(x))}[mode]
    pooled = np.stack([pool(vectors[a:b]) for a, b in chunks])
    if len(encoder) > 2:
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
    return pooled.astype(np.float32)


def semantic(folder, tokens, percentile):
    """Spans of sentences whose neighbours are not below the percentile of the cosines, and that percentile."""
    starts = [tokens.first_from(begin) for begin, _ in sentences(tokens.text)] + [len(tokens.ids)]
    pieces = [(a, b) for a, b in zip(starts, starts[1:]) if a < b]
    texts = [tokens.text[slice(*tokens.slice_of(a, b))] for a, b in pieces]
    vectors = SentenceTransformer(str(folder), device="cpu").encode(texts, normalize_embeddings=True).astype(np.float64)
    cosines = (vectors[:-1] * vectors[1:]).sum(1)
    limit = np.percentile(cosines, percentile)
    assert min(abs(cosines - limit)) > 1e-6, "the reference's rounding decides"
    chunks = [list(pieces[0])]
    for cosine, (a, b) in zip(cosines, pieces[1:]):
        if cosine < limit:
            chunks.append([a, b])
        else:
            chunks[-1][1] = b
    return chunks, float(limit)


def spans(tokens, chunks):
    return [[*tokens.slice_of(a, b), b - a] for a, b in chunks]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "chunks.json")
    out = parser.parse_args().out
    late = []
    for name in ("st_mean", "st_mean_normalize", "st_max", "st_mean_sqrt_len", "st_prompts", "st_lower_in_module"):
        folder = HERE / "models" / name
        tokens = Tokens(folder, TEXT)
        chunks = by_sentence(tokens, 45, 12)
        vectors = late_vectors(folder, tokens, chunks)
        late.append({"model": name, "target_tokens": 45, "overlap_tokens": 12, "spans": spans(tokens, chunks),
                     "vectors": [[float(str(x)) for x in row] for row in vectors]})
    found = []
    for name, percentile in (("st_mean", 33), ("st_mean_normalize", 50.5)):
        tokens = Tokens(HERE / "models" / name, TEXT)
        chunks, limit = semantic(HERE / "models" / name, tokens, percentile)
        found.append({"model": name, "percentile": percentile, "threshold": limit, "spans": spans(tokens, chunks)})
    assert any(late[i]["spans"][j][0] < late[i]["spans"][j - 1][1] for i in range(len(late)) for j in range(1, len(late[i]["spans"]))), "no overlap"
    lines = ['"late": [\n' + ",\n".join(json.dumps(case) for case in late) + "]",
             '"semantic": [\n' + ",\n".join(json.dumps(case) for case in found) + "]"]
    out.write_text("{" + f'"text": {json.dumps(TEXT)},\n' + ",\n".join(lines) + "}\n", encoding="utf-8")
    print([len(case["spans"]) for case in late + found])


if __name__ == "__main__":
    main()
