#include "backends/cpu/kernels/rows/byte_rows.h"

#include <bit>
#include <cstring>

#include "backends/cpu/kernels/rows/row_kernels.h"

namespace alate::cpu {
namespace {

std::uint64_t word_at(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// With the number of words known, a row's loop is unrolled.
template <std::size_t kWords>
void count_differences(const std::uint8_t* m, const std::uint64_t* x, std::size_t rows, std::uint32_t* out) {
  for (std::size_t row = 0; row < rows; ++row, m += kWords * sizeof(std::uint64_t)) {
    int count = 0;
    for (std::size_t i = 0; i < kWords; ++i) count += std::popcount(word_at(m + i * sizeof(std::uint64_t)) ^ x[i]);
    out[row] = static_cast<std::uint32_t>(count);
  }
}

}  // namespace

void dot_byte_rows(const ByteRowArguments& arguments, const Kernels& set) { row_kernels(set).dot_byte_rows(arguments); }

void bit_differences(const std::uint8_t* m, const std::uint64_t* x, std::size_t words, std::size_t rows,
                     std::uint32_t* out) {
  switch (words) {
    case 6: return count_differences<6>(m, x, rows, out);    // 384 numbers
    case 12: return count_differences<12>(m, x, rows, out);  // 768
    case 16: return count_differences<16>(m, x, rows, out);  // 1024
    default: break;
  }
  for (std::size_t row = 0; row < rows; ++row, m += words * sizeof(std::uint64_t)) {
    int count = 0;
    for (std::size_t i = 0; i < words; ++i) count += std::popcount(word_at(m + i * sizeof(std::uint64_t)) ^ x[i]);
    out[row] = static_cast<std::uint32_t>(count);
  }
}

}  // namespace alate::cpu
