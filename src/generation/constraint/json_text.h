// Parts of JSON texts, as models write them: compact, with a blank behind colons and commas, or over several lines.
#pragma once

#include <string_view>

#include "formats/json.h"
#include "generation/constraint/grammar_parts.h"

namespace alate::generation {

/// What may stand in a JSON string without an escape.
tokenizers::CodePointSet plain_characters();

/// One code point of the set inside of a JSON string. Those that need an escape have their shortest; where the set is
/// of all code points, all escapes are allowed.
Expression string_character(GrammarBuilder& builder, const tokenizers::CodePointSet& set);
/// Any string; with its quotes, as all that follow.
Expression any_string(GrammarBuilder& builder);
Expression string_of(GrammarBuilder& builder, Expression inside);
Expression any_integer(GrammarBuilder& builder);
Expression any_number(GrammarBuilder& builder);
Expression any_json_value(GrammarBuilder& builder);
Expression any_json_array(GrammarBuilder& builder);
Expression any_json_object(GrammarBuilder& builder);
/// This value. Strings have their shortest form, numbers are as `to_json_text` writes them.
Expression exactly(GrammarBuilder& builder, const formats::Json& value);

/// From `least` to `most` digits.
Expression digits(GrammarBuilder& builder, std::uint32_t least, std::uint32_t most);
/// Space behind an opening bracket and a comma, and before a closing bracket: none, a blank, or a line's end and an
/// indentation.
Expression gap(GrammarBuilder& builder);
/// A comma, with the space behind it.
Expression comma(GrammarBuilder& builder);
/// "name": value, where the name is an expression of a string.
Expression member(GrammarBuilder& builder, Expression name, Expression value);
/// Elements between brackets, `least` to `most` of them.
Expression bracketed(GrammarBuilder& builder, std::string_view brackets, Expression element, std::uint32_t least = 0,
                     std::uint32_t most = GrammarBuilder::kUnlimited);

}  // namespace alate::generation
