#include "graph/text/text_values.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "alate/error.h"
#include "graph/op.h"
#include "tensor/element.h"

namespace alate::graph {
namespace {

std::size_t bytes_of(DType dtype) { return (bits_of(dtype) + 7) / 8; }

// The element's bits, in the host's byte order, which is little-endian wherever Alate runs.
std::uint64_t load_bits(DType dtype, const std::byte* from) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes_of(dtype));
  return bits;
}

void store_bits(DType dtype, std::uint64_t bits, std::byte* to) { std::memcpy(to, &bits, bytes_of(dtype)); }

// The quiet NaN without sign and payload, which is printed as "nan"; all others are printed by their bits.
std::uint64_t plain_nan(DType dtype) {
  std::uint64_t bits = 0;
  tensor::store_double(dtype, std::numeric_limits<double>::quiet_NaN(), reinterpret_cast<std::byte*>(&bits));
  return bits;
}

DType part_of(DType dtype) { return dtype == DType::c64 ? DType::f32 : DType::f64; }

template <typename Number>
void append_number(std::string& out, Number value, int base = 10) {
  char digits[64];
  if constexpr (std::is_floating_point_v<Number>) {
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  } else {
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value, base).ptr);
  }
}

template <typename Number, typename... Base>
bool parse_number(std::string_view text, Number& value, Base... base) {
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  return error == std::errc() && stopped == text.data() + text.size();
}

bool parse_bits(DType dtype, std::string_view text, std::byte* to) {
  std::uint64_t bits = 0;
  if (!parse_number(text, bits, 16) || (bits_of(dtype) < 64 && bits >> bits_of(dtype) != 0)) return false;
  store_bits(dtype, bits, to);
  return true;
}

bool parse_float(DType dtype, std::string_view text, std::byte* to) {
  if (text.starts_with("0x")) return parse_bits(dtype, text.substr(2), to);
  if (text == "nan") {
    store_bits(dtype, plain_nan(dtype), to);
    return std::isnan(tensor::load_double(dtype, to));  // f4e2m1fn has none
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double value = text == "-inf" ? -kInfinity : kInfinity;
  if (text != "inf" && text != "-inf") {
    // Parsing through double would round twice: it does not always give the decimal's nearest f32.
    float single = 0;
    if (dtype == DType::f32 ? !parse_number(text, single) : !parse_number(text, value)) return false;
    if (dtype == DType::f32) value = single;
    if (!std::isfinite(value)) return false;  // inf and nan have their own spellings
    tensor::store_double(dtype, value, to);
    return std::isfinite(tensor::load_double(dtype, to));
  }
  tensor::store_double(dtype, value, to);
  return std::isinf(tensor::load_double(dtype, to));  // not every dtype has infinities
}

bool parse_integer(DType dtype, std::string_view text, std::byte* to) {
  const std::size_t bits = bits_of(dtype);
  if (is_signed_integer(dtype)) {
    std::int64_t value = 0;
    const std::int64_t highest = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    if (!parse_number(text, value) || value > highest || value < -highest - 1) return false;
    store_bits(dtype, static_cast<std::uint64_t>(value), to);
    return true;
  }
  std::uint64_t value = 0;
  if (!parse_number(text, value) || value > std::numeric_limits<std::uint64_t>::max() >> (64 - bits)) return false;
  store_bits(dtype, value, to);
  return true;
}

}  // namespace

bool has_text_form(DType dtype) { return contains(kAny, dtype); }

void print_element(std::string& out, DType dtype, const std::byte* from) {
  if (is_complex(dtype)) {
    out += '(';
    print_element(out, part_of(dtype), from);
    out += ',';
    print_element(out, part_of(dtype), from + bytes_of(dtype) / 2);
    out += ')';
    return;
  }
  const std::uint64_t bits = load_bits(dtype, from);
  if (dtype == DType::boolean) {
    out += bits != 0 ? "true" : "false";
  } else if (is_signed_integer(dtype)) {
    const auto unused = static_cast<int>(64 - bits_of(dtype));
    append_number(out, static_cast<std::int64_t>(bits << unused) >> unused);
  } else if (is_unsigned_integer(dtype)) {
    append_number(out, bits);
  } else if (const double value = tensor::load_double(dtype, from); std::isnan(value)) {
    if (bits != plain_nan(dtype)) {
      out += "0x";
      append_number(out, bits, 16);
    } else {
      out += "nan";
    }
  } else if (dtype == DType::f64) {
    append_number(out, value);
  } else {
    append_number(out, static_cast<float>(value));
  }
}

bool parse_element(DType dtype, std::string_view text, std::byte* to) {
  if (is_complex(dtype)) {
    const std::size_t comma = text.find(',');
    return text.size() > 2 && text.front() == '(' && text.back() == ')' && comma != text.npos &&
           parse_float(part_of(dtype), text.substr(1, comma - 1), to) &&
           parse_float(part_of(dtype), text.substr(comma + 1, text.size() - comma - 2), to + bytes_of(dtype) / 2);
  }
  if (dtype == DType::boolean) {
    *to = std::byte{text == "true" ? std::uint8_t{1} : std::uint8_t{0}};
    return text == "true" || text == "false";
  }
  return is_float(dtype) ? parse_float(dtype, text, to) : parse_integer(dtype, text, to);
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

bool parse_hexadecimal(std::string_view text, std::span<std::byte> bytes) {
  if (text.size() != bytes.size() * 2) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t byte = 0;
    if (!parse_number(text.substr(i * 2, 2), byte, 16)) return false;
    bytes[i] = std::byte{byte};
  }
  return true;
}

}  // namespace alate::graph
