// A place in a JSON schema, for errors and references.
#pragma once

#include <string>
#include <string_view>

#include "alate/error.h"
#include "formats/json.h"
#include "generation/constraint/compile_budget.h"

namespace alate::generation {

/// The document and where in it something is, as a JSON pointer (RFC 6901) behind '#'.
struct SchemaPlace {
  std::string_view what;  // the schema's name
  std::string pointer = "#";

  SchemaPlace at(std::string_view key) const;
  SchemaPlace at(std::string_view key, std::size_t index) const;
  /// "the schema, at #/properties/a".
  std::string text() const;
  /// Throws invalid_argument: the place `problem`.
  [[noreturn]] void refuse(std::string_view problem) const;
};

/// The part of `root` that a reference ("#/$defs/node") names. Throws invalid_argument, at `place`, if there is none.
const formats::Json& referred(const formats::Json& root, std::string_view reference, const SchemaPlace& place,
                              CompileBudget& budget);

}  // namespace alate::generation
