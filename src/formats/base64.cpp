#include "formats/base64.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "formats/little_endian.h"

namespace alate::formats {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Encodes a group of up to three bytes (`count` are present) as four characters.
void append_group(std::string& out, std::uint32_t bits, std::size_t count) {
  for (std::size_t i = 0; i < 4; ++i) out += i <= count ? kAlphabet[(bits >> (18 - 6 * i)) & 63] : '=';
}

constexpr int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

bool decode_base64(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (text.empty() || text.size() % 4 != 0) return false;
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const int digit = base64_digit(c);
    if (digit < 0) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return true;
}

void append_base64(std::string& out, std::span<const std::byte> bytes) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) bits |= std::to_integer<std::uint32_t>(bytes[at + i]) << (16 - 8 * i);
    append_group(out, bits, count);
  }
}

void append_base64(std::string& out, std::span<const float> values) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size() * sizeof(float));
  for (const float value : values) append_little_endian(bytes, std::bit_cast<std::uint32_t>(value));
  append_base64(out, bytes);
}

}  // namespace alate::formats
