// From expressions to tables.
#pragma once

#include <memory>

#include "generation/constraint/grammar_parts.h"
#include "generation/constraint/grammar_tables.h"

namespace alate::generation {

/// Throws invalid_argument if no text is `root`, for left recursion and for grammars that are too large; cancelled.
std::unique_ptr<const GrammarTables> compile_grammar(GrammarBuilder::Parts& parts, Expression root);

}  // namespace alate::generation
