#!/usr/bin/env python3
"""Records class_tokens.json: the special tokens that transformers' tokenizer classes have where a folder names none.

    record_class_tokens.py > class_tokens.json       (transformers 5.24.0)
"""
import inspect
import json
import sys

import transformers

CLASSES = ["BertTokenizer", "CodeGenTokenizer", "CodeLlamaTokenizer", "CohereTokenizer", "GPT2Tokenizer", "GPTNeoXTokenizer", "GemmaTokenizer", "LlamaTokenizer", "PreTrainedTokenizerFast", "Qwen2Tokenizer", "RobertaTokenizer"]


def main():
    tokens = {}
    for name in CLASSES:
        parameters = inspect.signature(getattr(transformers, name).__init__).parameters
        tokens[name] = {key: parameter.default for key, parameter in parameters.items() if key.endswith("_token") and isinstance(parameter.default, str)}
    json.dump(tokens, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
