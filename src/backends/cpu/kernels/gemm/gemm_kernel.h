// The insides of matrix products, by what the operands' words hold; gemm.h says what they compute.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

struct GemmArguments;
struct GemmBlock;

/// What the words of a product's operands hold.
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

/// The inside of matrix products of one kind: see gemm.h, which is what the engine calls.
struct GemmKernel {
  WordKind kind = WordKind::f32;
  std::size_t panel_width = 0;    // columns of W in one packed panel
  std::size_t rows_per_tile = 0;  // rows of A that are multiplied with a panel at a time
  void (*run)(const GemmBlock&) = nullptr;
  /// Fills in the row_sums of rows [begin, end) of a C that is done.
  void (*sum_rows)(const GemmArguments&, std::size_t begin, std::size_t end) = nullptr;
  std::size_t weight_bytes = 4;  // that W has for each word of A: a word too, or a smaller form of an f32
};

/// That of f32 of the chosen instruction set. Thread-safe. Throws what kernels() throws.
const GemmKernel& f32_gemm();

}  // namespace alate::cpu
