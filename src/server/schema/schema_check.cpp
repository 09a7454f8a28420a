#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "server/schema/schema.h"
#include "server/schema/schema_node.h"

namespace alate::server {
namespace {

using formats::Json;
using Node = Schema::Node;

/// Position of a value: a member or an entry of the value at `outer`. Lives on the stack during checks, so that valid
/// input allocates nothing.
struct Place {
  const Place* outer = nullptr;       // null: the whole value
  std::size_t index = 0;              // index among the entries or members
  const std::string* name = nullptr;  // a member's name; null: an entry
};

/// A violation, comparable to those of other alternatives.
struct Failure {
  std::vector<std::size_t> position;  // indices from the root down to the value
  std::string place;
  std::string message;       // text after the place: " is missing"
  unsigned expected = 0;     // types; 0: not a type error
  bool is_fraction = false;  // a fractional number where an integer is required
  std::string_view kind;     // of the value, for type errors
};

unsigned type_of(const Json& value) {
  struct Types {
    unsigned operator()(std::monostate) const { return kNullType; }
    unsigned operator()(bool) const { return kBooleanType; }
    unsigned operator()(std::int64_t) const { return kIntegerType | kNumberType; }
    unsigned operator()(std::uint64_t) const { return kIntegerType | kNumberType; }
    unsigned operator()(double number) const {
      return std::trunc(number) == number ? kIntegerType | kNumberType : kNumberType;
    }
    unsigned operator()(const std::string&) const { return kStringType; }
    unsigned operator()(const Json::Array&) const { return kArrayType; }
    unsigned operator()(const Json::Object&) const { return kObjectType; }
  };
  return value.visit(Types{});
}

std::string with_article(std::string_view kind) {
  if (kind == "null") return "null";
  const bool vowel = kind.starts_with('a') || kind.starts_with('i') || kind.starts_with('o');
  return (vowel ? "an " : "a ") + std::string(kind);
}

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::string names_of(unsigned types) {
  constexpr std::array<std::pair<unsigned, std::string_view>, 7> kNames = {{{kStringType, "string"},
                                                                            {kIntegerType, "integer"},
                                                                            {kNumberType, "number"},
                                                                            {kBooleanType, "boolean"},
                                                                            {kArrayType, "array"},
                                                                            {kObjectType, "object"},
                                                                            {kNullType, "null"}}};
  std::vector<std::string> names;
  for (const auto& [type, name] : kNames) {
    const bool implied = type == kIntegerType && (types & kNumberType) != 0;
    if ((types & type) != 0 && !implied) names.push_back(with_article(name));
  }
  return listed(names);
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void append_place(std::string& out, const Place& place) {
  if (place.outer == nullptr) return;
  append_place(out, *place.outer);
  if (place.name == nullptr) {
    out += '[' + std::to_string(place.index) + ']';
  } else if (is_plain_name(*place.name)) {
    out += (out.empty() ? "" : ".") + *place.name;
  } else {
    out += '[' + formats::quoted_name(*place.name) + ']';
  }
}

Failure failure_at(const Place& place, std::string message) {
  Failure failure;
  append_place(failure.place, place);
  failure.message = std::move(message);
  for (const Place* at = &place; at->outer != nullptr; at = at->outer) failure.position.push_back(at->index);
  std::ranges::reverse(failure.position);
  return failure;
}

Failure wrong_type(const Place& place, unsigned expected, const Json& value) {
  Failure failure = failure_at(place, "");
  failure.expected = expected;
  failure.kind = value.kind();
  failure.is_fraction = value.is_number();
  return failure;
}

std::string number_text(double number) {
  std::string out;
  formats::append_json_number(out, number);
  return out;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + ' ' + std::string(count == 1 ? one : many);
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::optional<Failure> check_count(const Place& place, std::size_t count, std::optional<std::size_t> least,
                                   std::optional<std::size_t> most, std::string_view one, std::string_view many) {
  if (least && count < *least)
    return failure_at(place, (count == 0 ? " is empty" : " has " + counted(count, one, many)) +
                                 "; it must have at least " + counted(*least, one, many));
  if (most && count > *most)
    return failure_at(place, " has " + counted(count, one, many) + "; it may have at most " + std::to_string(*most));
  return {};
}

std::optional<Failure> check_value(const Node& node, const Json& value, const Place& place);

std::optional<Failure> check_string(const Node& node, const std::string& text, const Place& place) {
  if (!node.min_length && !node.max_length) return {};
  return check_count(place, code_points(text), node.min_length, node.max_length, "character", "characters");
}

std::optional<Failure> check_number(const Node& node, double number, const Place& place) {
  if (node.minimum && !(number >= *node.minimum))
    return failure_at(place, " is " + number_text(number) + "; it must be at least " + number_text(*node.minimum));
  if (node.maximum && !(number <= *node.maximum))
    return failure_at(place, " is " + number_text(number) + "; it may be at most " + number_text(*node.maximum));
  return {};
}

// Whether a scalar entry is valid, without preparing an error message: arrays may have many entries.
bool is_scalar_that_fits(const Node& node, const Json& value) {
  if (!node.values.empty() || !node.any.empty() || value.is_array() || value.is_object()) return false;
  if (node.types != 0 && (node.types & type_of(value)) == 0) return false;
  if (value.is_string()) return !node.min_length && !node.max_length;
  if (!value.is_number() || (!node.minimum && !node.maximum)) return true;
  const double number = value.as_double("value");
  return (!node.minimum || number >= *node.minimum) && (!node.maximum || number <= *node.maximum);
}

std::optional<Failure> check_array(const Node& node, const Json::Array& array, const Place& place) {
  if (auto failure = check_count(place, array.size(), node.min_items, node.max_items, "entry", "entries"))
    return failure;
  if (!node.items) return {};
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (is_scalar_that_fits(*node.items, array[i])) continue;
    if (auto failure = check_value(*node.items, array[i], {&place, i, nullptr})) return failure;
  }
  return {};
}

std::optional<Failure> check_member(const Node& node, const Json::Member& member, const Place& place) {
  const auto& [name, value] = member;
  const auto property = std::ranges::find(node.properties, name, &Node::Property::name);
  if (property != node.properties.end()) {
    if (value.is_null() && !property->required && !property->schema->refuses_null) return {};
    std::optional<Failure> failure = check_value(*property->schema, value, place);
    // As an unset variable makes it.
    if (failure && !property->required && value.is_string() && value.as_string(name).empty())
      failure->message += ", or be left out";
    return failure;
  }
  if (node.closed) {
    std::vector<std::string> known;
    for (const auto& one : node.properties) known.push_back(one.name);
    return failure_at(place, " is not known here; there is " + (known.empty() ? "nothing to set" : listed(known)));
  }
  if (!node.additional || value.is_null()) return {};
  return check_value(*node.additional, value, place);
}

std::optional<Failure> check_object(const Node& node, const Json::Object& object, const Place& place) {
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (auto failure = check_member(node, object[i], {&place, i, &object[i].first})) return failure;
  }
  const auto missing = [&](const std::string& name) {
    return std::ranges::find(object, name, &Json::Member::first) == object.end();
  };
  // Positioned after all present members, so that an alternative lacking only this one counts as failing late.
  for (const auto& property : node.properties) {
    if (property.required && missing(property.name))
      return failure_at({&place, object.size(), &property.name}, " is missing");
  }
  for (const std::string& name : node.required) {
    if (missing(name)) return failure_at({&place, object.size(), &name}, " is missing");
  }
  return {};
}

std::optional<Failure> check_enum(const Node& node, const Json& value, const Place& place) {
  std::vector<std::string> names;
  const std::string text = value.is_array() || value.is_object() ? "" : formats::to_json_text(value);
  for (const Json& one : node.values) {
    names.push_back(formats::to_json_text(one));
    if (names.back() == text) return {};
  }
  return failure_at(place, " must be " + listed(names));
}

// Of the failures of all alternatives, the one furthest into the value; type errors of the same value are merged.
std::optional<Failure> check_any(const Node& node, const Json& value, const Place& place) {
  std::optional<Failure> furthest;
  for (const auto& alternative : node.any) {
    auto failure = check_value(*alternative, value, place);
    if (!failure) return {};
    if (!furthest || furthest->position < failure->position) {
      furthest = std::move(failure);
    } else if (furthest->position == failure->position) {
      if (furthest->expected != 0 && failure->expected != 0) {
        furthest->expected |= failure->expected;
      } else if (failure->expected == 0) {
        // An alternative that accepts this type but not this value is closer than one that expects another type.
        furthest = std::move(failure);
      }
    }
  }
  return furthest;
}

std::optional<Failure> check_value(const Node& node, const Json& value, const Place& place) {
  const unsigned type = type_of(value);
  if (node.types != 0 && (node.types & type) == 0) return wrong_type(place, node.types, value);
  if (!node.values.empty()) {
    if (auto failure = check_enum(node, value, place)) return failure;
  }
  std::optional<Failure> failure;
  if ((type & kStringType) != 0) {
    failure = check_string(node, value.as_string("value"), place);
  } else if ((type & kArrayType) != 0) {
    failure = check_array(node, value.as_array("value"), place);
  } else if ((type & kObjectType) != 0) {
    failure = check_object(node, value.as_object("value"), place);
  } else if ((type & kNumberType) != 0 && (node.minimum || node.maximum)) {
    failure = check_number(node, value.as_double("value"), place);
  }
  if (failure || node.any.empty()) return failure;
  return check_any(node, value, place);
}

std::string message_of(const Failure& failure) {
  std::string message = failure.place.empty() ? "the body" : failure.place;
  if (failure.expected == 0) return message + failure.message;
  const bool has_fraction = failure.is_fraction && (failure.expected & kIntegerType) != 0;
  message += has_fraction ? " is a number with a fraction" : " is " + with_article(failure.kind);
  return message + "; it must be " + names_of(failure.expected);
}

}  // namespace

std::optional<SchemaViolation> Schema::check(const Json& value) const {
  const auto failure = check_value(*root_, value, Place{});
  if (!failure) return {};
  return SchemaViolation{failure->place, message_of(*failure)};
}

}  // namespace alate::server
