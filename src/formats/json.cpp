#include "formats/json.h"

#include <cmath>
#include <limits>

#include "alate/error.h"

namespace alate::formats {
namespace {

[[noreturn]] void refuse(std::string_view what, const Json& found, std::string_view wanted) {
  throw make_error(ErrorCode::invalid_argument, what, " is ", found.kind(), " where ", wanted, " is expected");
}

// 2^63: the first double above every int64.
constexpr double kInt64End = 9223372036854775808.0;

}  // namespace

bool Json::is_integer() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
}

bool Json::is_number() const { return is_integer() || std::holds_alternative<double>(value_); }

std::string_view Json::kind() const {
  if (is_null()) return "null";
  if (is_bool()) return "boolean";
  if (is_number()) return "number";
  if (is_string()) return "string";
  return is_array() ? "array" : "object";
}

bool Json::as_bool(std::string_view what) const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  refuse(what, *this, "true or false");
}

std::int64_t Json::as_int(std::string_view what) const {
  if (const std::int64_t* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const std::uint64_t* value = std::get_if<std::uint64_t>(&value_)) {
    if (*value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(*value);
    }
    throw make_error(ErrorCode::invalid_argument, what, " is ", *value, ", which does not fit in 63 bits");
  }
  if (const double* value = std::get_if<double>(&value_)) {
    if (*value >= -kInt64End && *value < kInt64End && std::trunc(*value) == *value) {
      return static_cast<std::int64_t>(*value);
    }
    throw make_error(ErrorCode::invalid_argument, what, " is ", to_json_text(*this), " where an integer is expected");
  }
  refuse(what, *this, "an integer");
}

double Json::as_double(std::string_view what) const {
  if (const double* value = std::get_if<double>(&value_)) return *value;
  if (const std::int64_t* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const std::uint64_t* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  refuse(what, *this, "a number");
}

const std::string& Json::as_string(std::string_view what) const {
  if (const std::string* value = std::get_if<std::string>(&value_)) return *value;
  refuse(what, *this, "a string");
}

const Json::Array& Json::as_array(std::string_view what) const {
  if (const Array* value = std::get_if<Array>(&value_)) return *value;
  refuse(what, *this, "an array");
}

const Json::Object& Json::as_object(std::string_view what) const {
  if (const Object* value = std::get_if<Object>(&value_)) return *value;
  refuse(what, *this, "an object");
}

const Json* Json::find(std::string_view key) const {
  const Object* object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  for (const Member& member : *object) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

bool Json::get_bool(std::string_view key, bool otherwise) const {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? otherwise : value->as_bool(key);
}

std::int64_t Json::get_int(std::string_view key, std::int64_t otherwise) const {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? otherwise : value->as_int(key);
}

double Json::get_double(std::string_view key, double otherwise) const {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? otherwise : value->as_double(key);
}

const Json* Json::find_value(std::string_view key) const {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string Json::get_string(std::string_view key, std::string_view otherwise) const {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? std::string(otherwise) : value->as_string(key);
}

}  // namespace alate::formats
