// JSON Schema, as much of it as the routes' tables use: what a request must look like. The same text stands in
// /openapi.json, so that what is documented is what is checked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::server {

/// What is wrong with a value, and where.
struct SchemaViolation {
  std::string place;    // "input[3]"; empty for the whole
  std::string message;  // "input[3] is a number; it must be a string"
};

/// A parsed schema; immutable. Knows type (one or a list of them), properties, required, items, anyOf, enum, minimum,
/// maximum, minItems, maxItems, minLength, maxLength, additionalProperties (false, or a schema); description, title,
/// default, example, examples, format and pattern are kept and not checked: a route reads text of a pattern itself.
/// Members that `properties` does not name are allowed unless additionalProperties says otherwise. A member that is
/// null counts as absent where it is not required and its schema does not take null.
class Schema {
 public:
  /// Throws internal for a keyword that it does not know: the tables are ours.
  static Schema parse(std::string_view text);

  /// The first violation in the order of the value; nothing when it fits.
  std::optional<SchemaViolation> check(const formats::Json& value) const;
  const formats::Json& json() const;

  struct Node;

 private:
  explicit Schema(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace alate::server
