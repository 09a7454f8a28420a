// Schemas of which no value fits two.
#pragma once

#include "formats/json.h"
#include "generation/constraint/schema_merge.h"
#include "generation/constraint/schema_place.h"

namespace alate::generation {

/// Whether no text that is written for one of two flat schemas fits the other, as far as can be proved: by types, by
/// values, or by a property that one requires and that has other values in the other or is not written there.
bool are_disjoint(const SchemaMerger& merger, const formats::Json& a, const formats::Json& b, const SchemaPlace& place,
                  int depth = 0);

}  // namespace alate::generation
