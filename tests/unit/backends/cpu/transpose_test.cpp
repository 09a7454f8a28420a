#include "backends/cpu/kernels/moving/transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "alate/error.h"
#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu::kernel_testing {
namespace {

class CopyStrided : public EveryInstructionSet {
 protected:
  template <typename T>
  void check(const std::vector<T>& in, std::ptrdiff_t origin, const std::vector<std::ptrdiff_t>& strides,
             const std::vector<std::size_t>& dims) {
    std::size_t count = 1;
    for (const std::size_t dim : dims) count *= dim;
    std::vector<T> out(count + 1, T{99});
    copy_strided(in.data() + origin, strides, out.data(), dims, sizeof(T), pool_, 2, set());
    for (std::size_t index = 0; index < count; ++index) {
      std::ptrdiff_t from = origin;
      std::size_t rest = index;
      for (std::size_t axis = dims.size(); axis-- > 0;) {
        from += static_cast<std::ptrdiff_t>(rest % dims[axis]) * strides[axis];
        rest /= dims[axis];
      }
      ASSERT_EQ(out[index], in[static_cast<std::size_t>(from)]) << index;
    }
    ASSERT_EQ(out[count], T{99});
  }

  template <typename T>
  void check_all_orders() {
    for (const std::vector<std::size_t>& shape :
         std::vector<std::vector<std::size_t>>{{2, 3, 4}, {5, 17, 9}, {1, 70, 33}, {4, 1, 6}}) {
      std::vector<T> in(shape[0] * shape[1] * shape[2]);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i);
      const std::ptrdiff_t strides[] = {static_cast<std::ptrdiff_t>(shape[1] * shape[2]),
                                        static_cast<std::ptrdiff_t>(shape[2]), 1};
      std::vector<std::size_t> order = {0, 1, 2};
      do {
        check(in, 0, {strides[order[0]], strides[order[1]], strides[order[2]]},
              {shape[order[0]], shape[order[1]], shape[order[2]]});
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
};

TEST_P(CopyStrided, PermutesAxesOfEveryElementSize) {
  check_all_orders<std::uint8_t>();
  check_all_orders<std::uint16_t>();
  check_all_orders<std::uint32_t>();
  check_all_orders<std::uint64_t>();
}

TEST_P(CopyStrided, TransposesMatricesOfEveryElementSize) {
  const auto check_matrix = [&]<typename T>(T, std::size_t rows, std::size_t columns) {
    std::vector<T> in(rows * columns);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i * 2654435761u >> 7);
    check(in, 0, {1, static_cast<std::ptrdiff_t>(columns)}, {columns, rows});
  };
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1, 50}, {3, 100}, {100, 3}, {16, 16}, {67, 131}, {130, 65}}) {
    check_matrix(std::uint8_t{}, rows, columns);
    check_matrix(std::uint16_t{}, rows, columns);
    check_matrix(std::uint32_t{}, rows, columns);
    check_matrix(std::uint64_t{}, rows, columns);
  }
}

TEST_P(CopyStrided, TransposesPastTheCachesToTheSameElements) {
  std::vector<std::uint32_t> in(100 * 131);
  std::iota(in.begin(), in.end(), 1U);
  alignas(64) static std::array<std::uint32_t, 90 * 128> out;
  for (const auto& [rows, columns, out_stride, begin] : {std::array<std::size_t, 4>{100, 37, 112, 0},
                                                         {64, 80, 128, 0},
                                                         {7, 3, 16, 0},
                                                         {100, 37, 101, 0},
                                                         {64, 20, 128, 3}}) {
    out.fill(0);
    set().simd.transpose_32_streamed(in.data() + 2, 131, out.data() + begin, out_stride, rows, columns);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < out_stride; ++i)
        ASSERT_EQ(out[begin + j * out_stride + i], i < rows ? in[2 + i * 131 + j] : 0) << rows << " " << i << " " << j;
    }
  }
}

TEST_P(CopyStrided, TransposesPairsOfWords) {
  using Wide = std::array<std::uint64_t, 2>;
  std::vector<Wide> in(37 * 21);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = {i, ~i};
  check(in, 0, {1, 21}, {21, 37});
}

TEST_P(CopyStrided, BroadcastsAndReverses) {
  std::vector<std::uint32_t> in(24);
  std::iota(in.begin(), in.end(), 0u);
  check(in, 0, {0, 1}, {5, 24});
  check(in, 0, {1, 0}, {24, 5});
  check(in, 23, {-1}, {24});
  check(in, 23, {-6, -1}, {4, 6});
  check(in, 3, {}, {});
}

TEST_P(CopyStrided, SplitsALargeTransposeOverThreads) {
  std::vector<std::uint32_t> in(301 * 403);
  std::iota(in.begin(), in.end(), 0u);
  check(in, 0, {1, 403}, {403, 301});
}

TEST_P(CopyStrided, CopiesNothingOfAnEmptyArray) {
  std::uint32_t out = 5;
  copy_strided(nullptr, std::vector<std::ptrdiff_t>{3, 1}, &out, std::vector<std::size_t>{0, 3}, 4, pool_, 1, set());
  EXPECT_EQ(out, 5u);
}

TEST_P(CopyStrided, RefusesOddElements) {
  std::uint32_t in = 5, out = 5;
  EXPECT_THROW(copy_strided(&in, {}, &out, {}, 3, pool_, 1, set()), Error);
}

INSTANTIATE_TEST_SUITE_P(Sets, CopyStrided, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);

}  // namespace
}  // namespace alate::cpu::kernel_testing
