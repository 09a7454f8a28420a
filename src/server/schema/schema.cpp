#include "server/schema/schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "alate/error.h"
#include "server/schema/schema_node.h"

namespace alate::server {
namespace {

using formats::Json;
using Node = Schema::Node;

constexpr std::array<std::pair<std::string_view, unsigned>, 7> kTypes = {{{"null", kNullType},
                                                                          {"boolean", kBooleanType},
                                                                          {"integer", kIntegerType},
                                                                          {"number", kNumberType},
                                                                          {"string", kStringType},
                                                                          {"array", kArrayType},
                                                                          {"object", kObjectType}}};

constexpr std::array<std::string_view, 7> kNotes = {"description", "title",  "default", "example",
                                                    "examples",    "format", "pattern"};

[[noreturn]] void wrong_table(std::string_view what, std::string_view name) {
  throw make_error(ErrorCode::internal, "a route's schema has ", what, " that is not known: ", name);
}

unsigned type_of(const Json& name) {
  const std::string& text = name.as_string("type");
  const auto* const found = std::ranges::find(kTypes, std::string_view(text), &decltype(kTypes)::value_type::first);
  if (found == kTypes.end()) wrong_table("a type", text);
  return found->second;
}

unsigned types_of(const Json& types) {
  if (!types.is_array()) return type_of(types);
  unsigned set = 0;
  for (const Json& type : types.as_array("type")) set |= type_of(type);
  return set;
}

std::size_t count_of(const Json& value, std::string_view keyword) {
  const std::int64_t count = value.as_int(keyword);
  if (count < 0) wrong_table("a negative count", keyword);
  return static_cast<std::size_t>(count);
}

std::unique_ptr<Node> parse_node(const Json& json);

void parse_properties(Node& node, const Json& properties, const Json* required) {
  for (const auto& [name, schema] : properties.as_object("properties"))
    node.properties.push_back({name, parse_node(schema), false});
  if (required == nullptr) return;
  for (const Json& entry : required->as_array("required")) {
    const std::string& name = entry.as_string("required");
    const auto property = std::ranges::find(node.properties, name, &Node::Property::name);
    if (property != node.properties.end()) {
      property->required = true;
    } else {
      node.required.push_back(name);
    }
  }
}

void parse_additional(Node& node, const Json& value) {
  if (value.is_bool()) {
    node.closed = !value.as_bool("additionalProperties");
  } else {
    node.additional = parse_node(value);
  }
}

void parse_keyword(Node& node, std::string_view keyword, const Json& value) {
  if (keyword == "type") {
    node.types = types_of(value);
  } else if (keyword == "items") {
    node.items = parse_node(value);
  } else if (keyword == "anyOf") {
    for (const Json& alternative : value.as_array("anyOf")) node.any.push_back(parse_node(alternative));
  } else if (keyword == "enum") {
    node.values = value.as_array("enum");
  } else if (keyword == "minimum") {
    node.minimum = value.as_double(keyword);
  } else if (keyword == "maximum") {
    node.maximum = value.as_double(keyword);
  } else if (keyword == "minItems") {
    node.min_items = count_of(value, keyword);
  } else if (keyword == "maxItems") {
    node.max_items = count_of(value, keyword);
  } else if (keyword == "minLength") {
    node.min_length = count_of(value, keyword);
  } else if (keyword == "maxLength") {
    node.max_length = count_of(value, keyword);
  } else if (keyword == "nullable") {
    node.refuses_null = !value.as_bool(keyword);
  } else if (keyword == "additionalProperties") {
    parse_additional(node, value);
  } else if (keyword != "properties" && keyword != "required" && std::ranges::find(kNotes, keyword) == kNotes.end()) {
    wrong_table("a keyword", keyword);
  }
}

std::unique_ptr<Node> parse_node(const Json& json) {
  auto node = std::make_unique<Node>();
  for (const auto& [keyword, value] : json.as_object("a schema")) parse_keyword(*node, keyword, value);
  // Both at once, regardless of their order in the text.
  static const Json kNone{Json::Object{}};
  const Json* properties = json.find("properties");
  parse_properties(*node, properties != nullptr ? *properties : kNone, json.find("required"));
  return node;
}

}  // namespace

Schema Schema::parse(std::string_view text) {
  try {
    Json json = formats::parse_json(text, "a route's schema");
    std::unique_ptr<Node> root = parse_node(json);
    root->json = std::move(json);
    return Schema(std::shared_ptr<const Node>(std::move(root)));
  } catch (const Error& error) {
    // Any error is internal, because the text is our own.
    throw Error(ErrorCode::internal, error.message());
  }
}

const Json& Schema::json() const { return root_->json; }

}  // namespace alate::server
