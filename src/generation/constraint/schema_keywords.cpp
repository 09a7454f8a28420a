#include "generation/constraint/schema_keywords.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace alate::generation {
namespace {

using formats::Json;

struct Keyword {
  std::string_view name;
  unsigned types;  // 0: all
};

constexpr std::array kKeywords = {
    Keyword{"type", 0},
    Keyword{"nullable", 0},
    Keyword{"enum", 0},
    Keyword{"const", 0},
    Keyword{"anyOf", 0},
    Keyword{"oneOf", 0},
    Keyword{"allOf", 0},
    Keyword{"$ref", 0},
    Keyword{"properties", kObject},
    Keyword{"required", kObject},
    Keyword{"additionalProperties", kObject},
    Keyword{"items", kArray},
    Keyword{"prefixItems", kArray},
    Keyword{"minItems", kArray},
    Keyword{"maxItems", kArray},
    Keyword{"minLength", kString},
    Keyword{"maxLength", kString},
    Keyword{"pattern", kString},
    Keyword{"format", kString},
    Keyword{"minimum", kAnyNumber},
    Keyword{"maximum", kAnyNumber},
    Keyword{"exclusiveMinimum", kAnyNumber},
    Keyword{"exclusiveMaximum", kAnyNumber},
};

// discriminator and xml are OpenAPI's.
constexpr std::array<std::string_view, 19> kAnnotations = {
    "title",           "description",   "default",      "examples", "example",    "deprecated",  "readOnly",
    "writeOnly",       "$comment",      "$schema",      "$id",      "$defs",      "definitions", "contentMediaType",
    "contentEncoding", "discriminator", "externalDocs", "xml",      "$vocabulary"};

struct TypeName {
  std::string_view name;
  unsigned types;
};
constexpr std::array kTypeNames = {
    TypeName{"null", kNull},        TypeName{"boolean", kBoolean}, TypeName{"object", kObject},
    TypeName{"array", kArray},      TypeName{"string", kString},   TypeName{"integer", kInteger},
    TypeName{"number", kAnyNumber},
};

unsigned types_named(const Json& name, const SchemaPlace& place) {
  for (const TypeName& known : kTypeNames) {
    if (name.is_string() && name.as_string("type") == known.name) return known.types;
  }
  place.at("type").refuse("is no type: null, boolean, object, array, string, integer, number, or a list of them");
}

double number_of(const Json& value) { return value.as_double("number"); }

}  // namespace

bool is_annotation(std::string_view keyword) {
  return keyword.starts_with("x-") || std::ranges::find(kAnnotations, keyword) != kAnnotations.end();
}

unsigned types_about(std::string_view keyword) {
  const auto found = std::ranges::find(kKeywords, keyword, &Keyword::name);
  return found == kKeywords.end() ? kAllTypes + 1U : found->types;
}

unsigned stated_types(const Json& schema, const SchemaPlace& place) {
  unsigned types = kAllTypes;
  if (const Json* type = schema.find("type"); type != nullptr) {
    types = 0;
    if (type->is_array()) {
      for (const Json& name : type->as_array("type")) types |= types_named(name, place);
    } else {
      types = types_named(*type, place);
    }
  }
  if (const Json* nullable = schema.find("nullable"); nullable != nullptr) {
    if (!nullable->is_bool()) place.at("nullable").refuse("is neither true nor false");
    if (nullable->as_bool("nullable")) types |= kNull;
  }
  return types;
}

unsigned type_of(const Json& value) {
  if (value.is_null()) return kNull;
  if (value.is_bool()) return kBoolean;
  if (value.is_object()) return kObject;
  if (value.is_array()) return kArray;
  if (value.is_string()) return kString;
  const double number = number_of(value);
  return value.is_integer() || std::trunc(number) == number ? kInteger : kNumber;
}

bool are_equal(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integer() && b.is_integer()) return formats::to_json_text(a) == formats::to_json_text(b);
    return number_of(a) == number_of(b);
  }
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) return std::ranges::equal(a.as_array("a"), b.as_array("b"), are_equal);
  if (a.is_object()) {
    const Json::Object &of_a = a.as_object("a"), &of_b = b.as_object("b");
    return of_a.size() == of_b.size() && std::ranges::all_of(of_a, [&](const Json::Member& member) {
             const Json* other = b.find(member.first);
             return other != nullptr && are_equal(member.second, *other);
           });
  }
  return formats::to_json_text(a) == formats::to_json_text(b);
}

bool is_only_reference(const Json& schema) {
  return schema.find("$ref") != nullptr &&
         std::ranges::all_of(schema.as_object("schema"), [](const Json::Member& member) {
           return member.first == "$ref" || is_annotation(member.first);
         });
}

}  // namespace alate::generation
