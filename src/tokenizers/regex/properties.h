// Named sets of code points in regular expressions: \p{…}, [[:…:]], \w and the like.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tokenizers/regex/code_point_set.h"

namespace alate::tokenizers {

/// The code points of a general category (short or long name), script (name or four-letter code), class ("alpha",
/// "word" …) or one of some further properties; nothing for an unknown name. Case, spaces, '-' and '_' do not matter.
std::optional<CodePointSet> property_set(std::string_view name);

/// The class of [[:name:]]; nothing for an unknown name.
std::optional<CodePointSet> posix_class(std::string_view name);

/// \s, \d and \h anywhere.
CodePointSet space_set();
CodePointSet digit_set();
CodePointSet hex_digit_set();
/// \w inside of brackets.
CodePointSet word_set();
/// \w, \b and \p{Word} outside of brackets, where the reference counts six more Latin-1 characters as words' (U+00B2
/// …).
CodePointSet bare_word_set();

/// The code points of categories, as bits of category_bit.
CodePointSet category_set(std::uint32_t categories);

/// Adds what matches members when case is ignored.
void add_case_variants(CodePointSet& set);

/// Whether one of the code points also matches a text of several when case is ignored (ß and ss), or is part of one.
bool folds_to_several(const CodePointSet& set);
/// Whether the texts of two or three consecutive code points have a single code point among their variants (ss and ß).
bool is_fold_of_one(std::u32string_view text);

}  // namespace alate::tokenizers
