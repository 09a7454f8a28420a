// Objects and tuples in JSON schemas.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "formats/json.h"
#include "generation/constraint/grammar_parts.h"
#include "generation/constraint/schema_place.h"

namespace alate::generation {

/// By properties, required and additionalProperties; `value_of` makes the expression of a property's schema.
Expression object_expression(
    GrammarBuilder& builder, const formats::Json& schema, const SchemaPlace& place,
    const std::function<Expression(const formats::Json& schema, const SchemaPlace& place)>& value_of);

/// An array with `first` at its beginning and then `item`s, `least` to `most` elements in all. Not all of `first` need
/// be there.
Expression tuple_expression(GrammarBuilder& builder, std::span<const Expression> first, std::optional<Expression> item,
                            std::uint32_t least, std::uint32_t most);

}  // namespace alate::generation
