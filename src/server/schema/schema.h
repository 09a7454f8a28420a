// The subset of JSON Schema used by the route tables to validate requests. The same text appears in /openapi.json, so
// that documentation and validation agree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::server {

/// What is wrong with a value, and where.
struct SchemaViolation {
  std::string place;    // "input[3]"; empty for the whole value
  std::string message;  // "input[3] is a number; it must be a string"
};

/// A parsed schema; immutable. Supports type (one or a list), properties, required, items, anyOf, enum, minimum,
/// maximum, minItems, maxItems, minLength, maxLength, additionalProperties (false, or a schema). description, title,
/// default, example, examples, format and pattern are kept but not checked: routes check text against a pattern
/// themselves. Members not listed in `properties` are allowed unless additionalProperties says otherwise. A null member
/// counts as absent if it is optional and its schema does not accept null, unless its schema has "nullable": false.
class Schema {
 public:
  /// Throws internal for an unknown keyword, because the tables are our own.
  static Schema parse(std::string_view text);

  /// The first violation in the value's order; nothing if it is valid.
  std::optional<SchemaViolation> check(const formats::Json& value) const;
  const formats::Json& json() const;

  struct Node;

 private:
  explicit Schema(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace alate::server
