// Reads regular expressions in the syntax of Oniguruma, which the reference tokenizer uses.
#pragma once

#include <string_view>

#include "tokenizers/regex/syntax_tree.h"

namespace alate::tokenizers {

inline constexpr std::size_t kMaxRegexBytes = std::size_t{1} << 14;
inline constexpr int kMaxRegexDepth = 64;

/// `where` names the expression's place in errors. Throws corrupt if it is malformed; unsupported for back references,
/// calls, conditionals, absent groups, text segments, \K, \G and options other than i, m and x; resource_exhausted if
/// it is longer than kMaxRegexBytes or nested deeper than kMaxRegexDepth.
RegexTree parse_regex(std::string_view pattern, std::string_view where, RegexClasses classes = RegexClasses::oniguruma);

}  // namespace alate::tokenizers
