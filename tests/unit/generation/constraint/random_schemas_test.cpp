// Random schemas, random texts that are held to them: each must be JSON, and be what the schema describes.
// ALATE_TEST_SCHEMA_PAIRS is how many, if not a few hundred; ALATE_TEST_SCHEMA_FILE gets them as JSON lines, for
// another validator (tests/golden/check_constrained.py).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "constrained_texts.h"
#include "formats/json.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::generation {
namespace {

using formats::Json;

class RandomSchemas {
 public:
  explicit RandomSchemas(std::uint64_t seed) : random_(seed) {}

  Json schema(int depth = 0) {
    switch (below(depth > 3 ? 6 : 11)) {
      case 0: return string();
      case 1: return integer();
      case 2: return number();
      case 3: return listed();
      case 4: return Json::Object{{"type", pick({"boolean", "null", "string", "integer"})}};
      case 5: return Json::Object{{"type", Json::Array{"string", "null"}}};
      case 6: return array(depth);
      case 7: return Json::Object{{"anyOf", Json::Array{schema(depth + 1), schema(depth + 1)}}};
      case 8: return Json::Object{{"allOf", Json::Array{object(depth), Json::Object{{"type", "object"}}}}};
      case 9: return Json::Object{{"$ref", "#/$defs/node"}};
      default: return object(depth);
    }
  }
  Json whole() {
    Json root = object(0);
    Json::Object members = root.as_object("schema");
    members.emplace_back("$defs", Json::Object{{"node", node()}});
    return members;
  }
  std::size_t below(std::size_t count) { return random_() % count; }

 private:
  const char* pick(std::vector<const char*> from) { return from[below(from.size())]; }

  Json node() {
    return Json::Object{
        {"type", "object"},
        {"properties", Json::Object{{"value", schema(4)}, {"next", Json::Object{{"$ref", "#/$defs/node"}}}}},
        {"required", Json::Array{"value"}}};
  }
  Json string() {
    Json::Object made = {{"type", "string"}};
    switch (below(4)) {
      case 0: made.emplace_back("pattern", pick({"^[a-z]{1,5}$", "x", "^(\\d+|é)$", "\"$", "^a.b", "\\\\"})); break;
      case 1:
        made.emplace_back("format", pick({"date", "date-time", "time", "uuid", "email", "ipv4", "ipv6", "hostname"}));
        break;
      case 2:
        made.emplace_back("minLength", static_cast<int>(below(4)));
        made.emplace_back("maxLength", static_cast<int>(3 + below(20)));
        break;
      default: break;
    }
    return made;
  }
  Json integer() {
    const int least = static_cast<int>(below(2000)) - 1000;
    Json::Object made = {{"type", "integer"}};
    if (below(2) == 0) made.emplace_back(below(2) == 0 ? "minimum" : "exclusiveMinimum", least);
    if (below(2) == 0) made.emplace_back("maximum", least + 2 + static_cast<int>(below(500)));
    return made;
  }
  Json number() {
    const double least = (static_cast<double>(below(2000)) - 1000) / 8;
    Json::Object made = {{"type", "number"}};
    if (below(2) == 0) made.emplace_back(below(2) == 0 ? "minimum" : "exclusiveMinimum", least);
    if (below(2) == 0)
      made.emplace_back(below(2) == 0 ? "maximum" : "exclusiveMaximum",
                        least + 0.125 + static_cast<double>(below(500)) / 16);
    return made;
  }
  Json listed() {
    Json::Array values = {pick({"a", "b\n\"", "é"}), static_cast<int>(below(5)), Json(), true,
                          Json::Array{1, "x"},       Json::Object{{"k", 1}}};
    values.resize(1 + below(values.size()));
    if (below(3) == 0) return Json::Object{{"const", values.front()}};
    return Json::Object{{"enum", std::move(values)}};
  }
  Json array(int depth) {
    Json::Object made = {{"type", "array"}};
    if (below(4) == 0) {
      made.emplace_back("prefixItems", Json::Array{schema(depth + 1), schema(depth + 1)});
      if (below(2) == 0) made.emplace_back("items", schema(depth + 1));
    } else {
      made.emplace_back("items", schema(depth + 1));
    }
    if (below(2) == 0) made.emplace_back("minItems", static_cast<int>(below(3)));
    if (below(2) == 0) made.emplace_back("maxItems", static_cast<int>(2 + below(4)));
    return made;
  }
  Json object(int depth) {
    Json::Object properties;
    Json::Array required;
    const std::size_t count = below(5);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = std::string(pick({"a", "name", "x y", "é", "q\"", "z/z~"})) + std::to_string(i);
      properties.emplace_back(name, schema(depth + 1));
      if (below(2) == 0) required.emplace_back(name);
    }
    Json::Object made = {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
    if (below(3) == 0) made.emplace_back("additionalProperties", below(2) == 0 ? Json(false) : schema(depth + 1));
    return made;
  }

  std::mt19937_64 random_;
};

// Whether a value is what a schema of the ones above describes, written without a look at the engine.
class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  bool is_valid(const Json& value, const Json& schema) const {
    if (schema.is_bool()) return schema.as_bool("schema");
    for (const auto& [key, of] : schema.as_object("schema")) {
      if (!holds(value, schema, key, of)) return false;
    }
    return true;
  }

 private:
  static bool is_type(const Json& value, const std::string& type) {
    if (type == "integer")
      return value.is_integer() || (value.is_number() && std::trunc(value.as_double("v")) == value.as_double("v"));
    if (type == "number") return value.is_number();
    return value.kind() == type;
  }
  bool holds(const Json& value, const Json& schema, const std::string& key, const Json& of) const {
    if (key == "type") {
      if (of.is_string()) return is_type(value, of.as_string("type"));
      for (const Json& type : of.as_array("type")) {
        if (is_type(value, type.as_string("type"))) return true;
      }
      return false;
    }
    if (key == "$ref") return is_valid(value, *root_.find("$defs")->find("node"));
    if (key == "anyOf") return is_valid(value, of.as_array(key)[0]) || is_valid(value, of.as_array(key)[1]);
    if (key == "allOf") return is_valid(value, of.as_array(key)[0]) && is_valid(value, of.as_array(key)[1]);
    if (key == "const") return formats::to_json_text(value) == formats::to_json_text(of);
    if (key == "enum") {
      for (const Json& one : of.as_array(key)) {
        if (formats::to_json_text(value) == formats::to_json_text(one)) return true;
      }
      return false;
    }
    if (value.is_string()) return holds_for_string(value.as_string("value"), key, of);
    if (value.is_number() && of.is_number()) {
      const double number = value.as_double("value"), bound = of.as_double("bound");
      return (key != "minimum" || number >= bound) && (key != "exclusiveMinimum" || number > bound) &&
             (key != "maximum" || number <= bound) && (key != "exclusiveMaximum" || number < bound);
    }
    if (value.is_array()) return holds_for_array(value.as_array("value"), schema, key, of);
    if (value.is_object()) return holds_for_object(value, schema, key, of);
    return true;
  }
  static bool holds_for_string(const std::string& text, const std::string& key, const Json& of) {
    const auto length = static_cast<double>(tokenizers::count_code_points(text));
    if (key == "minLength") return length >= of.as_double(key);
    if (key == "maxLength") return length <= of.as_double(key);
    // The dot of std::regex is a byte, and excludes the same ends of lines.
    if (key == "pattern")
      return std::regex_search(
          text, std::regex(of.as_string(key) == "^a.b" ? "^a([^\n\r\x80-\xFF]|[\x80-\xFF]{2,4})b" : of.as_string(key)));
    return true;
  }
  bool holds_for_array(const Json::Array& elements, const Json& schema, const std::string& key, const Json& of) const {
    if (key == "minItems") return static_cast<double>(elements.size()) >= of.as_double(key);
    if (key == "maxItems") return static_cast<double>(elements.size()) <= of.as_double(key);
    const Json* prefix = schema.find("prefixItems");
    const std::size_t first = prefix == nullptr ? 0 : prefix->as_array("prefix").size();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (key == "prefixItems" && i < first && !is_valid(elements[i], of.as_array(key)[i])) return false;
      if (key == "items" && i >= first && !is_valid(elements[i], of)) return false;
    }
    return true;
  }
  bool holds_for_object(const Json& value, const Json& schema, const std::string& key, const Json& of) const {
    if (key == "required") {
      for (const Json& name : of.as_array(key)) {
        if (value.find(name.as_string(key)) == nullptr) return false;
      }
    }
    const Json* properties = schema.find("properties");
    for (const auto& [name, member] : value.as_object("value")) {
      const Json* own = properties == nullptr ? nullptr : properties->find(name);
      if (key == "properties" && own != nullptr && !is_valid(member, *own)) return false;
      if (key == "additionalProperties" && own == nullptr && !is_valid(member, of)) return false;
    }
    return true;
  }

  const Json& root_;
};

// A text by random choices; after a while those that come to an end are preferred. Empty if it does not end.
std::string random_text(const std::shared_ptr<Constraint>& constraint, RandomSchemas& random) {
  ConstrainedText text(constraint);
  std::string made;
  for (int tokens = 0; tokens < 3000; ++tokens) {
    if (text.is_over() || (text.is_complete() && random.below(2) == 0)) return made;
    const std::shared_ptr<const TokenMask> mask = text.allowed();
    std::vector<std::int32_t> allowed;
    for (std::size_t token = 0; token < constraint->vocabulary().size(); ++token) {
      if (has_token(*mask, token)) allowed.push_back(static_cast<std::int32_t>(token));
    }
    if (allowed.empty()) return ADD_FAILURE() << "no token may follow " << made, "";
    std::int32_t chosen = allowed[random.below(allowed.size())];
    if (tokens > 60 || random.below(3) == 0) {
      for (const char closing : {'"', ']', '}', '0', 'a'}) {
        if (has_token(*mask, static_cast<std::uint8_t>(closing))) {
          chosen = static_cast<std::uint8_t>(closing);
          break;
        }
      }
    }
    text.accept(chosen);
    made += constraint->vocabulary().text(chosen);
  }
  return "";
}

std::size_t pairs() {
  const char* wanted = std::getenv("ALATE_TEST_SCHEMA_PAIRS");
  return wanted == nullptr ? 300 : static_cast<std::size_t>(std::atol(wanted));
}

TEST(RandomSchemas, EachTextIsJsonThatItsSchemaDescribes) {
  const auto vocabulary =
      vocabulary_with({"\": ",    "\", \"", "\":", "{\"",  "\"}", "abc", "é",  " \xF0\x9F", "\x98\x80", "\\n",
                       "\\u00e9", "\n  ",   "12",  "true", "1.5", "e1",  "],", "\"]}",      "a0\"",     "name"});
  const char* file = std::getenv("ALATE_TEST_SCHEMA_FILE");
  std::ofstream out;
  if (file != nullptr) out.open(file);
  std::size_t unfinished = 0, impossible = 0, refused = 0;
  for (std::size_t i = 0; i < pairs(); ++i) {
    RandomSchemas random(i);
    const Json schema = random.whole();
    const std::string definition = formats::to_json_text(schema);
    std::shared_ptr<Constraint> constraint;
    try {
      constraint = std::make_shared<Constraint>(compiled(Kind::json_schema, definition), vocabulary);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::invalid_argument) << definition;
      ++(error.message().find("no text") != std::string::npos ? impossible : refused);
      if (error.message().find("no text") == std::string::npos) ADD_FAILURE() << error.message() << "\n" << definition;
      continue;
    }
    const std::string text = random_text(constraint, random);
    if (text.empty()) {
      ++unfinished;
      continue;
    }
    Json value;
    try {
      value = formats::parse_json(text, "the text", {.max_depth = 1000});
    } catch (const Error& error) {
      // Names of additional properties are free, and may be equal.
      const bool is_twice = error.message().find("occurs twice") != std::string::npos;
      EXPECT_TRUE(is_twice && definition.find("additionalProperties\":{") != std::string::npos)
          << error.message() << "\n"
          << definition << "\n"
          << text;
      continue;
    }
    EXPECT_TRUE(Validator(schema).is_valid(value, schema)) << "pair " << i << "\n" << definition << "\n" << text;
    if (file != nullptr) out << formats::to_json_text(Json::Object{{"schema", schema}, {"text", text}}) << "\n";
  }
  RecordProperty("unfinished", static_cast<int>(unfinished));
  EXPECT_EQ(refused, 0U);
  EXPECT_LT(unfinished + impossible, pairs() / 5 + 1)
      << unfinished << " without an end, " << impossible << " impossible";
}

}  // namespace
}  // namespace alate::generation
