#include "generation/constraint/schema_merge.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "generation/constraint/schema_keywords.h"

namespace alate::generation {
namespace {

using formats::Json;

constexpr int kMostDepth = 64;

Json::Array type_names(unsigned types) {
  Json::Array names;
  const auto add = [&](unsigned bits, const char* name) {
    if ((types & bits) == bits) names.emplace_back(name);
  };
  add(kNull, "null");
  add(kBoolean, "boolean");
  add(kObject, "object");
  add(kArray, "array");
  add(kString, "string");
  if ((types & kNumber) == 0) add(kInteger, "integer");
  add(kAnyNumber, "number");
  return names;
}

Json::Array values_of(const Json& schema, std::string_view key) {
  return key == "const" ? Json::Array{*schema.find("const")} : schema.find("enum")->as_array("enum");
}

Json* find_in(Json::Object& members, std::string_view key) {
  const auto found = std::ranges::find(members, key, &Json::Member::first);
  return found == members.end() ? nullptr : &found->second;
}

// How many values a value has, itself included: copying it takes as long.
std::uint64_t count_values(const Json& value) {
  std::uint64_t count = 1;
  if (value.is_array()) {
    for (const Json& element : value.as_array("value")) count += count_values(element);
  } else if (value.is_object()) {
    for (const Json::Member& member : value.as_object("value")) count += count_values(member.second);
  }
  return count;
}

bool has_elements(const Json& schema) {
  return schema.find("items") != nullptr || schema.find("prefixItems") != nullptr;
}

bool is_least(std::string_view key) { return key.starts_with("min") || key == "exclusiveMinimum"; }
bool is_most(std::string_view key) { return key.starts_with("max") || key == "exclusiveMaximum"; }

}  // namespace

Json SchemaMerger::flat(const Json& schema, const SchemaPlace& place, int depth) const {
  budget_.spend(100);
  if (depth > kMostDepth) place.refuse("refers to itself, or is nested too deeply in allOf and $ref");
  if (schema.is_bool()) return schema.as_bool("schema") ? Json(Json::Object()) : Json(false);
  if (!schema.is_object()) place.refuse("is no schema: an object, true or false is");
  Json::Object own;
  for (const Member& member : schema.as_object("schema")) {
    budget_.spend(5 * count_values(member.second));
    if (member.first == "$ref" || member.first == "allOf" || is_annotation(member.first)) continue;
    if (types_about(member.first) > kAllTypes)
      place.refuse("has the keyword " + formats::quoted_name(member.first) +
                   ", which output cannot be held to; docs/constrained-output.md lists those that are supported");
    own.push_back(member);
  }
  Json made = std::move(own);
  if (const Json* reference = schema.find("$ref"); reference != nullptr) {
    if (!reference->is_string()) place.at("$ref").refuse("is no text");
    const Json& target = referred(root_, reference->as_string("$ref"), place, budget_);
    made = both(flat(target, {place.what, reference->as_string("$ref")}, depth + 1), made, place, depth + 1);
  }
  if (const Json* all = schema.find("allOf"); all != nullptr) {
    if (!all->is_array()) place.at("allOf").refuse("is no list");
    const Json::Array& parts = all->as_array("allOf");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const SchemaPlace part = place.at("allOf", i);
      made = both(made, flat(parts[i], part, depth + 1), part, depth + 1);
    }
  }
  return made;
}

Json SchemaMerger::both(const Json& a, const Json& b, const SchemaPlace& place, int depth) const {
  budget_.spend(100);
  if (a.is_bool() || b.is_bool()) return false;  // a flat one that is a truth value allows nothing
  if (a.as_object("schema").empty()) return b;
  if (b.as_object("schema").empty()) return a;
  return combined(a, b, place, depth);
}

Json SchemaMerger::combined(const Json& a, const Json& b, const SchemaPlace& place, int depth) const {
  if (depth > kMostDepth) place.refuse("is nested too deeply in allOf and $ref");
  if ((a.find("prefixItems") != nullptr || b.find("prefixItems") != nullptr) && has_elements(a) && has_elements(b))
    place.refuse(
        "has prefixItems and further items by allOf, anyOf or $ref, which is not supported: write them as one");
  Json::Object all;
  const auto is_special = [](std::string_view key) {
    return key == "type" || key == "nullable" || key == "const" || key == "enum" || key == "properties" ||
           key == "additionalProperties";
  };
  for (const Member& member : a.as_object("schema")) {
    if (!is_special(member.first)) all.push_back(member);
  }
  for (const Member& member : b.as_object("schema")) {
    if (!is_special(member.first)) add(all, member, place, depth);
  }
  if (const unsigned types = stated_types(a, place) & stated_types(b, place); types != kAllTypes) {
    // Whole numbers are what integer and number share; none left is no value.
    if (types == 0) return false;
    all.emplace_back("type", type_names(types));
  }
  Json::Array values;
  bool has_values = false;
  for (const Json* schema : {&a, &b}) {
    for (const std::string_view key : {"const", "enum"}) {
      if (schema->find(key) == nullptr) continue;
      if (key == "enum" && !schema->find(key)->is_array()) place.at("enum").refuse("is no list");
      Json::Array listed = values_of(*schema, key);
      if (has_values) {
        std::erase_if(values, [&](const Json& value) {
          budget_.spend(listed.size());
          return std::ranges::none_of(listed, [&](const Json& other) { return are_equal(value, other); });
        });
      } else {
        values = std::move(listed);
      }
      has_values = true;
    }
  }
  if (has_values && values.empty()) return false;
  if (has_values) all.emplace_back("enum", std::move(values));
  if (a.find("properties") != nullptr || b.find("properties") != nullptr)
    all.emplace_back("properties", both_properties(a, b, place, depth));
  const Json *of_a = a.find("additionalProperties"), *of_b = b.find("additionalProperties");
  if (of_a != nullptr && of_b != nullptr) {
    const SchemaPlace at = place.at("additionalProperties");
    all.emplace_back("additionalProperties",
                     both(flat(*of_a, at, depth + 1), flat(*of_b, at, depth + 1), at, depth + 1));
  } else if (of_a != nullptr || of_b != nullptr) {
    all.emplace_back("additionalProperties", of_a != nullptr ? *of_a : *of_b);
  }
  return all;
}

// Adds a keyword to those of another schema.
void SchemaMerger::add(Json::Object& all, const Member& member, const SchemaPlace& place, int depth) const {
  const auto& [key, value] = member;
  Json* const other = find_in(all, key);
  if (other == nullptr) {
    all.push_back(member);
  } else if (are_equal(*other, value)) {
    return;
  } else if ((is_least(key) || is_most(key)) && other->is_number() && value.is_number()) {
    const bool is_greater = value.as_double(key) > other->as_double(key);
    if (is_greater == is_least(key)) *other = value;
  } else if (key == "required" && other->is_array() && value.is_array()) {
    Json::Array names = other->as_array(key);
    for (const Json& name : value.as_array(key)) {
      budget_.spend(names.size());
      if (std::ranges::none_of(names, [&](const Json& known) { return are_equal(known, name); })) names.push_back(name);
    }
    *other = std::move(names);
  } else if (key == "items") {
    const SchemaPlace at = place.at(key);
    *other = both(flat(*other, at, depth + 1), flat(value, at, depth + 1), at, depth + 1);
  } else {
    place.refuse("has several different " + formats::quoted_name(key) +
                 " by allOf, anyOf or $ref, which is not supported: write them as one");
  }
}

Json SchemaMerger::both_properties(const Json& a, const Json& b, const SchemaPlace& place, int depth) const {
  Json::Object made;
  // A property that only one schema names is among the additional ones of the other.
  const auto add_of = [&](const Json& schema, const Json& other, bool is_first) {
    const Json* properties = schema.find("properties");
    if (properties == nullptr) return;
    if (!properties->is_object()) place.at("properties").refuse("is no object");
    const Json* others = other.find("properties");
    for (const auto& [name, property] : properties->as_object("properties")) {
      budget_.spend(100);
      if (others != nullptr && others->is_object()) budget_.spend(others->as_object("properties").size());
      const Json* same = others != nullptr && others->is_object() ? others->find(name) : nullptr;
      if (same != nullptr && !is_first) continue;
      const SchemaPlace at = place.at("properties").at(name);
      const Json* further = same != nullptr ? same : other.find("additionalProperties");
      // References are followed when there is something to merge only, so that recursion ends.
      if (further == nullptr || (further->is_bool() && further->as_bool("schema")) || are_equal(*further, property)) {
        made.emplace_back(name, property);
      } else {
        made.emplace_back(name, both(flat(property, at, depth + 1), flat(*further, at, depth + 1), at, depth + 1));
      }
    }
  };
  add_of(a, b, true);
  add_of(b, a, false);
  return made;
}

}  // namespace alate::generation
