// GEMM micro-kernels by operand packing; gemm.h says what they compute.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

struct GemmArguments;
struct GemmBlock;

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

/// The micro-kernel for one kind of words. The engine calls gemm.h.
struct GemmKernel {
  WordKind kind = WordKind::f32;
  std::size_t panel_width = 0;    // columns of W in one packed panel
  std::size_t rows_per_tile = 0;  // rows of A per tile
  void (*run)(const GemmBlock&) = nullptr;
  /// Fills in row_sums for rows [begin, end) of a finished C.
  void (*sum_rows)(const GemmArguments&, std::size_t begin, std::size_t end) = nullptr;
  std::size_t weight_bytes = 4;  // of W per word of A: a whole word, or an f32 stored in fewer bytes
};

/// The f32 kernel of the chosen instruction set. Thread-safe. Throws what kernels() throws.
const GemmKernel& f32_gemm();

}  // namespace alate::cpu
