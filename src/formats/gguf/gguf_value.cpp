#include "formats/gguf/gguf_value.h"

#include <bit>
#include <cmath>
#include <limits>

#include "alate/error.h"
#include "formats/little_endian.h"
#include "formats/utf8.h"

namespace alate::formats {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kMaxArrayDepth = 4;
constexpr std::size_t kArrayHeadBytes = 12;  // type, length

Bytes take(Bytes& left, std::uint64_t size) {
  if (size > left.size()) throw Error(ErrorCode::corrupt, "a value ends beyond the file; is the file whole?");
  const Bytes taken = left.first(static_cast<std::size_t>(size));
  left = left.subspan(taken.size());
  return taken;
}

template <typename Integer>
Integer take_integer(Bytes& left) {
  return load_little_endian<Integer>(take(left, sizeof(Integer)));
}

// 0 for strings and arrays.
std::size_t fixed_bytes(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean: return 1;
    case GgufType::u16:
    case GgufType::i16: return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32: return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64: return 8;
    default: return 0;
  }
}

[[noreturn]] void refuse(std::string_view what, std::string_view wanted, GgufType type) {
  throw make_error(ErrorCode::corrupt, what, " must be ", wanted, " but is ", to_string(type));
}

void check_booleans(Bytes bytes) {
  for (const std::byte byte : bytes) {
    if (std::to_integer<unsigned>(byte) > 1) throw Error(ErrorCode::corrupt, "a boolean is neither 0 nor 1");
  }
}

// The bytes of one string or array with its length, which have been checked before.
std::size_t stored_bytes(GgufType type, Bytes bytes) {
  Bytes left = bytes;
  if (type == GgufType::string) return 8 + static_cast<std::size_t>(load_little_endian<std::uint64_t>(bytes));
  parse_gguf_value(left, static_cast<std::uint32_t>(type));
  return bytes.size() - left.size();
}

}  // namespace

std::string_view to_string(GgufType type) {
  constexpr std::string_view kNames[] = {"u8",      "i8",     "u16",   "i16", "u32", "i32", "f32",
                                         "boolean", "string", "array", "u64", "i64", "f64"};
  const auto number = static_cast<std::size_t>(type);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

GgufValue parse_gguf_value(Bytes& left, std::uint32_t type, int depth) {
  if (type > static_cast<std::uint32_t>(GgufType::f64))
    throw make_error(ErrorCode::corrupt, "a value is of type ", type, ", which there is none of");
  const auto known = static_cast<GgufType>(type);
  if (known == GgufType::string) {
    const std::uint64_t size = take_integer<std::uint64_t>(left);
    return {known, take(left, size)};
  }
  if (known != GgufType::array) {
    const Bytes bytes = take(left, fixed_bytes(known));
    if (known == GgufType::boolean) check_booleans(bytes);
    return {known, bytes};
  }
  if (depth == kMaxArrayDepth)
    throw make_error(ErrorCode::unsupported, "arrays lie in each other more than ", kMaxArrayDepth, " deep: arrays");
  const Bytes start = left;
  const std::uint32_t element = take_integer<std::uint32_t>(left);
  const std::uint64_t count = take_integer<std::uint64_t>(left);
  if (element > static_cast<std::uint32_t>(GgufType::f64))
    throw make_error(ErrorCode::corrupt, "an array has elements of type ", element, ", which there is none of");
  const auto element_type = static_cast<GgufType>(element);
  const std::size_t fixed = fixed_bytes(element_type);
  const std::size_t least = fixed != 0 ? fixed : element_type == GgufType::string ? 8 : kArrayHeadBytes;
  if (count > left.size() / least)
    throw Error(ErrorCode::corrupt, "an array is longer than the file; is the file whole?");
  if (fixed != 0) {
    const Bytes bytes = take(left, count * fixed);
    if (element_type == GgufType::boolean) check_booleans(bytes);
  } else {
    for (std::uint64_t i = 0; i < count; ++i) parse_gguf_value(left, element, depth + 1);
  }
  return {known, start.first(start.size() - left.size())};
}

bool GgufValue::as_bool(std::string_view what) const {
  if (type_ != GgufType::boolean) refuse(what, "a boolean", type_);
  return std::to_integer<unsigned>(bytes_[0]) != 0;
}

std::int64_t GgufValue::as_int(std::string_view what) const {
  switch (type_) {
    case GgufType::u8: return load_little_endian<std::uint8_t>(bytes_);
    case GgufType::i8: return static_cast<std::int8_t>(load_little_endian<std::uint8_t>(bytes_));
    case GgufType::u16: return load_little_endian<std::uint16_t>(bytes_);
    case GgufType::i16: return static_cast<std::int16_t>(load_little_endian<std::uint16_t>(bytes_));
    case GgufType::u32: return load_little_endian<std::uint32_t>(bytes_);
    case GgufType::i32: return static_cast<std::int32_t>(load_little_endian<std::uint32_t>(bytes_));
    case GgufType::i64: return static_cast<std::int64_t>(load_little_endian<std::uint64_t>(bytes_));
    case GgufType::u64: {
      const auto value = load_little_endian<std::uint64_t>(bytes_);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw make_error(ErrorCode::corrupt, what, " is ", value, ", which is too large");
      return static_cast<std::int64_t>(value);
    }
    default: refuse(what, "a whole number", type_);
  }
}

std::uint64_t GgufValue::as_count(std::string_view what) const {
  if (type_ == GgufType::u64) return load_little_endian<std::uint64_t>(bytes_);
  const std::int64_t value = as_int(what);
  if (value < 0) throw make_error(ErrorCode::corrupt, what, " is ", value, " and must not be negative");
  return static_cast<std::uint64_t>(value);
}

double GgufValue::as_double(std::string_view what) const {
  switch (type_) {
    case GgufType::f32: return std::bit_cast<float>(load_little_endian<std::uint32_t>(bytes_));
    case GgufType::f64: return std::bit_cast<double>(load_little_endian<std::uint64_t>(bytes_));
    case GgufType::u64: return static_cast<double>(load_little_endian<std::uint64_t>(bytes_));
    case GgufType::boolean:
    case GgufType::string:
    case GgufType::array: refuse(what, "a number", type_);
    default: return static_cast<double>(as_int(what));
  }
}

std::string_view GgufValue::as_bytes(std::string_view what) const {
  if (type_ != GgufType::string) refuse(what, "a string", type_);
  return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
}

std::string_view GgufValue::as_text(std::string_view what) const {
  const std::string_view text = as_bytes(what);
  if (valid_utf8_prefix(text) < text.size()) throw make_error(ErrorCode::corrupt, what, " is not UTF-8 text");
  return text;
}

GgufArray GgufValue::as_array(std::string_view what) const {
  if (type_ != GgufType::array) refuse(what, "an array", type_);
  return {static_cast<GgufType>(load_little_endian<std::uint32_t>(bytes_)),
          static_cast<std::size_t>(load_little_endian<std::uint64_t>(bytes_.subspan(4))),
          bytes_.subspan(kArrayHeadBytes)};
}

GgufValue GgufArray::at(std::size_t index) const {
  const std::size_t size = fixed_bytes(type_);
  return {type_, bytes_.subspan(index * size, size)};
}

GgufValue GgufArray::Iterator::operator*() const {
  const std::size_t fixed = fixed_bytes(type_);
  if (fixed != 0) return {type_, bytes_.first(fixed)};
  const std::size_t size = stored_bytes(type_, bytes_);
  if (type_ == GgufType::string) return {type_, bytes_.subspan(8, size - 8)};
  return {type_, bytes_.first(size)};
}

GgufArray::Iterator& GgufArray::Iterator::operator++() {
  const std::size_t fixed = fixed_bytes(type_);
  bytes_ = bytes_.subspan(fixed != 0 ? fixed : stored_bytes(type_, bytes_));
  --left_;
  return *this;
}

}  // namespace alate::formats
