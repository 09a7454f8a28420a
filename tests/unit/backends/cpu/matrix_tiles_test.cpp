// The product loops for tile registers, with registers that are emulated: few processors have any.
#include "backends/cpu/kernels/gemm/gemm_matrix_tiles.inl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/unit/backends/cpu/word_problems.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

// What an instruction would fault over.
int faults = 0;

// Registers as Intel's manual describes them (volume 1, chapter 18, and volume 2: LDTILECFG, TILELOADD, TILESTORED,
// TILEZERO, TDPBUSD and TDPBF16PS).
class EmulatedTiles {
 public:
  void configure(const TileShapes& shapes) {
    std::uint8_t bytes[64];
    std::memcpy(bytes, &shapes, 64);
    is_configured_ = true;
    if (bytes[0] != 1 || bytes[1] != 0) ++faults;
    for (std::size_t i = 2; i < 16; ++i) faults += bytes[i] != 0;
    for (std::size_t i = 32; i < 48; ++i) faults += bytes[i] != 0;
    for (std::size_t i = 56; i < 64; ++i) faults += bytes[i] != 0;
    for (std::size_t i = 0; i < 8; ++i) {
      Register& tile = registers_[i];
      tile = {};
      tile.row_bytes = static_cast<std::size_t>(bytes[16 + 2 * i] + 256 * bytes[17 + 2 * i]);
      tile.rows = bytes[48 + i];
      if (tile.row_bytes > 64 || tile.rows > 16 || (tile.rows == 0) != (tile.row_bytes == 0)) ++faults;
    }
  }
  void release() { is_configured_ = false; }
  template <int kTile>
  void zero() {
    std::memset(at<kTile>().bytes, 0, sizeof(Register::bytes));
  }
  template <int kTile>
  void load(const float* from, std::size_t stride) {
    Register& tile = at<kTile>();
    std::memset(tile.bytes, 0, sizeof(tile.bytes));
    for (std::size_t row = 0; row < tile.rows; ++row)
      std::memcpy(tile.bytes[row], reinterpret_cast<const std::byte*>(from) + row * stride * 4, tile.row_bytes);
  }
  template <int kTile>
  void store(float* to, std::size_t stride) {
    const Register& tile = at<kTile>();
    for (std::size_t row = 0; row < tile.rows; ++row)
      std::memcpy(reinterpret_cast<std::byte*>(to) + row * stride * 4, tile.bytes[row], tile.row_bytes);
  }

 protected:
  struct Register {
    std::size_t rows, row_bytes;
    std::byte bytes[16][64];
  };
  template <typename T>
  static T value(const Register& tile, std::size_t row, std::size_t index) {
    T value;
    std::memcpy(&value, tile.bytes[row] + index * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T>
  static void set(Register& tile, std::size_t row, std::size_t index, T value) {
    std::memcpy(tile.bytes[row] + index * sizeof(T), &value, sizeof(T));
  }
  template <int kTile>
  Register& at() {
    if (!is_configured_) ++faults;
    return registers_[kTile];
  }
  static void check(const Register& sums, const Register& rows, const Register& columns) {
    if (sums.row_bytes != columns.row_bytes || sums.rows != rows.rows || rows.row_bytes / 4 != columns.rows) ++faults;
  }

 private:
  Register registers_[8] = {};
  bool is_configured_ = false;
};

struct EmulatedIntegers : EmulatedTiles {
  template <int kSums, int kRows, int kColumns>
  void multiply() {
    Register &sums = at<kSums>(), &rows = at<kRows>(), &columns = at<kColumns>();
    check(sums, rows, columns);
    for (std::size_t m = 0; m < sums.rows; ++m) {
      for (std::size_t k = 0; k < rows.row_bytes / 4; ++k) {
        for (std::size_t n = 0; n < sums.row_bytes / 4; ++n) {
          std::int32_t sum = value<std::int32_t>(sums, m, n);
          for (std::size_t i = 0; i < 4; ++i)
            sum += value<std::uint8_t>(rows, m, 4 * k + i) * value<std::int8_t>(columns, k, 4 * n + i);
          set(sums, m, n, sum);
        }
      }
    }
  }
};

// Without the rounding of subnormals to zero.
struct EmulatedBf16 : EmulatedTiles {
  template <int kSums, int kRows, int kColumns>
  void multiply() {
    Register &sums = at<kSums>(), &rows = at<kRows>(), &columns = at<kColumns>();
    check(sums, rows, columns);
    const auto number = [](const Register& tile, std::size_t row, std::size_t index) {
      return tensor::bf16_to_float(value<std::uint16_t>(tile, row, index));
    };
    for (std::size_t m = 0; m < sums.rows; ++m) {
      for (std::size_t n = 0; n < sums.row_bytes / 4; ++n) {
        float first = 0, second = 0;
        for (std::size_t k = 0; k < rows.row_bytes / 4; ++k) {
          first = std::fma(number(rows, m, 2 * k), number(columns, k, 2 * n), first);
          second = std::fma(number(rows, m, 2 * k + 1), number(columns, k, 2 * n + 1), second);
        }
        set(sums, m, n, value<float>(sums, m, n) + (first + second));
      }
    }
  }
};

const GemmKernel kIntegers = matrix_tiles_kernel<EmulatedIntegers, WordKind::bytes>();
const GemmKernel kBf16 = matrix_tiles_kernel<EmulatedBf16, WordKind::bf16>();

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {
namespace {

using namespace word_testing;
using HWY_NAMESPACE::faults;

// Every number of rows and of columns of a register, and depths that are whole registers and not.
std::vector<Sizes> tile_sizes() {
  std::vector<Sizes> sizes(std::begin(kSizes), std::end(kSizes));
  for (std::size_t i = 1; i <= 33; ++i) sizes.push_back({i, 34 - i, 64 * (i % 3) + i});
  sizes.push_back({70, 100, 256});
  return sizes;
}

TEST(MatrixTiles, IntegersHaveTheBaselinesBits) {
  base::ThreadPool pool(2);
  faults = 0;
  const GemmKernel &tiles = HWY_NAMESPACE::kIntegers, &baseline = kernels_for(base::InstructionSet::scalar).integers;
  for (const Sizes& sizes : tile_sizes()) {
    for (const std::size_t groups : {1, 2, 5}) {
      if (sizes.k % groups != 0) continue;
      const IntegerProblem problem(sizes, groups, false, groups == 5);
      std::vector<float> residual(sizes.m * sizes.n, 0.75f), wanted, found;
      const auto multiply = [&](const GemmKernel& kernel, std::vector<float>& c) {
        const Words a = problem.a_words(kernel.kind);
        const Packed w = problem.packed(kernel);
        GemmArguments arguments = arguments_of(sizes, a, w, c);
        arguments.scales = problem.scales();
        arguments.bias = problem.bias.data();
        arguments.activation = Activation::gelu_erf;
        arguments.residual = residual.data();
        arguments.residual_stride = sizes.n;
        gemm(arguments, pool, 2, kernel);
      };
      multiply(baseline, wanted);
      multiply(tiles, found);
      ASSERT_EQ(std::memcmp(wanted.data(), found.data(), found.size() * sizeof(float)), 0)
          << sizes.m << " x " << sizes.n << " x " << sizes.k << " in " << groups;
    }
  }
  EXPECT_EQ(faults, 0);
}

TEST(MatrixTiles, Bf16IsNearTheExactProduct) {
  base::ThreadPool pool(2);
  faults = 0;
  const GemmKernel& kernel = HWY_NAMESPACE::kBf16;
  for (const Sizes& sizes : tile_sizes()) {
    const std::vector<std::uint16_t> a = random_bf16(sizes.m * sizes.k, 1), w = random_bf16(sizes.n * sizes.k, 2);
    std::vector<float> c;
    const Words words(a, sizes.m, sizes.k);
    gemm(arguments_of(sizes, words, Packed(w, sizes, kernel), c), pool, 2, kernel);
    expect_near_exact_bf16(c, a, w, sizes);
  }
  EXPECT_EQ(faults, 0);
}

TEST(MatrixTiles, ARowHasTheSameBitsAlone) {
  base::ThreadPool pool(3);
  const Sizes sizes{61, 200, 700};
  const GemmKernel& kernel = HWY_NAMESPACE::kBf16;
  const std::vector<std::uint16_t> a = random_bf16(sizes.m * sizes.k, 1), w = random_bf16(sizes.n * sizes.k, 2);
  const Words words(a, sizes.m, sizes.k);
  const Packed packed(w, sizes, kernel);
  std::vector<float> all, some;
  gemm(arguments_of(sizes, words, packed, all), pool, 3, kernel);
  for (const std::size_t row : {std::size_t{0}, std::size_t{13}, std::size_t{60}}) {
    GemmArguments alone = arguments_of({1, sizes.n, sizes.k}, words, packed, some);
    alone.a = words.data() + row * words.stride() * 4;
    gemm(alone, pool, 1, kernel);
    ASSERT_EQ(std::memcmp(some.data(), all.data() + row * sizes.n, sizes.n * sizeof(float)), 0) << "row " << row;
  }
}

// Rows that overlap and lie in segments, as a convolution has them.
TEST(MatrixTiles, RowsInSegmentsAreThoseOfTheCopiedMatrix) {
  base::ThreadPool pool(1);
  constexpr std::size_t kRows = 21, kLines = 2, kSegments = 3, kWords = 18, kStride = 5;
  const GemmKernel& kernel = HWY_NAMESPACE::kBf16;
  const Sizes sizes{kRows * kLines, 40, 2 * kSegments * kWords};
  const std::vector<std::uint16_t> image = random_bf16(2 * 700, 3), w = random_bf16(sizes.n * sizes.k, 4);
  const std::ptrdiff_t lines[kLines] = {7, 200}, segments[kSegments] = {0, 150, 301};
  std::vector<std::uint16_t> copied;
  for (const std::ptrdiff_t line : lines) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (const std::ptrdiff_t segment : segments) {
        const std::uint16_t* from = image.data() + 2 * (line + segment + static_cast<std::ptrdiff_t>(row * kStride));
        copied.insert(copied.end(), from, from + 2 * kWords);
      }
    }
  }
  const Words seen(image, 1, image.size()), whole(copied, sizes.m, sizes.k);
  const Packed packed(w, sizes, kernel);
  std::vector<float> wanted, found;
  // Each segment ends with a register that is not whole, so that the order of sums differs.
  gemm(arguments_of(sizes, whole, packed, wanted), pool, 1, kernel);
  GemmArguments arguments = arguments_of(sizes, whole, packed, found);
  const GemmLines described{kRows, lines, segments, kSegments};
  arguments.a = seen.data();
  arguments.a_stride = kStride;
  arguments.lines = &described;
  gemm(arguments, pool, 1, kernel);
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-4f) << i;
}

}  // namespace
}  // namespace alate::cpu
