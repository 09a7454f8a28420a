#include "generation/constraint/schema_object.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generation/constraint/free_text.h"
#include "generation/constraint/json_text.h"

namespace alate::generation {
namespace {

using formats::Json;

constexpr std::size_t kMostProperties = 2000;  // of an object with additional ones, whose names are kept apart

struct Property {
  std::string name;
  Expression member;
  bool is_required = false;
};

// Members in their order, of which those that are not required may be left out, and then any number of `further` ones.
Expression members_expression(GrammarBuilder& builder, const std::vector<Property>& properties,
                              std::optional<Expression> further) {
  ExpressionGraph graph;
  const Expression open = gap(builder), separator = comma(builder), close = gap(builder);
  // Nothing was written so far, or something was.
  std::uint32_t empty = graph.add_node(), filled = graph.add_node();
  graph.connect(0, empty, builder.text("{"));
  bool may_be_empty = true, is_reachable = false;  // `filled`, before the first member
  for (const Property& property : properties) {
    const std::uint32_t before = graph.add_node(), behind = graph.add_node();
    if (may_be_empty) graph.connect(empty, before, open);
    if (is_reachable) graph.connect(filled, before, separator);
    graph.connect(before, behind, property.member);
    if (!property.is_required && is_reachable) graph.connect(filled, behind);
    may_be_empty = may_be_empty && !property.is_required;
    is_reachable = true;
    filled = behind;
  }
  if (further) {
    const std::uint32_t before = graph.add_node(), behind = graph.add_node();
    if (may_be_empty) graph.connect(empty, before, open);
    if (is_reachable) {
      graph.connect(filled, before, separator);
      graph.connect(filled, behind);
    }
    graph.connect(before, behind, *further);
    graph.connect(behind, before, separator);
    filled = behind;
    is_reachable = true;
  }
  if (may_be_empty) graph.connect(empty, 1, builder.text("}"));
  if (is_reachable) graph.connect(filled, 1, builder.sequence({close, builder.text("}")}));
  return builder.parts().add_graph(std::move(graph));
}

}  // namespace

Expression object_expression(GrammarBuilder& builder, const Json& schema, const SchemaPlace& place,
                             const std::function<Expression(const Json& schema, const SchemaPlace& place)>& value_of) {
  const Json *listed = schema.find("properties"), *required = schema.find("required"),
             *additional = schema.find("additionalProperties");
  std::set<std::string, std::less<>> required_names;
  if (required != nullptr) {
    if (!required->is_array()) place.at("required").refuse("is no list");
    for (const Json& name : required->as_array("required")) {
      if (!name.is_string()) place.at("required").refuse("has something that is no text");
      required_names.insert(name.as_string("required"));
    }
  }
  if (additional != nullptr && !additional->is_bool() && !additional->is_object())
    place.at("additionalProperties").refuse("is no schema");
  const bool allows_more =
      additional != nullptr ? !additional->is_bool() || additional->as_bool("it") : listed == nullptr;
  if (listed == nullptr && required_names.empty() && additional == nullptr) return any_json_object(builder);
  const auto value_of_more = [&] {
    return additional == nullptr ? any_json_value(builder) : value_of(*additional, place.at("additionalProperties"));
  };

  std::vector<Property> properties;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, Expression value) {
    properties.push_back({.name = name,
                          .member = member(builder, builder.text(formats::to_json_text(name)), value),
                          .is_required = required_names.erase(name) > 0});
    names.push_back(name);
  };
  if (listed != nullptr) {
    if (!listed->is_object()) place.at("properties").refuse("is no object");
    for (const auto& [name, property] : listed->as_object("properties"))
      add(name, value_of(property, place.at("properties").at(name)));
  }
  // Required ones that are not described come next, as additional ones.
  if (!required_names.empty()) {
    if (!allows_more && additional != nullptr) return builder.parts().nothing();
    const std::vector<std::string> missing(required_names.begin(), required_names.end());
    const Expression value = value_of_more();
    for (const std::string& name : missing) add(name, value);
  }
  if (!allows_more) return members_expression(builder, properties, std::nullopt);
  if (names.size() > kMostProperties)
    place.refuse("has too many properties besides additional ones: make additionalProperties false");
  const Expression name = names.empty()
                              ? any_string(builder)
                              : string_of(builder, builder.parts().add_machine(plain_string_other_than(names)));
  return members_expression(builder, properties, member(builder, name, value_of_more()));
}

Expression tuple_expression(GrammarBuilder& builder, std::span<const Expression> first, std::optional<Expression> item,
                            std::uint32_t least, std::uint32_t most) {
  ExpressionGraph graph;
  const Expression close = builder.sequence({gap(builder), builder.text("]")});
  std::uint32_t at = 0;
  for (std::size_t i = 0; i <= first.size(); ++i) {
    if (i >= least && i <= most) graph.connect(at, 1, i == 0 ? builder.text("[]") : close);
    if (i == first.size() || i >= most) break;
    const std::uint32_t next = graph.add_node();
    const Expression before = i == 0 ? builder.sequence({builder.text("["), gap(builder)}) : comma(builder);
    graph.connect(at, next, builder.sequence({before, first[i]}));
    at = next;
  }
  if (item && most > first.size()) {
    const auto count = static_cast<std::uint32_t>(first.size());
    const std::uint32_t further = most == GrammarBuilder::kUnlimited ? most : most - count;
    const Expression more = builder.repeat(builder.sequence({comma(builder), *item}),
                                           std::max<std::uint32_t>(least > count ? least - count : 0, 1), further);
    graph.connect(at, 1, builder.sequence({more, close}));
  }
  return builder.parts().add_graph(std::move(graph));
}

}  // namespace alate::generation
