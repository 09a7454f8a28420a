#include "generation/constraint/utf8_ranges.h"

#include <algorithm>
#include <string>

#include "tokenizers/unicode/utf8.h"

namespace alate::generation {
namespace {

// Code points of one length in which all bytes but the first `fixed` take all of their values, or the range is one
// code point.
void emit(char32_t first, char32_t last, const std::function<void(const Utf8Sequence&)>& each) {
  std::string low, high;
  tokenizers::append_utf8(low, first);
  tokenizers::append_utf8(high, last);
  Utf8Sequence sequence{{}, low.size()};
  for (std::size_t i = 0; i < low.size(); ++i)
    sequence.bytes[i] = {static_cast<std::uint8_t>(low[i]), static_cast<std::uint8_t>(high[i])};
  each(sequence);
}

// Cuts a range of one length until the bytes of its ends differ only where all bytes behind take all values.
void split(char32_t first, char32_t last, const std::function<void(const Utf8Sequence&)>& each) {
  for (const char32_t low_bits : {0x3FU, 0xFFFU, 0x3FFFFU}) {
    if ((first & ~low_bits) == (last & ~low_bits)) continue;  // the same bytes before these
    if ((first & low_bits) != 0) {
      const char32_t middle = first | low_bits;
      split(first, middle, each);
      return split(middle + 1, last, each);
    }
    if ((last & low_bits) != low_bits) {
      const char32_t middle = last & ~low_bits;
      split(first, middle - 1, each);
      return split(middle, last, each);
    }
  }
  emit(first, last, each);
}

}  // namespace

void for_each_utf8_sequence(const tokenizers::CodePointSet& set, const std::function<void(const Utf8Sequence&)>& each) {
  constexpr tokenizers::CodePointRange kOneLength[] = {
      {0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, tokenizers::kLastCodePoint}};
  for (const tokenizers::CodePointRange& range : set.ranges()) {
    for (const tokenizers::CodePointRange& part : kOneLength) {
      const char32_t first = std::max(range.first, part.first), last = std::min(range.last, part.last);
      if (first > last) continue;
      if (last < 0x80) {
        emit(first, last, each);
      } else {
        split(first, last, each);
      }
    }
  }
}

}  // namespace alate::generation
