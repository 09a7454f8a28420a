#include "server/schema/schema.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/base/expect_error.h"

namespace alate::server {
namespace {

using formats::Json;

// The message about `value`; empty when it fits.
std::string message(std::string_view schema, std::string_view value) {
  const auto violation = Schema::parse(schema).check(formats::parse_json(value, "value"));
  return violation ? violation->message : "";
}

std::string place(std::string_view schema, std::string_view value) {
  const auto violation = Schema::parse(schema).check(formats::parse_json(value, "value"));
  return violation ? violation->place : "fits";
}

TEST(Schema, AnEmptySchemaTakesAll) {
  for (const char* value : {"null", "1", "\"a\"", "[1, {}]", "{\"a\": 1}"}) EXPECT_EQ(message("{}", value), "");
}

TEST(Schema, ChecksEachType) {
  const std::pair<const char*, const char*> kinds[] = {{"null", "null"},  {"boolean", "true"}, {"integer", "3"},
                                                       {"number", "1.5"}, {"string", "\"a\""}, {"array", "[]"},
                                                       {"object", "{}"}};
  for (const auto& [type, own] : kinds) {
    for (const auto& [other, value] : kinds) {
      const std::string schema = "{\"type\": \"" + std::string(type) + "\"}";
      const bool fits =
          std::string_view(own) == value || (std::string_view(type) == "number" && std::string_view(value) == "3");
      EXPECT_EQ(message(schema, value).empty(), fits) << type << " " << value;
    }
  }
}

TEST(Schema, NamesTheTypeThatIsAndThatMustBe) {
  EXPECT_EQ(message(R"({"type": "object"})", "[]"), "the body is an array; it must be an object");
  EXPECT_EQ(message(R"({"type": ["string", "null"]})", "3"), "the body is a number; it must be a string or null");
  EXPECT_EQ(message(R"({"type": ["integer", "boolean", "array"]})", "\"\""),
            "the body is a string; it must be an integer, a boolean or an array");
}

TEST(Schema, AnIntegralDoubleIsAnInteger) {
  EXPECT_EQ(message(R"({"type": "integer"})", "3.0"), "");
  EXPECT_EQ(message(R"({"type": "integer"})", "1e3"), "");
  EXPECT_EQ(message(R"({"type": "integer"})", "3.5"), "the body is a number with a fraction; it must be an integer");
}

constexpr std::string_view kBody = R"({
  "type": "object",
  "required": ["model"],
  "properties": {
    "model": {"type": "string"},
    "count": {"type": "integer", "minimum": 1},
    "config": {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}
  }
})";

TEST(Schema, NamesTheMemberThatIsWrong) {
  EXPECT_EQ(message(kBody, R"({"model": 3})"), "model is a number; it must be a string");
  EXPECT_EQ(place(kBody, R"({"model": 3})"), "model");
  EXPECT_EQ(message(kBody, R"({"model": "m", "config": {"size": "a"}})"),
            "config.size is a string; it must be an integer");
}

TEST(Schema, NamesTheMemberThatIsMissing) {
  EXPECT_EQ(message(kBody, "{}"), "model is missing");
  EXPECT_EQ(place(kBody, "{}"), "model");
  EXPECT_EQ(message(kBody, R"({"model": "m", "config": {}})"), "config.size is missing");
  // Also one that `properties` does not describe.
  EXPECT_EQ(message(R"({"required": ["a"]})", "{}"), "a is missing");
  EXPECT_EQ(message(R"({"required": ["a"]})", R"({"a": null})"), "");
}

TEST(Schema, TellsTheFirstViolationInTheOrderOfTheValue) {
  EXPECT_EQ(place(kBody, R"({"count": "x", "model": 3})"), "count");
  EXPECT_EQ(place(kBody, R"({"model": 3, "count": "x"})"), "model");
}

TEST(Schema, NullCountsAsAbsentWhereAMemberMayBe) {
  EXPECT_EQ(message(kBody, R"({"model": "m", "count": null})"), "");
  EXPECT_EQ(message(R"({"properties": {"a": {"type": "string", "nullable": false}}})", R"({"a": null})"),
            "a is null; it must be a string");
  EXPECT_EQ(message(kBody, R"({"model": null})"), "model is null; it must be a string");
}

TEST(Schema, MembersWithoutADescriptionAreAllowed) { EXPECT_EQ(message(kBody, R"({"model": "m", "other": [1]})"), ""); }

TEST(Schema, AdditionalPropertiesMayBeRefused) {
  constexpr std::string_view kClosed = R"({"additionalProperties": false, "properties": {"a": {}, "b": {}}})";
  EXPECT_EQ(message(kClosed, R"({"a": 1})"), "");
  EXPECT_EQ(message(kClosed, R"({"a": 1, "c": 2})"), "c is not known here; there is a or b");
  EXPECT_EQ(place(kClosed, R"({"c": null})"), "c");
}

TEST(Schema, AdditionalPropertiesMayHaveASchema) {
  constexpr std::string_view kNumbers =
      R"({"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}})";
  EXPECT_EQ(message(kNumbers, R"({"a": "x", "b": 1, "c": 2.5})"), "");
  EXPECT_EQ(message(kNumbers, R"({"b": "x"})"), "b is a string; it must be a number");
}

TEST(Schema, QuotesNamesThatAreNotPlain) {
  EXPECT_EQ(place(R"({"additionalProperties": {"type": "number"}})", R"({"a b": "x"})"), R"(["a b"])");
  EXPECT_EQ(place(R"({"properties": {"o": {"additionalProperties": false}}})", R"({"o": {"a.b": 1}})"), R"(o["a.b"])");
}

TEST(Schema, ChecksEachEntryOfAnArray) {
  constexpr std::string_view kTexts = R"({"properties": {"input": {"type": "array", "items": {"type": "string"}}}})";
  EXPECT_EQ(message(kTexts, R"({"input": ["a", "b"]})"), "");
  EXPECT_EQ(message(kTexts, R"({"input": ["a", "b", "c", 4]})"), "input[3] is a number; it must be a string");
  EXPECT_EQ(place(R"({"items": {"items": {"type": "integer"}}})", "[[1], [2, true]]"), "[1][1]");
}

TEST(Schema, CountsEntries) {
  constexpr std::string_view kSome = R"({"minItems": 2, "maxItems": 3})";
  EXPECT_EQ(message(kSome, "[1, 2]"), "");
  EXPECT_EQ(message(kSome, "[1, 2, 3]"), "");
  EXPECT_EQ(message(kSome, "[]"), "the body is empty; it must have at least 2 entries");
  EXPECT_EQ(message(kSome, "[1]"), "the body has 1 entry; it must have at least 2 entries");
  EXPECT_EQ(message(kSome, "[1, 2, 3, 4]"), "the body has 4 entries; it may have at most 3");
}

TEST(Schema, CountsCharactersNotBytes) {
  constexpr std::string_view kShort = R"({"minLength": 1, "maxLength": 2})";
  EXPECT_EQ(message(kShort, "\"äö\""), "");
  EXPECT_EQ(message(kShort, "\"\""), "the body is empty; it must have at least 1 character");
  EXPECT_EQ(message(kShort, "\"äöü\""), "the body has 3 characters; it may have at most 2");
}

TEST(Schema, ChecksBounds) {
  constexpr std::string_view kBounds = R"({"type": "number", "minimum": 0, "maximum": 1.5})";
  EXPECT_EQ(message(kBounds, "0"), "");
  EXPECT_EQ(message(kBounds, "1.5"), "");
  EXPECT_EQ(message(kBounds, "-0.5"), "the body is -0.5; it must be at least 0");
  EXPECT_EQ(message(kBounds, "2"), "the body is 2; it may be at most 1.5");
}

TEST(Schema, ChecksEnumerations) {
  constexpr std::string_view kFormat = R"({"properties": {"format": {"enum": ["float", "base64", 3]}}})";
  EXPECT_EQ(message(kFormat, R"({"format": "base64"})"), "");
  EXPECT_EQ(message(kFormat, R"({"format": 3})"), "");
  // What the client sent is not repeated.
  EXPECT_EQ(message(kFormat, R"({"format": "secret"})"), R"(format must be "float", "base64" or 3)");
}

constexpr std::string_view kInput = R"({"properties": {"input": {"anyOf": [
  {"type": "string"},
  {"type": "array", "minItems": 1, "items": {"type": "string"}},
  {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}},
  {"type": "array", "minItems": 1, "items": {"type": "array", "items": {"type": "integer", "minimum": 0}}}
]}}})";

TEST(Schema, AnyOfTakesEachAlternative) {
  for (const char* input : {"\"a\"", "[\"a\", \"b\"]", "[1, 2]", "[[1], [2, 3]]"})
    EXPECT_EQ(message(kInput, std::string("{\"input\": ") + input + "}"), "") << input;
}

TEST(Schema, AnyOfTellsOfTheAlternativeThatWentFurthest) {
  EXPECT_EQ(message(kInput, R"({"input": ["a", "b", 3]})"), "input[2] is a number; it must be a string");
  EXPECT_EQ(message(kInput, R"({"input": [1, 2, "c"]})"), "input[2] is a string; it must be an integer");
  EXPECT_EQ(message(kInput, R"({"input": [[1, 2], [3, "c"]]})"), "input[1][1] is a string; it must be an integer");
  EXPECT_EQ(message(kInput, R"({"input": [5, -3]})"), "input[1] is -3; it must be at least 0");
}

TEST(Schema, AnyOfTellsTheTypesOfAllAlternativesThatEndAtTheSameValue) {
  EXPECT_EQ(message(kInput, R"({"input": 3})"), "input is a number; it must be a string or an array");
  EXPECT_EQ(message(kInput, R"({"input": [{}]})"),
            "input[0] is an object; it must be a string, an integer or an array");
  EXPECT_EQ(message(kInput, R"({"input": []})"), "input is empty; it must have at least 1 entry");
}

TEST(Schema, AnyOfStandsBesideOtherKeywords) {
  constexpr std::string_view kEither =
      R"({"type": "object", "anyOf": [{"required": ["name"]}, {"required": ["model"]}]})";
  EXPECT_EQ(message(kEither, R"({"name": "a"})"), "");
  EXPECT_EQ(message(kEither, R"({"model": "a"})"), "");
  EXPECT_EQ(message(kEither, "{}"), "model is missing");
  EXPECT_EQ(message(kEither, "3"), "the body is a number; it must be an object");
}

TEST(Schema, NotesAreKeptAndNotChecked) {
  constexpr std::string_view kNotes =
      R"({"description": "d", "title": "t", "default": 1, "example": 2, "examples": [3], "format": "f", "pattern": "p"})";
  EXPECT_EQ(message(kNotes, "\"x\""), "");
  EXPECT_EQ(formats::to_json_text(Schema::parse(kNotes).json()),
            R"({"description":"d","title":"t","default":1,"example":2,"examples":[3],"format":"f","pattern":"p"})");
}

TEST(Schema, RefusesTablesItDoesNotUnderstand) {
  for (const char* text :
       {R"({"oneOf": []})", R"({"type": "text"})", R"({"type": 3})", R"({"items": {"multipleOf": 2}})",
        R"({"minItems": -1})", R"({"properties": 3})", "[]", "{", R"({"$ref": "#/a"})"}) {
    EXPECT_EQ(base::error_of([&] { Schema::parse(text); }).code(), ErrorCode::internal) << text;
  }
}

TEST(Schema, ALargeArrayIsCheckedEntryByEntry) {
  Json::Array ids(65536, Json(7));
  const Schema schema = Schema::parse(kInput);
  EXPECT_FALSE(schema.check(Json(Json::Object{{"input", ids}})));
  ids.back() = Json("x");
  EXPECT_EQ(schema.check(Json(Json::Object{{"input", ids}}))->place, "input[65535]");
}

}  // namespace
}  // namespace alate::server
