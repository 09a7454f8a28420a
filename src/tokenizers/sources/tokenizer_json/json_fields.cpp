#include "tokenizers/sources/tokenizer_json/json_fields.h"

#include <limits>

#include "alate/error.h"

namespace alate::tokenizers {
namespace {

[[noreturn]] void throw_kind(const Json& value, std::string_view expected, std::string_view what) {
  throw make_error(ErrorCode::corrupt, what, " must be ", expected, " but is ", value.kind());
}

std::string path(std::string_view where, std::string_view key) { return std::string(where) + '.' + std::string(key); }

// The nesting of a JSON text is limited when it is read.
std::size_t count_parts(const Json& value) {
  std::size_t count = 0;
  if (value.is_object()) {
    count = value.find("type") == nullptr ? 0 : 1;
    for (const auto& member : value.as_object("part")) count += count_parts(member.second);
  } else if (value.is_array()) {
    for (const Json& element : value.as_array("parts")) count += count_parts(element);
  }
  return count;
}

}  // namespace

const Json& member(const Json& object, std::string_view key, std::string_view where) {
  if (!object.is_object()) throw_kind(object, "an object", where);
  const Json* found = object.find(key);
  if (found == nullptr) throw make_error(ErrorCode::corrupt, where, " has no member \"", key, '"');
  return *found;
}

const std::string& string_member(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = member(object, key, where);
  if (!value.is_string()) throw_kind(value, "a string", path(where, key));
  return value.as_string(key);
}

bool bool_member(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = member(object, key, where);
  if (!value.is_bool()) throw_kind(value, "a boolean", path(where, key));
  return value.as_bool(key);
}

const Json::Array& array_member(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = member(object, key, where);
  if (!value.is_array()) throw_kind(value, "an array", path(where, key));
  return value.as_array(key);
}

const Json::Object& object_member(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = member(object, key, where);
  if (!value.is_object()) throw_kind(value, "an object", path(where, key));
  return value.as_object(key);
}

std::int32_t count_member(const Json& object, std::string_view key, std::string_view where) {
  return as_count(member(object, key, where), path(where, key));
}

const std::string& as_string(const Json& value, std::string_view where) {
  if (!value.is_string()) throw_kind(value, "a string", where);
  return value.as_string(where);
}

std::int32_t as_count(const Json& value, std::string_view where) {
  if (!value.is_integer()) throw_kind(value, "a whole number", where);
  try {
    const std::int64_t number = value.as_int(where);
    if (number >= 0 && number <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(number);
  } catch (const Error&) {  // does not fit in a signed 64-bit integer: the message below says what is expected
  }
  throw make_error(ErrorCode::corrupt, where, " must be from 0 to 2147483647");
}

const std::string& part_type(const Json& part, std::string_view where) { return string_member(part, "type", where); }

void throw_unknown_part(std::string_view kind, std::string_view type, std::string_view where) {
  throw make_error(ErrorCode::unsupported, where, ": the ", kind, " \"", type, "\" is not supported");
}

void check_depth(int depth, std::string_view where) {
  if (depth > kMaxPartDepth)
    throw make_error(ErrorCode::corrupt, where, ": parts are nested more than ", kMaxPartDepth, " deep");
}

void check_part_count(const Json& part, std::string_view where) {
  const std::size_t count = count_parts(part);
  if (count > kMaxParts)
    throw make_error(ErrorCode::resource_exhausted, where, " has ", count, " parts; ", kMaxParts, " are allowed");
}

}  // namespace alate::tokenizers
