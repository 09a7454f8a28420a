// Strings in JSON schemas.
#pragma once

#include "formats/json.h"
#include "generation/constraint/grammar_parts.h"
#include "generation/constraint/schema_place.h"

namespace alate::generation {

/// By minLength, maxLength, pattern and format.
Expression string_expression(GrammarBuilder& builder, const formats::Json& schema, const SchemaPlace& place);

}  // namespace alate::generation
