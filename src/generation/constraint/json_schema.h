// JSON schemas (draft 2020-12) as grammars of JSON texts.
#pragma once

#include <string_view>

#include "formats/json.h"
#include "generation/constraint/grammar_parts.h"

namespace alate::generation {

/// Texts that the schema describes: properties in its order, none that it does not mention unless additionalProperties
/// allows it. Throws invalid_argument, with `what` as the schema's name and the place as a JSON pointer, for keywords
/// outside of the subset in docs/constrained-output.md.
Expression schema_expression(GrammarBuilder& builder, const formats::Json& schema, std::string_view what);

}  // namespace alate::generation
