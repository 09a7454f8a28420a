// Schemas of extraction as JSON.
#pragma once

#include <cstddef>

#include "alate/extract.h"
#include "formats/json.h"

namespace alate::pipelines {

/// Of a schema as JSON.
inline constexpr std::size_t kMostSchemaBytes = std::size_t{4} << 20;

/// Of an object as ExtractSchema::parse reads it. Throws invalid_argument.
ExtractSchema read_schema(const formats::Json& json);

/// Throws invalid_argument for a schema that asks for nothing, for names that are empty or repeated, a threshold that
/// is no score, and a classification with fewer than two labels.
void check_schema(const ExtractSchema& schema);

}  // namespace alate::pipelines
