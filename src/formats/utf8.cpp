#include "formats/utf8.h"

#include <cstdint>
#include <cstring>

namespace alate::formats {
namespace {

struct Lead {
  std::size_t length = 0;                                 // 0: no sequence begins with this byte
  unsigned char second_least = 0x80, second_most = 0xBF;  // range of the second byte
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // no overlong forms
  if (byte == 0xED) return {3, 0x80, 0x9F};  // no surrogates
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // nothing past U+10FFFF
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  return {};
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t word = 0;
    if (at + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const Lead lead = lead_of(byte_at(at));
    if (lead.length == 0 || lead.length > text.size() - at) return at;
    for (std::size_t i = 1; i < lead.length; ++i) {
      const unsigned char least = i == 1 ? lead.second_least : 0x80;
      const unsigned char most = i == 1 ? lead.second_most : 0xBF;
      if (byte_at(at + i) < least || byte_at(at + i) > most) return at;
    }
    at += lead.length;
  }
  return at;
}

}  // namespace alate::formats
