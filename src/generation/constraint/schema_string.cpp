#include "generation/constraint/schema_string.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "generation/constraint/json_text.h"
#include "generation/constraint/regex_grammar.h"
#include "generation/constraint/string_formats.h"

namespace alate::generation {
namespace {

using formats::Json;

struct Lengths {
  std::uint32_t least = 0, most = GrammarBuilder::kUnlimited;
};

Lengths lengths_of(const Json& schema, const SchemaPlace& place) {
  Lengths lengths;
  const auto read = [&](const char* key, std::uint32_t& length) {
    const Json* value = schema.find(key);
    if (value == nullptr) return;
    const double number = value->is_number() ? value->as_double(key) : -1;
    if (number < 0 || std::trunc(number) != number) place.at(key).refuse("is no whole number from 0");
    length = static_cast<std::uint32_t>(std::min(number, double{GrammarBuilder::kUnlimited - 1}));
  };
  read("minLength", lengths.least);
  read("maxLength", lengths.most);
  return lengths;
}

// The strings of an expression that also have a length.
Expression of_pattern(GrammarBuilder& builder, const std::string& pattern, const Lengths& lengths,
                      const SchemaPlace& place) {
  const std::string what = place.text();
  if (const auto repeated = as_repeated_set(pattern, what)) {
    const std::uint32_t least = std::max(repeated->least, lengths.least), most = std::min(repeated->most, lengths.most);
    if (least > most) return builder.parts().nothing();
    return builder.repeat(string_character(builder, repeated->set), least, most);
  }
  const TextLengths own = regex_lengths(pattern, what);
  if (own.least < lengths.least || (lengths.most != GrammarBuilder::kUnlimited && own.most > lengths.most))
    place.refuse(
        "has a length besides a pattern or format that allows others, which is supported only where the "
        "pattern repeats one class (\"^[a-z]*$\"): write the length into the pattern");
  return regex_expression(
      builder, pattern, what,
      {.set = [&](const tokenizers::CodePointSet& set) { return string_character(builder, set); }, .is_search = true});
}

}  // namespace

Expression string_expression(GrammarBuilder& builder, const Json& schema, const SchemaPlace& place) {
  const Json *pattern = schema.find("pattern"), *format = schema.find("format");
  const Lengths lengths = lengths_of(schema, place);
  if (pattern != nullptr && !pattern->is_string()) place.at("pattern").refuse("is no text");
  if (format != nullptr && !format->is_string()) place.at("format").refuse("is no text");
  if (pattern != nullptr && format != nullptr)
    place.refuse("has both a pattern and a format, which is not supported: leave one out");
  if (lengths.least > lengths.most) return builder.parts().nothing();
  if (pattern != nullptr)
    return string_of(builder, of_pattern(builder, pattern->as_string("pattern"), lengths, place.at("pattern")));
  if (format != nullptr) {
    const auto of_format = format_pattern(format->as_string("format"));
    if (!of_format) place.at("format").refuse("is not supported: " + format_names() + " are");
    return string_of(builder, of_pattern(builder, *of_format, lengths, place.at("format")));
  }
  if (lengths.least == 0 && lengths.most == GrammarBuilder::kUnlimited) return any_string(builder);
  return string_of(
      builder, builder.repeat(string_character(builder, tokenizers::CodePointSet::all()), lengths.least, lengths.most));
}

}  // namespace alate::generation
