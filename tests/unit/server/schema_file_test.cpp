#include "server/schema/schema_file.h"

#include <gtest/gtest.h>

#include <string>

#include "alate/error.h"
#include "tests/unit/base/expect_error.h"

namespace alate::server {
namespace {

std::string refusal(std::string_view text) {
  const Error error = base::error_of([&] { (void)SchemaFile(text); });
  EXPECT_EQ(error.code(), ErrorCode::internal);
  return std::string(error.message());
}

TEST(SchemaFile, ReferencesAreReplacedInPlace) {
  const SchemaFile file(R"({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {
    "body": {"type": "object", "required": ["b"], "properties": {"b": {"$ref": "#/$defs/rows"}, "a": {"type": "null"}}},
    "rows": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/row"}, {"type": "string"}]}},
    "row": {"type": "array", "minItems": 1}}})");
  EXPECT_EQ(file.schema("row"), R"({"type":"array","minItems":1})");
  EXPECT_EQ(file.schema("body"),
            R"({"type":"object","required":["b"],"properties":{"b":{"type":"array","items":{"anyOf":[)"
            R"({"type":"array","minItems":1},{"type":"string"}]}},"a":{"type":"null"}}})");
}

TEST(SchemaFile, WrongReferencesAreRefused) {
  EXPECT_EQ(refusal(R"({"$defs": {"a": {"$ref": "#/$defs/b"}}})"),
            "a schema refers to '#/$defs/b', which is not in its file");
  EXPECT_EQ(refusal(R"({"$defs": {"a": {"$ref": "other.json#/$defs/a"}}})"),
            "a schema refers to 'other.json#/$defs/a', which is not in its file");
  EXPECT_EQ(refusal(R"({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}})"),
            "a schema refers to '#/$defs/a', which leads to itself");
  EXPECT_EQ(refusal(R"({"$defs": {"a": {"type": "null"}, "b": {"$ref": "#/$defs/a", "minimum": 1}}})"),
            "a schema refers to '#/$defs/a', and has other members beside the reference");
}

TEST(SchemaFile, OtherTextsAreRefused) {
  EXPECT_EQ(refusal(R"({"type": "object"})"), "a file of schemas has no $defs");
  EXPECT_FALSE(refusal("{").empty());
  EXPECT_FALSE(refusal(R"({"$defs": []})").empty());
}

TEST(SchemaFile, ASchemaThatIsNotThereIsNamed) {
  const SchemaFile file(R"({"$defs": {"a": {}}})");
  EXPECT_EQ(file.schema("a"), "{}");
  const Error error = base::error_of([&] { (void)file.schema("b"); });
  EXPECT_EQ(error.code(), ErrorCode::internal);
  EXPECT_EQ(error.message(), "a file of schemas has no 'b'");
}

}  // namespace
}  // namespace alate::server
