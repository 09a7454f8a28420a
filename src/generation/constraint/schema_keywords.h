// The keywords of JSON schemas.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/json.h"
#include "generation/constraint/schema_place.h"

namespace alate::generation {

/// The types of JSON values, as bits.
enum JsonTypes : std::uint8_t {
  kNull = 1,
  kBoolean = 2,
  kObject = 4,
  kArray = 8,
  kString = 16,
  kInteger = 32,
  kNumber = 64,  // those that are not whole
  kAnyNumber = kInteger | kNumber,
  kAllTypes = 127,
};

/// Whether a keyword says nothing of what values are like: titles, descriptions, defaults.
bool is_annotation(std::string_view keyword);
/// The types that a keyword is about; 0 for those that are about all, and kAllTypes + 1 for unknown ones.
unsigned types_about(std::string_view keyword);

/// Those that `type` and `nullable` state; all if they state none.
unsigned stated_types(const formats::Json& schema, const SchemaPlace& place);
/// The type of a value.
unsigned type_of(const formats::Json& value);
/// Whether two values are equal, as JSON schemas see it: 1 is 1.0, and the order of members does not count.
bool are_equal(const formats::Json& a, const formats::Json& b);
/// Whether a reference and annotations are all of a schema.
bool is_only_reference(const formats::Json& schema);

}  // namespace alate::generation
