#include "generation/constraint/json_text.h"

#include <functional>
#include <string>
#include <vector>

namespace alate::generation {
namespace {

using tokenizers::CodePointRange;
using tokenizers::CodePointSet;

constexpr std::uint32_t kMostDigits = 15;  // so that a number is exact as a double, and ends
constexpr std::uint32_t kMostBlanks = 40, kMostTabs = 20;

Expression set_of(GrammarBuilder& builder, std::initializer_list<CodePointRange> ranges) {
  return builder.parts().add_set(CodePointSet(std::span(ranges.begin(), ranges.size())));
}

// The expression with this name, made at its first use. It is a rule, so that its places are the same everywhere.
Expression once(GrammarBuilder& builder, const std::string& name, const std::function<Expression()>& make) {
  auto& known = builder.parts().known;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const Expression made = builder.parts().shared(make(), name);
  known.emplace(name, made);
  return made;
}

Expression hex_digits(GrammarBuilder& builder, std::uint32_t count) {
  return builder.repeat(set_of(builder, {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}), count, count);
}

// Any code point of a string: \u of a surrogate is one half of a pair.
Expression any_character(GrammarBuilder& builder) {
  const Expression d = set_of(builder, {{'D', 'D'}, {'d', 'd'}});
  const Expression unit = builder.choice(
      {builder.sequence(
           {set_of(builder, {{'0', '9'}, {'A', 'C'}, {'E', 'F'}, {'a', 'c'}, {'e', 'f'}}), hex_digits(builder, 3)}),
       builder.sequence({d, set_of(builder, {{'0', '7'}}), hex_digits(builder, 2)}),
       builder.sequence({d, set_of(builder, {{'8', '9'}, {'A', 'B'}, {'a', 'b'}}), hex_digits(builder, 2),
                         builder.text("\\u"), d, set_of(builder, {{'C', 'F'}, {'c', 'f'}}), hex_digits(builder, 2)})});
  const Expression escape = builder.choice(
      {set_of(builder,
              {{'"', '"'}, {'/', '/'}, {'\\', '\\'}, {'b', 'b'}, {'f', 'f'}, {'n', 'n'}, {'r', 'r'}, {'t', 't'}}),
       builder.sequence({builder.text("u"), unit})});
  return builder.choice({builder.parts().add_set(plain_characters()), builder.sequence({builder.text("\\"), escape})});
}

Expression scalar(GrammarBuilder& builder) {
  return builder.choice(
      {any_string(builder), any_number(builder), builder.text("true"), builder.text("false"), builder.text("null")});
}

Expression value_of_levels(GrammarBuilder& builder, std::size_t levels);

Expression object_of_levels(GrammarBuilder& builder, std::size_t levels) {
  return once(builder, "object of " + std::to_string(levels), [&] {
    return bracketed(builder, "{}", member(builder, any_string(builder), value_of_levels(builder, levels - 1)));
  });
}

Expression array_of_levels(GrammarBuilder& builder, std::size_t levels) {
  return once(builder, "array of " + std::to_string(levels),
              [&] { return bracketed(builder, "[]", value_of_levels(builder, levels - 1)); });
}

Expression value_of_levels(GrammarBuilder& builder, std::size_t levels) {
  return once(builder, "value of " + std::to_string(levels), [&] {
    if (levels == 0) return scalar(builder);
    return builder.choice({object_of_levels(builder, levels), array_of_levels(builder, levels), scalar(builder)});
  });
}

}  // namespace

CodePointSet plain_characters() {
  constexpr CodePointRange kEscaped[] = {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
  return CodePointSet(kEscaped).complement();
}

Expression string_character(GrammarBuilder& builder, const CodePointSet& set) {
  if (set == CodePointSet::all()) return once(builder, "character", [&] { return any_character(builder); });
  std::vector<Expression> ways = {builder.parts().add_set(set.intersection(plain_characters()))};
  for (const CodePointRange& range : set.intersection(plain_characters().complement()).ranges()) {
    for (char32_t c = range.first; c <= range.last; ++c) {
      std::string escaped;
      formats::append_json_string(escaped, std::string(1, static_cast<char>(c)));
      ways.push_back(builder.text(std::string_view(escaped).substr(1, escaped.size() - 2)));
    }
  }
  return builder.choice(ways);
}

Expression any_string(GrammarBuilder& builder) {
  return once(builder, "string", [&] { return string_of(builder, builder.repeat(any_character(builder), 0)); });
}

Expression string_of(GrammarBuilder& builder, Expression inside) {
  return builder.sequence({builder.text("\""), inside, builder.text("\"")});
}

Expression digits(GrammarBuilder& builder, std::uint32_t least, std::uint32_t most) {
  return builder.repeat(set_of(builder, {{'0', '9'}}), least, most);
}

Expression any_integer(GrammarBuilder& builder) {
  return once(builder, "integer", [&] {
    return builder.sequence(
        {builder.optional(builder.text("-")),
         builder.choice({builder.text("0"),
                         builder.sequence({set_of(builder, {{'1', '9'}}), digits(builder, 0, kMostDigits - 1)})})});
  });
}

Expression any_number(GrammarBuilder& builder) {
  return once(builder, "number", [&] {
    const Expression fraction = builder.sequence({builder.text("."), digits(builder, 1, kMostDigits)});
    const Expression exponent =
        builder.sequence({set_of(builder, {{'E', 'E'}, {'e', 'e'}}),
                          builder.optional(set_of(builder, {{'+', '+'}, {'-', '-'}})), digits(builder, 1, 2)});
    return builder.sequence({any_integer(builder), builder.optional(fraction), builder.optional(exponent)});
  });
}

Expression any_json_value(GrammarBuilder& builder) { return value_of_levels(builder, kMostJsonLevels); }
Expression any_json_array(GrammarBuilder& builder) { return array_of_levels(builder, kMostJsonLevels); }
Expression any_json_object(GrammarBuilder& builder) { return object_of_levels(builder, kMostJsonLevels); }

Expression gap(GrammarBuilder& builder) {
  return once(builder, "gap", [&] {
    const Expression indentation = builder.choice(
        {builder.repeat(builder.text(" "), 0, kMostBlanks), builder.repeat(builder.text("\t"), 1, kMostTabs)});
    return builder.optional(builder.choice({builder.text(" "), builder.sequence({builder.text("\n"), indentation})}));
  });
}

Expression comma(GrammarBuilder& builder) { return builder.sequence({builder.text(","), gap(builder)}); }

Expression member(GrammarBuilder& builder, Expression name, Expression value) {
  return builder.sequence({name, builder.text(":"), builder.optional(builder.text(" ")), value});
}

Expression bracketed(GrammarBuilder& builder, std::string_view brackets, Expression element, std::uint32_t least,
                     std::uint32_t most) {
  std::vector<Expression> ways;
  if (least == 0) ways.push_back(builder.text(brackets));
  if (most > 0) {
    const std::uint32_t further = most == GrammarBuilder::kUnlimited ? most : most - 1;
    ways.push_back(builder.sequence(
        {builder.text(brackets.substr(0, 1)), gap(builder), element,
         builder.repeat(builder.sequence({comma(builder), element}), least == 0 ? 0 : least - 1, further), gap(builder),
         builder.text(brackets.substr(1))}));
  }
  return builder.choice(ways);
}

Expression exactly(GrammarBuilder& builder, const formats::Json& value) {
  if (value.is_array()) {
    const formats::Json::Array& elements = value.as_array("value");
    if (elements.empty()) return builder.text("[]");
    std::vector<Expression> parts = {builder.text("["), gap(builder)};
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) parts.push_back(comma(builder));
      parts.push_back(exactly(builder, elements[i]));
    }
    parts.push_back(gap(builder));
    parts.push_back(builder.text("]"));
    return builder.sequence(parts);
  }
  if (value.is_object()) {
    const formats::Json::Object& members = value.as_object("value");
    if (members.empty()) return builder.text("{}");
    std::vector<Expression> parts = {builder.text("{"), gap(builder)};
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) parts.push_back(comma(builder));
      parts.push_back(
          member(builder, builder.text(formats::to_json_text(members[i].first)), exactly(builder, members[i].second)));
    }
    parts.push_back(gap(builder));
    parts.push_back(builder.text("}"));
    return builder.sequence(parts);
  }
  return builder.text(formats::to_json_text(value));
}

}  // namespace alate::generation
