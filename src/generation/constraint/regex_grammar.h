// Regular expressions as grammars.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "generation/constraint/grammar_parts.h"

namespace alate::generation {

/// Texts of which the expression matches all. Throws invalid_argument, with `what` as its name, for expressions that
/// are malformed, and for what is not supported: docs/constrained-output.md.
Expression regex_expression(GrammarBuilder& builder, std::string_view pattern, std::string_view what);

/// How an expression of a JSON schema is written in a text.
struct RegexWriting {
  /// A code point of the set, as it is written in the text.
  std::function<Expression(const tokenizers::CodePointSet&)> set;
  /// Whether the expression matches somewhere in the text, as in a JSON schema, and not all of it.
  bool is_search = false;
};
Expression regex_expression(GrammarBuilder& builder, std::string_view pattern, std::string_view what,
                            const RegexWriting& writing);

/// The numbers of code points of the texts that an expression matches.
struct TextLengths {
  std::uint64_t least = 0, most = 0;  // GrammarBuilder::kUnlimited or more: no limit
};
/// A set that is repeated, if that is all of the expression: "^[a-z]{2,8}$".
struct RepeatedSet {
  tokenizers::CodePointSet set;
  std::uint32_t least = 0, most = 0;
};
TextLengths regex_lengths(std::string_view pattern, std::string_view what);
std::optional<RepeatedSet> as_repeated_set(std::string_view pattern, std::string_view what);

}  // namespace alate::generation
