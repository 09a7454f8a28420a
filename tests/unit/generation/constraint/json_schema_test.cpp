#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "constrained_texts.h"

namespace alate::generation {
namespace {

struct Case {
  const char* schema;
  std::vector<std::string> good, bad;
};

void check(const Case& one) {
  const auto grammar = compiled(Kind::json_schema, one.schema);
  for (const std::string& text : one.good) EXPECT_TRUE(fits(*grammar, text)) << one.schema << "\n" << text;
  for (const std::string& text : one.bad) EXPECT_FALSE(fits(*grammar, text)) << one.schema << "\n" << text;
}

TEST(JsonSchema, ObjectsHaveTheirPropertiesInOrder) {
  const char* schema = R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"},
                           "c": {"type": "boolean"}}, "required": ["b"]})";
  check({schema,
         {R"({"a":1,"b":"x","c":true})", R"({"b": "x"})", R"({"b":"x","c":false})", "{\n  \"a\": 1,\n  \"b\": \"\"\n}",
          "{\n\t\"b\": \"\"\n}", R"({ "a": 1, "b": "x" })"},
         {"{}", R"({"a":1})", R"({"b":"x","a":1})", R"({"b":1})", R"({"b":"x","d":1})", R"({"a":1,,"b":"x"})",
          R"({"b":"x",})", R"({,"b":"x"})", R"({"b"  : "x"})", R"({"b":"x"} )", "{\n\n\"b\": \"x\"}"}});
}

TEST(JsonSchema, WhiteSpaceEnds) {
  const auto grammar = compiled(Kind::json_schema, R"({"type": "object", "properties": {"a": {}}})");
  EXPECT_EQ(fit(*grammar, "{\n" + std::string(40, ' ')), Fit::begins);
  EXPECT_EQ(fit(*grammar, "{\n" + std::string(41, ' ')), Fit::no);
  EXPECT_EQ(fit(*grammar, "{  "), Fit::no);
}

TEST(JsonSchema, OptionalPropertiesMayAllBeLeftOut) {
  check({R"({"properties": {"a": {"const": 1}, "b": {"const": 2}}})",
         {"{}", R"({"a":1})", R"({"b":2})", R"({"a":1, "b":2})"},
         {R"({"b":2,"a":1})", R"({"a":1,})", "{ }"}});
}

TEST(JsonSchema, AdditionalPropertiesOnlyWhereTheyAreAllowed) {
  check({R"({"properties": {"ab": {"const": 1}}, "additionalProperties": {"type": "integer"}})",
         {R"({"ab":1,"x":2,"y":3})", R"({"a":2})", R"({"abc":2})", R"({"é":2})", "{}", R"({"":2})"},
         {R"({"ab":2})", R"({"x":2,"ab":1})", R"({"x":"2"})", R"({"\u0061b":2})"}});
  check({R"({"type": "object", "additionalProperties": {"type": "boolean"}})",
         {"{}", R"({"x":true})", R"({"\n":true, "y":false})"},
         {R"({"x":1})"}});
  check({R"({"type": "object", "additionalProperties": false})", {"{}"}, {R"({"x":1})"}});
  check({R"({"type": "object", "required": ["x"], "properties": {"a": {"const": 1}}, "additionalProperties": true})",
         {R"({"x":[1]})", R"({"a":1,"x":{}})"},
         {"{}", R"({"a":1})"}});
}

TEST(JsonSchema, ArraysAreCounted) {
  check({R"({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3})",
         {"[1,2]", "[1, 2, 3]", "[\n  1,\n  2\n]"},
         {"[]", "[1]", "[1,2,3,4]", "[1,2,]", "[1;2]", "[\"1\",2]"}});
  check({R"({"type": "array", "maxItems": 0})", {"[]"}, {"[1]"}});
  check({R"({"type": "array", "prefixItems": [{"const": "a"}, {"type": "integer"}]})",
         {"[]", R"(["a"])", R"(["a", 1])"},
         {R"(["b"])", R"(["a", 1, 2])"}});
  check(
      {R"({"type": "array", "prefixItems": [{"const": "a"}], "items": {"type": "null"}, "minItems": 2, "maxItems": 3})",
       {R"(["a",null])", R"(["a",null,null])"},
       {R"(["a"])", R"(["a",null,null,null])", "[null,null]"}});
  check({R"({"type": "array"})", {"[]", R"([1,"a",[{}]])"}, {"{}"}});
}

TEST(JsonSchema, StringsAreJson) {
  check({R"({"type": "string"})",
         {R"("")", R"("é😀")", R"("a\n\"\\\/\b\f\r\t")", R"("\u00e9\uD83D\ude00")"},
         {"\"\n\"", "\"a", R"("\x")", R"("\ud83d")", R"("\ude00\ud83d")", "\"\xC3\"", "'a'"}});
}

TEST(JsonSchema, LengthsCountCodePoints) {
  check({R"({"type": "string", "minLength": 2, "maxLength": 3})",
         {R"("ab")", R"("é😀x")", R"("\n\u00e9\uD83D\ude00")"},
         {R"("a")", R"("abcd")", R"("\uD83D\ude00")"}});
  const auto grammar = compiled(Kind::json_schema, R"({"type": "string", "maxLength": 100000})");
  EXPECT_TRUE(fits(*grammar, "\"" + std::string(100'000, 'x') + "\""));
  EXPECT_FALSE(fits(*grammar, "\"" + std::string(100'001, 'x') + "\""));
}

TEST(JsonSchema, PatternsAreSearchedFor) {
  check({R"({"type": "string", "pattern": "^[a-z]+$"})", {R"("abc")"}, {R"("")", R"("aB")", R"("a1")"}});
  check({R"({"type": "string", "pattern": "b[0-9]"})", {R"("b1")", R"("xxb1\n")", R"("b\"b2é")"}, {R"("b")", R"("")"}});
  check({R"({"type": "string", "pattern": "^a|b$"})", {R"("axx")", R"("xxb")"}, {R"("xa")", R"("bx")"}});
  check({R"({"type": "string", "pattern": "^\"\\\\\\n$"})", {R"("\"\\\n")"}, {"\"\"\\\n\""}});
  check({R"({"type": "string", "pattern": "^$"})", {R"("")"}, {R"("a")"}});
  check({R"({"type": "string", "pattern": "^[a-c]*$", "minLength": 2, "maxLength": 3})",
         {R"("ab")", R"("abc")"},
         {R"("a")", R"("abca")", R"("xy")"}});
}

TEST(JsonSchema, FormatsAreThoseThatThereAre) {
  check(
      {R"({"type": "string", "format": "date"})",
       {R"("2026-11-28")", R"("2024-02-29")", R"("2000-02-29")", R"("0001-01-31")"},
       {R"("2023-02-29")", R"("1900-02-29")", R"("2026-13-01")", R"("2026-04-31")", R"("0000-01-01")", R"("26-1-1")"}});
  check({R"({"type": "string", "format": "date-time"})",
         {R"("2026-11-28T10:00:00Z")", R"("2026-11-28T23:59:59.123+05:30")"},
         {R"("2026-11-28 10:00:00Z")", R"("2026-11-28T24:00:00Z")", R"("2026-11-28T10:00:00")"}});
  check({R"({"type": "string", "format": "time"})", {R"("10:00:00Z")"}, {R"("10:00")", R"("10:60:00Z")"}});
  check({R"({"type": "string", "format": "uuid"})",
         {R"("123e4567-e89b-12d3-a456-426614174000")"},
         {R"("123e4567e89b12d3a456426614174000")"}});
  check({R"({"type": "string", "format": "email"})",
         {R"("a.b+c@x-y.org")"},
         {R"("a@")", R"("@b.org")", R"("a b@c.org")"}});
  check({R"({"type": "string", "format": "ipv4"})",
         {R"("192.168.0.1")"},
         {R"("256.1.1.1")", R"("1.2.3")", R"("01.2.3.4")"}});
  check({R"({"type": "string", "format": "ipv6"})",
         {R"("::")", R"("::1")", R"("1:2:3:4:5:6:7:8")", R"("1::8")", R"("fe80::1:2")", R"("1:2:3:4:5:6::")",
          R"("1:2:3:4:5:6:7::")"},
         {R"("1:2:3")", R"("1::2::3")", R"("1:2:3:4:5:6:7:8:9")", R"("12345::")", R"(":1")"}});
  check({R"({"type": "string", "format": "hostname"})", {R"("a-b.example.org")"}, {R"("-a.org")", R"("a..b")"}});
  check({R"({"type": "string", "format": "uri"})",
         {R"("https://example.org/a%20b?x=1#y")"},
         {R"("example.org")", R"("https://a b")"}});
  check({R"({"type": "string", "format": "duration"})",
         {R"("P1Y2M3DT4H5M6S")", R"("PT5M")", R"("P2W")"},
         {R"("P")", R"("PT")", R"("1D")"}});
  check({R"({"type": "string", "format": "ipv4", "maxLength": 20})", {R"("192.168.0.1")"}, {}});
}

TEST(JsonSchema, NumbersEnd) {
  check({R"({"type": "integer"})",
         {"0", "-7", "123456789012345"},
         {"01", "1.0", "--1", "1234567890123456", "+1", "1e3"}});
  check({R"({"type": "number"})", {"0", "-0.5", "1e5", "1.25E-10"}, {".5", "1.", "1e", "1e999", "0x1", "NaN"}});
}

TEST(JsonSchema, ValuesAreListed) {
  check({R"({"enum": ["red", "green", 1, null, {"a": [1, "x"]}, true]})",
         {R"("red")", R"("green")", "1", "null", R"({"a":[1,"x"]})", R"({"a": [1, "x"]})", "true"},
         {R"("blue")", "2", R"({"a":[1]})", "false"}});
  check({R"({"const": "a\"\n"})", {R"("a\"\n")"}, {R"("a")"}});
  check({R"({"enum": [1, "1", null], "type": ["string", "null"]})", {R"("1")", "null"}, {"1"}});
}

TEST(JsonSchema, TypesMayBeSeveral) {
  check({R"({"type": ["integer", "null"], "minimum": 5})", {"5", "null"}, {"4", R"("a")"}});
  check({R"({"type": "string", "nullable": true})", {R"("a")", "null"}, {"1"}});
  check({R"({})", {"1", R"({"a":[]})", "null", "\"\""}, {"", "x"}});
  check({"true", {"1"}, {}});
  check({R"({"minimum": 3})", {"3"}, {"2", R"("a")"}});
}

TEST(JsonSchema, AlternativesShareWhatStandsBesideThem) {
  check({R"({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 2}]})",
         {"1", R"("ab")"},
         {R"("abc")", "null"}});
  check({R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
             "anyOf": [{"required": ["a"]}, {"required": ["b"]}]})",
         {R"({"a":1})", R"({"b":1})", R"({"a":1,"b":2})"},
         {"{}"}});
  check(
      {R"({"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
                       {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "string"}}, "required": ["kind", "y"]}]})",
       {R"({"kind":"a","x":1})", R"({"kind":"b","y":"z"})"},
       {R"({"kind":"a","y":"z"})", R"({"kind":"b","x":1})"}});
}

TEST(JsonSchema, AllOfIsMerged) {
  check({R"({"allOf": [{"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]},
                       {"properties": {"a": {"maximum": 3}, "b": {"type": "string"}}, "required": ["b"]}]})",
         {R"({"a":2,"b":"x"})"},
         {R"({"a":2})", R"({"a":4,"b":"x"})", R"({"a":0,"b":"x"})"}});
  check({R"({"allOf": [{"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}], "type": "integer"})", {"2", "3"}, {"1", "4"}});
  check({R"({"allOf": [{"type": "number"}, {"type": "integer"}]})", {"2"}, {"2.5"}});
}

TEST(JsonSchema, ReferencesMayLeadBack) {
  const char* schema = R"({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object",
    "properties": {"v": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
    "all": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["v", "next"]}}})";
  check({schema,
         {R"({"v":1,"next":null})", R"({"v":1,"next":{"v":2,"next":null,"all":[{"v":3,"next":null}]}})"},
         {R"({"v":1})", R"({"v":1,"next":{}})"}});
  check({R"({"$defs": {"a/b": {"const": 1}}, "$ref": "#/$defs/a~1b", "title": "x"})", {"1"}, {"2"}});
  check({R"({"$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n", "minimum": 7})", {"7"}, {"6"}});
  check({R"({"type": "array", "items": {"$ref": "#"}})", {"[]", "[[],[[]]]"}, {"[1]"}});
}

TEST(JsonSchema, BranchesThatNothingFitsAreLeftOut) {
  check({R"({"anyOf": [{"type": "integer"}, false, {"type": "string", "minLength": 3, "maxLength": 2}]})",
         {"1"},
         {"\"\""}});
  const auto grammar = compiled(
      Kind::json_schema,
      R"({"properties": {"a": {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/properties/a"}}}}})");
  EXPECT_TRUE(fits(*grammar, "{}"));
  EXPECT_EQ(fit(*grammar, "{\""), Fit::no) << "no way leads to an end";
}

TEST(JsonSchema, RefusesWhatItDoesNotHoldTo) {
  const auto refused = [](const char* schema, const std::string& message) {
    expect_refused([&] { compiled(Kind::json_schema, schema); }, message);
  };
  refused(R"({"properties": {"a": {"not": {"type": "string"}}}})", "#/properties/a has the keyword \"not\"");
  refused(R"({"type": "array", "items": {"type": "integer", "uniqueItems": true}})", "#/items .*uniqueItems");
  for (const char* key : {"patternProperties", "if", "dependentRequired", "contains", "multipleOf",
                          "unevaluatedProperties", "minProperties", "propertyNames"})
    refused((R"({"type": "object", ")" + std::string(key) + R"(": {}})").c_str(), key);
  refused(R"({"type": "string", "format": "color"})", "#/format is not supported: date, ");
  refused(R"({"type": "text"})", "#/type is no type");
  refused(R"({"$ref": "other.json"})", "another document");
  refused(R"({"$ref": "#/$defs/x"})", "lacks");
  refused(R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})", "#/oneOf .*anyOf");
  refused(R"({"type": "string", "pattern": "^(ab)+$", "maxLength": 5})", "#/pattern .*length");
  refused(R"({"type": "string", "pattern": "(?=a)b"})", "#/pattern .*look-around");
  refused(R"({"enum": [1], "minimum": 0})", "besides const or enum");
  refused(R"({"type": "object",)", "JSON schema");
  refused(R"([])", "no schema");
  refused(R"(false)", "no text");
  refused(R"({"$ref": "#"})", "itself|no text");
  refused(R"({"allOf": [{"$ref": "#"}, {"type": "object"}]})", "refers to itself");
  refused(R"({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})", "no text");
  refused(R"({"allOf": [{"pattern": "a"}, {"pattern": "b"}]})", "several different \"pattern\"");
}

TEST(JsonSchema, HugeOnesAreRefusedOrCompileSoon) {
  std::string names;
  for (int i = 0; i < 5000; ++i) names += (i > 0 ? ",\"" : "\"") + std::to_string(i * 7919) + "\"";
  const auto grammar = compiled(Kind::json_schema, "{\"enum\": [" + names + "]}");
  EXPECT_TRUE(fits(*grammar, "\"7919\""));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += R"({"type": "array", "items": )";
  expect_refused([&] { compiled(Kind::json_schema, deep + "{}" + std::string(200, '}')); }, "JSON schema");
  // Each definition doubles the one before.
  std::string doubled = R"({"$defs": {"d0": {"type": "integer"})";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "{\"$ref\": \"#/$defs/d" + std::to_string(i - 1) + "\"}";
    doubled += ", \"d" + std::to_string(i) + R"(": {"type": "object", "required": ["a", "b"], "properties": {"a": )" +
               before + ", \"b\": " + before + "}}";
  }
  EXPECT_EQ(fit(*compiled(Kind::json_schema, doubled + R"(}, "$ref": "#/$defs/d39"})"), R"({"a":{"a")"), Fit::begins);
  std::string merged = R"({"$defs": {"d0": {"type": "object", "properties": {"a": {"type": "integer"}}})";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "{\"$ref\": \"#/$defs/d" + std::to_string(i - 1) + "\"}";
    merged += ", \"d" + std::to_string(i) + "\": {\"allOf\": [" + before + ", " + before + "]}";
  }
  expect_refused([&] { compiled(Kind::json_schema, merged + R"(}, "$ref": "#/$defs/d39"})"); }, "too long|too deeply");
}

}  // namespace
}  // namespace alate::generation
