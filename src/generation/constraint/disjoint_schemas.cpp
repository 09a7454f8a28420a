#include "generation/constraint/disjoint_schemas.h"

#include <algorithm>
#include <optional>
#include <string>

#include "generation/constraint/schema_keywords.h"

namespace alate::generation {
namespace {

using formats::Json;

constexpr int kMostDepth = 4;

std::optional<Json::Array> listed_values(const Json& schema) {
  if (const Json* value = schema.find("const"); value != nullptr) return Json::Array{*value};
  if (const Json* values = schema.find("enum"); values != nullptr && values->is_array())
    return values->as_array("enum");
  return std::nullopt;
}

unsigned types_of(const Json& schema, const SchemaPlace& place) {
  unsigned types = stated_types(schema, place);
  if (const auto values = listed_values(schema)) {
    unsigned of_values = 0;
    for (const Json& value : *values) of_values |= type_of(value);
    types &= of_values;
  }
  return types;
}

const Json* property_of(const Json& schema, std::string_view name) {
  const Json* properties = schema.find("properties");
  return properties == nullptr ? nullptr : properties->find(name);
}

std::uint64_t count_properties(const Json& schema) {
  const Json* properties = schema.find("properties");
  return properties != nullptr && properties->is_object() ? properties->as_object("properties").size() : 0;
}

// Whether texts that are written for the schema never have the property.
bool never_has(const Json& schema, std::string_view name) {
  const Json* further = schema.find("additionalProperties");
  if (further == nullptr && schema.find("properties") == nullptr) return false;
  return property_of(schema, name) == nullptr &&
         (further == nullptr || (further->is_bool() && !further->as_bool("it")));
}

bool differ_in_required(const SchemaMerger& merger, const Json& a, const Json& b, const SchemaPlace& place, int depth) {
  bool a_lacks = false, b_lacks = false;
  const auto look = [&](const Json& schema, const Json& other, bool& lacks) {
    const Json* required = schema.find("required");
    if (required == nullptr || !required->is_array()) return false;
    for (const Json& name : required->as_array("required")) {
      if (!name.is_string()) continue;
      merger.budget().spend(20 + 2 * (count_properties(schema) + count_properties(other)));
      const std::string& key = name.as_string("required");
      if (never_has(other, key)) lacks = true;
      const Json *own = property_of(schema, key), *others = property_of(other, key);
      if (own == nullptr || others == nullptr) continue;
      const SchemaPlace at = place.at(key);
      if (are_disjoint(merger, merger.flat(*own, at), merger.flat(*others, at), at, depth + 1)) return true;
    }
    return false;
  };
  return look(a, b, b_lacks) || look(b, a, a_lacks) || (a_lacks && b_lacks);
}

}  // namespace

bool are_disjoint(const SchemaMerger& merger, const Json& a, const Json& b, const SchemaPlace& place, int depth) {
  if (a.is_bool() || b.is_bool()) return true;
  if (depth > kMostDepth) return false;
  const unsigned common = types_of(a, place) & types_of(b, place);
  if (common == 0) return true;
  const auto of_a = listed_values(a), of_b = listed_values(b);
  if (of_a && of_b)
    return std::ranges::none_of(*of_a, [&](const Json& value) {
      return std::ranges::any_of(*of_b, [&](const Json& other) { return are_equal(value, other); });
    });
  return common == kObject && differ_in_required(merger, a, b, place, depth);
}

}  // namespace alate::generation
