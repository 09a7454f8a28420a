"""Records what the logits processors of transformers leave of rows of logits, into sampling.json.

    python record_sampling.py

Cases whose answer would be another one in float64, or with a parameter that is 1e-5 larger or smaller, are refused: they
would record rounding.
"""
import json
import pathlib

import numpy as np
import torch
from transformers.generation.logits_process import (
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

SIZE = 96
STEPS = {
    "top_k": (TopKLogitsWarper, [1, 2, 7, 40, 95]),
    "top_p": (TopPLogitsWarper, [0.05, 0.3, 0.5, 0.8, 0.95, 0.999]),
    "min_p": (MinPLogitsWarper, [0.001, 0.05, 0.2, 0.5, 0.99]),
    "typical_p": (TypicalLogitsWarper, [0.05, 0.2, 0.5, 0.9, 0.99]),
}


def kept(processor, logits):
    scores = processor(torch.zeros((1, 1), dtype=torch.long), torch.tensor(logits)[None])[0]
    return torch.nonzero(scores > -torch.inf).flatten().tolist()


def step_case(row, logits, step, value, min_keep):
    make = STEPS[step][0]
    found = kept(make(value, min_tokens_to_keep=min_keep), logits)
    nearby = [value] if step == "top_k" else [value * (1 - 1e-5), min(value * (1 + 1e-5), 1 - 1e-9)]
    for other in nearby:
        for same in (logits, logits.astype(np.float64)):
            assert kept(make(other, min_tokens_to_keep=min_keep), same) == found, (row, step, value)
    return {"row": row, "step": step, "value": value, "min_keep": min_keep, "kept": found}


def penalty_case(row, logits, penalty, tokens):
    scores = RepetitionPenaltyLogitsProcessor(penalty)(torch.tensor([tokens]), torch.tensor(logits)[None].clone())[0]
    distinct = sorted(set(tokens))
    return {"row": row, "penalty": penalty, "tokens": tokens, "distinct": distinct, "scores": scores[distinct].tolist()}


def temperature_case(row, logits, temperature):
    scores = TemperatureLogitsWarper(temperature)(None, torch.tensor(logits.astype(np.float64)))
    return {"row": row, "temperature": temperature, "probabilities": torch.softmax(scores, -1).numpy().round(10).tolist()[:12]}


def main():
    random = np.random.default_rng(20261128)
    rows = {name: (scale * random.standard_normal(SIZE)).astype(np.float32).round(4)
            for name, scale in (("peaked", 5), ("plain", 1.5), ("flat", 0.2))}
    rows["peaked"][3] = -np.inf  # a token that the model excludes
    steps, penalties, temperatures = [], [], []
    for name, logits in rows.items():
        for step, (_, values) in STEPS.items():
            steps += [step_case(name, logits, step, value, 1) for value in values]
        for step in ("top_p", "min_p", "typical_p"):
            steps.append(step_case(name, logits, step, STEPS[step][1][0 if step != "min_p" else -1], 5))
        temperatures += [temperature_case(name, logits, t) for t in (0.25, 0.7, 1.0, 3.0)]
        penalties += [penalty_case(name, logits, p, random.integers(10, SIZE, 30).tolist()) for p in (1.3, 0.8)]
    golden = {"rows": {name: [None if np.isinf(x) else float(str(x)) for x in logits] for name, logits in rows.items()},
              "steps": steps, "penalties": penalties, "temperatures": temperatures}
    path = pathlib.Path(__file__).parent / "sampling.json"
    path.write_text(json.dumps(golden, separators=(",", ":")).replace('{"row"', '\n{"row"') + "\n")


main()
