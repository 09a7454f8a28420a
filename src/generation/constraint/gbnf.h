// Grammars in GBNF, the notation of llama.cpp.
#pragma once

#include <string_view>

#include "generation/constraint/grammar_parts.h"

namespace alate::generation {

/// Texts of the rule `root`. Throws invalid_argument, with `what` as its name and the line, for a grammar that is
/// malformed or lacks a rule.
Expression gbnf_expression(GrammarBuilder& builder, std::string_view grammar, std::string_view what);

}  // namespace alate::generation
