// A JSON value, immutable by convention. Parsed by Boost.JSON's incremental parser under limits, since files and
// requests may be hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace alate::formats {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;  // in text order

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(std::int64_t value) : value_(value) {}
  Json(std::uint64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const;  // written without fraction or exponent, and fits in 64 bits
  bool is_number() const;
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  std::string_view kind() const;  // "null", "boolean", "number", "string", "array", "object"

  /// The value as the requested type; throws invalid_argument, with `what` as the value's name, if it has another type.
  bool as_bool(std::string_view what) const;
  std::int64_t as_int(std::string_view what) const;  // accepts an integral double
  double as_double(std::string_view what) const;
  const std::string& as_string(std::string_view what) const;
  const Array& as_array(std::string_view what) const;
  const Object& as_object(std::string_view what) const;

  /// The member of an object; null if there is none or this is not an object. Linear in the number of members.
  const Json* find(std::string_view key) const;
  /// The same, and null for a member that is null itself.
  const Json* find_value(std::string_view key) const;
  /// The member, or a default if it is absent or null. Throws invalid_argument naming `key` if it has the wrong kind.
  bool get_bool(std::string_view key, bool otherwise) const;
  std::int64_t get_int(std::string_view key, std::int64_t otherwise) const;
  double get_double(std::string_view key, double otherwise) const;
  std::string get_string(std::string_view key, std::string_view otherwise) const;

  /// Calls `visitor` with the value as std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array or
  /// Object.
  template <typename Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), value_);
  }

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

struct JsonLimits {
  std::size_t max_depth = 64;
  std::size_t max_bytes = std::size_t{256} << 20;
  std::size_t max_values = std::size_t{16}
                           << 20;  // of any kind; each takes about 40 bytes of memory, however short its text
};

/// Parses one JSON text (UTF-8, followed only by white space; NaN, comments and trailing commas are rejected).
/// Duplicate keys in an object and invalid UTF-8 are rejected; \u escapes of lone surrogates become U+FFFD. Throws
/// corrupt with `what` (the file's or input's name), the byte offset and the reason; resource_exhausted when it exceeds
/// the limits on bytes or values.
Json parse_json(std::string_view text, std::string_view what, const JsonLimits& limits = {});

/// Compact JSON text; finite doubles print in their shortest round-trip form, others as null.
std::string to_json_text(const Json& value);
/// Appends `text` as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);
/// A name from a file, for messages: a JSON string, truncated if long.
std::string quoted_name(std::string_view name);
/// Appends the shortest text that reads back as the same float or double ("0.1", "1e-07"); null when not finite.
void append_json_number(std::string& out, float value);
void append_json_number(std::string& out, double value);

}  // namespace alate::formats
