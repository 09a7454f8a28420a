#include "generation/constraint/json_schema.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generation/constraint/disjoint_schemas.h"
#include "generation/constraint/json_text.h"
#include "generation/constraint/number_range.h"
#include "generation/constraint/schema_keywords.h"
#include "generation/constraint/schema_merge.h"
#include "generation/constraint/schema_object.h"
#include "generation/constraint/schema_place.h"
#include "generation/constraint/schema_string.h"

namespace alate::generation {
namespace {

using formats::Json;

constexpr int kMostNesting = 64;

class SchemaReader {
 public:
  SchemaReader(GrammarBuilder& builder, const Json& root, std::string_view what)
      : builder_(builder), root_(root), what_(what), merger_(root, builder.parts().budget) {}

  Expression read() {
    const Expression whole = value(root_, {what_}, 0);
    // Not while they are met: a chain of references is no nesting.
    while (!waiting_.empty()) {
      const auto [pointer, rule] = waiting_.back();
      waiting_.pop_back();
      const SchemaPlace place{what_, pointer};
      builder_.parts().define(rule, value(referred(root_, pointer, place, builder_.parts().budget), place, 0));
    }
    return whole;
  }

 private:
  Expression value(const Json& schema, const SchemaPlace& place, int depth) {
    if (depth > kMostNesting) place.refuse("is nested too deeply");
    if (schema.is_object() && is_only_reference(schema)) return reference(schema, place);
    return flat_value(merger_.flat(schema, place), place, depth);
  }

  // Each part that is referred to is a rule, so that references may lead back to it.
  Expression reference(const Json& schema, const SchemaPlace& place) {
    const Json& to = *schema.find("$ref");
    if (!to.is_string()) place.at("$ref").refuse("is no text");
    const std::string& pointer = to.as_string("$ref");
    if (const auto known = references_.find(pointer); known != references_.end()) return known->second;
    referred(root_, pointer, place, builder_.parts().budget);
    const Expression rule = builder_.parts().declare(pointer);
    references_.emplace(pointer, rule);
    waiting_.emplace_back(pointer, rule);
    return rule;
  }

  Expression flat_value(const Json& schema, const SchemaPlace& place, int depth) {
    if (depth > kMostNesting) place.refuse("is nested too deeply");
    if (schema.is_bool()) return builder_.parts().nothing();
    for (const char* key : {"anyOf", "oneOf"}) {
      if (schema.find(key) != nullptr) return alternatives(schema, key, place, depth);
    }
    if (schema.find("const") != nullptr || schema.find("enum") != nullptr) return listed(schema, place);
    if (schema.as_object("schema").empty()) return any_json_value(builder_);
    return by_type(schema, place, depth);
  }

  Expression alternatives(const Json& schema, const char* key, const SchemaPlace& place, int depth) {
    const Json& list = *schema.find(key);
    if (!list.is_array() || list.as_array(key).empty()) place.at(key).refuse("is no list of schemas");
    Json::Object rest;
    for (const Json::Member& member : schema.as_object("schema")) {
      if (member.first != key) rest.push_back(member);
    }
    const bool is_alone = rest.empty();
    const Json shared = std::move(rest);
    std::vector<Expression> ways;
    std::vector<Json> flats;
    const Json::Array& branches = list.as_array(key);
    for (std::size_t i = 0; i < branches.size(); ++i) {
      const SchemaPlace at = place.at(key, i);
      const Json branch = merger_.both(shared, merger_.flat(branches[i], at), at);
      if (std::string_view(key) == "oneOf") {
        check_disjoint(flats, branch, place.at(key));
        flats.push_back(branch);
      }
      if (is_alone) {
        ways.push_back(value(branches[i], at, depth + 1));
      } else {
        ways.push_back(flat_value(branch, at, depth + 1));
      }
    }
    return builder_.choice(ways);
  }

  void check_disjoint(const std::vector<Json>& others, const Json& branch, const SchemaPlace& place) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      builder_.parts().budget.spend(200);
      if (are_disjoint(merger_, others[i], branch, place)) continue;
      place.refuse("has the branches " + std::to_string(i) + " and " + std::to_string(others.size()) +
                   ", which one value might both fit: use anyOf, or give each branch a required property with values "
                   "of its own (const)");
    }
  }

  Expression listed(const Json& schema, const SchemaPlace& place) {
    Json::Array values;
    if (const Json* only = schema.find("const"); only != nullptr) values.push_back(*only);
    if (const Json* list = schema.find("enum"); list != nullptr) {
      if (!list->is_array()) place.at("enum").refuse("is no list");
      Json::Array kept = list->as_array("enum");
      if (!values.empty()) std::erase_if(kept, [&](const Json& value) { return !are_equal(value, values.front()); });
      values = std::move(kept);
    }
    for (const Json::Member& member : schema.as_object("schema")) {
      if (types_about(member.first) != 0)
        place.refuse("has " + formats::quoted_name(member.first) +
                     " besides const or enum, which is not supported: leave out the values that do not fit");
    }
    const unsigned types = stated_types(schema, place);
    std::vector<Expression> ways;
    for (const Json& value : values) {
      if ((type_of(value) & types) != 0) ways.push_back(exactly(builder_, value));
    }
    return ways.empty() ? builder_.parts().nothing() : builder_.choice(ways);
  }

  Expression by_type(const Json& schema, const SchemaPlace& place, int depth) {
    unsigned types = stated_types(schema, place);
    // Without a type, the one that the keywords are about: all others would fit too, but are hardly meant.
    unsigned about = 0;
    for (const Json::Member& member : schema.as_object("schema")) about |= types_about(member.first);
    if (about != 0 && schema.find("nullable") != nullptr) about |= kNull;
    if (schema.find("type") == nullptr && about != 0) types &= about;
    if (types == kAllTypes) return any_json_value(builder_);
    std::vector<Expression> ways;
    if ((types & kObject) != 0) ways.push_back(object(schema, place, depth));
    if ((types & kArray) != 0) ways.push_back(array(schema, place, depth));
    if ((types & kString) != 0) ways.push_back(string_expression(builder_, schema, place));
    if ((types & kAnyNumber) != 0) ways.push_back(number(schema, place, (types & kNumber) == 0));
    if ((types & kBoolean) != 0) {
      ways.push_back(builder_.text("true"));
      ways.push_back(builder_.text("false"));
    }
    if ((types & kNull) != 0) ways.push_back(builder_.text("null"));
    return ways.empty() ? builder_.parts().nothing() : builder_.choice(ways);
  }

  Expression object(const Json& schema, const SchemaPlace& place, int depth) {
    const auto value_of = [&](const Json& part, const SchemaPlace& at) { return value(part, at, depth + 1); };
    return builder_.parts().shared(object_expression(builder_, schema, place, value_of), place.pointer);
  }

  static std::uint32_t count(const Json& schema, const char* key, std::uint32_t otherwise, const SchemaPlace& place) {
    const Json* value = schema.find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_number() || value->as_double(key) < 0 || std::trunc(value->as_double(key)) != value->as_double(key))
      place.at(key).refuse("is no whole number from 0");
    return static_cast<std::uint32_t>(std::min(value->as_double(key), double{GrammarBuilder::kUnlimited - 1}));
  }

  Expression array(const Json& schema, const SchemaPlace& place, int depth) {
    const std::uint32_t least = count(schema, "minItems", 0, place);
    const std::uint32_t most = count(schema, "maxItems", GrammarBuilder::kUnlimited, place);
    if (least > most) return builder_.parts().nothing();
    const Json* prefix = schema.find("prefixItems");
    const Json* items = schema.find("items");
    if (prefix == nullptr && items == nullptr && least == 0 && most == GrammarBuilder::kUnlimited)
      return any_json_array(builder_);
    // Elements behind those of prefixItems are written only if items says what they are.
    std::optional<Expression> item;
    if (items != nullptr) {
      item = builder_.parts().shared(value(*items, place.at("items"), depth + 1), place.at("items").pointer);
    } else if (prefix == nullptr || !prefix->is_array() || least > prefix->as_array("prefixItems").size()) {
      item = any_json_value(builder_);
    }
    std::vector<Expression> first;
    if (prefix != nullptr) {
      if (!prefix->is_array()) place.at("prefixItems").refuse("is no list");
      const Json::Array& parts = prefix->as_array("prefixItems");
      for (std::size_t i = 0; i < parts.size(); ++i)
        first.push_back(value(parts[i], place.at("prefixItems", i), depth + 1));
    }
    const Expression made = first.empty()
                                ? bracketed(builder_, "[]", item.value_or(builder_.parts().nothing()), least, most)
                                : tuple_expression(builder_, first, item, least, most);
    return builder_.parts().shared(made, place.pointer);
  }

  std::optional<NumberBound> bound(const Json& schema, const char* inclusive, const char* exclusive, bool is_least,
                                   const SchemaPlace& place) const {
    std::optional<NumberBound> made;
    for (const char* key : {inclusive, exclusive}) {
      const Json* value = schema.find(key);
      if (value == nullptr) continue;
      if (!value->is_number()) place.at(key).refuse("is no number");
      const NumberBound own{value->as_double(key), key == exclusive};
      const bool is_tighter = !made || (is_least ? own.value >= made->value : own.value <= made->value);
      if (is_tighter) made = own;
    }
    return made;
  }

  Expression number(const Json& schema, const SchemaPlace& place, bool is_integer) {
    const NumberRange range{.least = bound(schema, "minimum", "exclusiveMinimum", true, place),
                            .most = bound(schema, "maximum", "exclusiveMaximum", false, place)};
    if (!range.least && !range.most) return is_integer ? any_integer(builder_) : any_number(builder_);
    return is_integer ? integer_between(builder_, range, place.text()) : number_between(builder_, range, place.text());
  }

  GrammarBuilder& builder_;
  const Json& root_;
  std::string_view what_;
  SchemaMerger merger_;
  std::map<std::string, Expression, std::less<>> references_;
  std::vector<std::pair<std::string, Expression>> waiting_;  // those that are not yet defined
};

}  // namespace

Expression schema_expression(GrammarBuilder& builder, const Json& schema, std::string_view what) {
  return SchemaReader(builder, schema, what).read();
}

}  // namespace alate::generation
