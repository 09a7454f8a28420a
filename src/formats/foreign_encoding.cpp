#include "formats/foreign_encoding.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace alate::formats {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kSampleBytes = 4096;
// Without a byte order mark, so many zero bytes, all at odd or all at even positions, and in so large a part of the
// pairs, are evidence: texts in UTF-8 hardly ever have any.
constexpr std::size_t kLeastZeros = 8;
constexpr std::size_t kPairsPerZero = 3;

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

bool has_utf16_mark(std::string_view text) { return text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv); }

std::string_view foreign_encoding(std::string_view start) {
  start = start.substr(0, kSampleBytes);
  if (start.starts_with("\xFF\xFE\0\0"sv) || start.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  // Every text with a line break in it has a zero byte.
  if (has_utf16_mark(start)) return start.find('\0') == std::string_view::npos ? "" : "UTF-16";
  std::array<std::size_t, 4> zeros{};  // by position modulo 4
  const std::size_t quads = start.size() / 4;
  for (std::size_t i = 0; i < quads * 4; ++i) zeros[i % 4] += start[i] == '\0' ? 1 : 0;
  if (quads >= kLeastZeros) {
    if (zeros[2] == quads && zeros[3] == quads && zeros[0] < quads / 2) return "UTF-32LE";
    if (zeros[0] == quads && zeros[1] == quads && zeros[3] < quads / 2) return "UTF-32BE";
  }
  const std::size_t even = zeros[0] + zeros[2], odd = zeros[1] + zeros[3];
  const std::size_t enough = std::max(kLeastZeros, quads * 2 / kPairsPerZero);
  if (odd >= enough && even == 0) return "UTF-16LE";
  if (even >= enough && odd == 0) return "UTF-16BE";
  return "";
}

std::string conversion_advice(std::string_view encoding) {
  return "convert it with iconv -f " + std::string(encoding) + " -t UTF-8";
}

}  // namespace alate::formats
