#!/usr/bin/env python3
"""Checks texts that were written under JSON schemas, with the package jsonschema.

    ALATE_TEST_SCHEMA_PAIRS=10000 ALATE_TEST_SCHEMA_FILE=pairs.jsonl unit_generation --gtest_filter=RandomSchemas.*
    pip install 'jsonschema[format-nongpl]'
    python check_constrained.py pairs.jsonl

Each line has a schema and a text; the text must parse and validate, formats included.
"""
import json
import sys

import jsonschema


def main():
    count = failed = 0
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            checker = jsonschema.Draft202012Validator(
                pair["schema"], format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
            count += 1
            try:
                checker.validate(json.loads(pair["text"]))
            except (ValueError, jsonschema.ValidationError) as error:
                failed += 1
                print(f"{pair}\n  {str(error).splitlines()[0]}")
    print(f"{count} pairs, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
