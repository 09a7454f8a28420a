#include "server/api/base64.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/little_endian.h"

namespace alate::server {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Encodes a group of up to three bytes (`count` are present) as four characters.
void append_group(std::string& out, std::uint32_t bits, std::size_t count) {
  for (std::size_t i = 0; i < 4; ++i) out += i <= count ? kAlphabet[(bits >> (18 - 6 * i)) & 63] : '=';
}

}  // namespace

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
  for (const float value : values) formats::append_little_endian(bytes, std::bit_cast<std::uint32_t>(value));
  append_base64(out, bytes);
}

}  // namespace alate::server
