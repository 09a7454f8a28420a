// Sets of code points as sequences of byte ranges.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "tokenizers/regex/code_point_set.h"

namespace alate::generation {

struct ByteRange {
  std::uint8_t first, last;
};

/// The UTF-8 of a range of code points: its first `count` bytes range independently of each other.
struct Utf8Sequence {
  std::array<ByteRange, 4> bytes;
  std::size_t count;
};

/// Calls `each` with sequences that together are the UTF-8 of the set. Surrogates have none.
void for_each_utf8_sequence(const tokenizers::CodePointSet& set, const std::function<void(const Utf8Sequence&)>& each);

}  // namespace alate::generation
