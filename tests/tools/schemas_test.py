"""The schemas of the server's routes (src/server/api/schemas) as JSON Schema, with Python's standard library only.

    python3 tests/tools/schemas_test.py
"""
import json
import pathlib
import re
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "src" / "server" / "api" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
REFERENCE = "#/$defs/"
TYPES = {"null": type(None), "boolean": bool, "integer": int, "number": (int, float), "string": str, "array": list, "object": dict}


def is_count(value):
    return type(value) is int and value >= 0


def is_number(value):
    return type(value) in (int, float)


def is_list_of_texts(value):
    return isinstance(value, list) and all(isinstance(text, str) for text in value) and len(set(value)) == len(value)


def is_pattern(value):
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except re.error:
        return False


# What JSON Schema allows as the value of each keyword that holds no schemas; nullable and example are of OpenAPI.
KEYWORDS = {
    "type": lambda value: value in TYPES if isinstance(value, str) else is_list_of_texts(value) and value and set(value) <= set(TYPES),
    "required": is_list_of_texts, "enum": lambda value: isinstance(value, list) and bool(value), "pattern": is_pattern,
    "minimum": is_number, "maximum": is_number, "minItems": is_count, "maxItems": is_count, "minLength": is_count, "maxLength": is_count,
    "title": lambda value: isinstance(value, str), "description": lambda value: isinstance(value, str),
    "format": lambda value: isinstance(value, str), "nullable": lambda value: value is False,
    "default": lambda value: True, "example": lambda value: True, "examples": lambda value: isinstance(value, list),
}


def without_duplicates(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"an object names a member twice: {[name for name, _ in pairs]}")
    return members


def read(path):
    return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=without_duplicates)


def parts_of(schema):
    """The schemas directly in one."""
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", [])
    yield from (schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict))


class Schemas:
    def __init__(self, path):
        self.file = read(path)
        self.definitions = self.file["$defs"]

    def wrong(self, schema, place):
        """What is no JSON Schema in it, or refers to nothing."""
        if not isinstance(schema, dict):
            return [f"{place} is no object"]
        if "$ref" in schema:
            known = isinstance(schema["$ref"], str) and schema["$ref"].removeprefix(REFERENCE) in self.definitions
            return [] if known and list(schema) == ["$ref"] else [f"{place}: {schema}"]
        found = [f"{place}: {name} is {value!r}" for name, value in schema.items()
                 if name not in ("properties", "anyOf", "items", "additionalProperties") and not KEYWORDS.get(name, lambda _: False)(value)]
        found += [f"{place}: {name}" for name, kind in (("properties", dict), ("anyOf", list)) if not isinstance(schema.get(name, kind()), kind)]
        if found:
            return found
        return [what for number, part in enumerate(parts_of(schema)) for what in self.wrong(part, f"{place}/{number}")]

    def referred(self, schema):
        if "$ref" in schema:
            return {schema["$ref"].removeprefix(REFERENCE)}
        return set().union(*(self.referred(part) for part in parts_of(schema)))

    def fits(self, value, schema):
        if "$ref" in schema:
            return self.fits(value, self.definitions[schema["$ref"].removeprefix(REFERENCE)])
        types = schema.get("type", list(TYPES))
        kinds = [TYPES[name] for name in ([types] if isinstance(types, str) else types)]
        if isinstance(value, bool) and not any(kind is bool for kind in kinds) or not any(isinstance(value, kind) for kind in kinds):
            return False
        if "enum" in schema and value not in schema["enum"] or "anyOf" in schema and not any(self.fits(value, each) for each in schema["anyOf"]):
            return False
        if is_number(value) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            return False
        if isinstance(value, (str, list)):
            least, most = ("minLength", "maxLength") if isinstance(value, str) else ("minItems", "maxItems")
            if not schema.get(least, 0) <= len(value) <= schema.get(most, len(value)):
                return False
        if isinstance(value, list):
            return all(self.fits(item, schema.get("items", {})) for item in value)
        if isinstance(value, dict):
            properties = schema.get("properties", {})
            return set(schema.get("required", [])) <= set(value) and all(self.fits(value[name], properties.get(name, {})) for name in value)
        return True


class RouteSchemas(unittest.TestCase):
    def setUp(self):
        self.files = {path.name: Schemas(path) for path in sorted(FOLDER.glob("*.json"))}

    def test_each_file_is_a_json_schema(self):
        self.assertGreaterEqual(len(self.files), 7)
        for name, file in self.files.items():
            self.assertEqual(list(file.file), ["$schema", "title", "$defs"], name)
            self.assertEqual(file.file["$schema"], DIALECT, name)
            for place, schema in file.definitions.items():
                self.assertEqual(file.wrong(schema, f"{name}#/$defs/{place}"), [])

    def test_examples_fit_their_schemas(self):
        count = 0
        for name, file in self.files.items():
            for place, schema in file.definitions.items():
                for example in [*schema.get("examples", []), *([schema["example"]] if "example" in schema else [])]:
                    count += 1
                    self.assertTrue(file.fits(example, schema), f"{name}#/$defs/{place}: {example}")
        self.assertGreater(count, 15)

    def test_each_schema_is_of_a_route_or_of_another_schema(self):
        sources = "".join(path.read_text(encoding="utf-8") for path in FOLDER.parent.rglob("*.cpp"))
        for name, file in self.files.items():
            referred = set().union(*(file.referred(schema) for schema in file.definitions.values()))
            of_routes = set(re.findall(rf'route_schema\(Family::{name.removesuffix(".json")},\s*"(\w+)"\)', sources))
            self.assertEqual(set(file.definitions) - referred - of_routes, set(), name)
            self.assertLessEqual(of_routes, set(file.definitions), name)


class Checks(unittest.TestCase):
    """The checks above see what is wrong."""

    def setUp(self):
        self.file = Schemas(FOLDER / "native.json")

    def test_wrong_schemas_are_seen(self):
        for wrong in ({"type": "text"}, {"type": []}, {"minimum": "1"}, {"minItems": -1}, {"required": "a"}, {"enum": []}, {"typ": "string"},
                      {"pattern": "("}, {"properties": {"a": {"type": "text"}}}, {"anyOf": {}}, {"items": {"$ref": "#/$defs/none"}},
                      {"$ref": "#/$defs/model", "type": "string"}, {"nullable": True}, []):
            self.assertNotEqual(self.file.wrong(wrong, "it"), [], wrong)

    def test_values_that_do_not_fit_are_seen(self):
        body = self.file.definitions["rerank_body"]
        self.assertTrue(self.file.fits({"query": "a", "prompts": ["b"], "keep_alive": "5m", "top_n": 1}, body))
        for wrong in ({}, {"query": 1}, {"query": "a", "prompts": "b"}, {"query": "a", "top_n": 0}, {"query": "a", "top_n": True},
                      {"query": "a", "model": ""}, {"query": "a", "long": "short"}, {"query": "a", "documents": [{"title": "b"}]}, []):
            self.assertFalse(self.file.fits(wrong, body), wrong)


if __name__ == "__main__":
    unittest.main()
