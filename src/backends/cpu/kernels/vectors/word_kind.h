// Contents of the 32-bit words that operands of products are packed into.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

/// Contents of the operands' 32-bit words.
enum class WordKind : std::uint8_t {
  f32,     // one number
  bf16,    // two bf16; products and sums in f32
  bytes,   // four u8 of A, four s8 of W; sums in i32
  shorts,  // two i16 of A and of W; sums in i32
};

/// Values in a word.
constexpr std::size_t values_per_word(WordKind kind) {
  return kind == WordKind::f32 ? 1 : kind == WordKind::bytes ? 4 : 2;
}

}  // namespace alate::cpu
