// Copies between strided arrays, windows picked from places, and elements combined at places.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "alate/error.h"
#include "backends/cpu/kernels/moving/move.h"
#include "backends/cpu/kernels/moving/scatter.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu::kernel_testing {
namespace {

using Strides = std::vector<std::ptrdiff_t>;
using Dims = std::vector<std::size_t>;

class MovingKernels : public ::testing::Test {
 protected:
  // Against a loop over all places; what no place leads to must stay.
  template <typename T>
  void check_move(const Dims& dims, const Strides& in_strides, std::ptrdiff_t in_first, std::size_t in_count,
                  const Strides& out_strides, std::ptrdiff_t out_first, std::size_t out_count) {
    std::vector<T> in(in_count), out(out_count), expected;
    for (std::size_t i = 0; i < in_count; ++i) std::memcpy(&in[i], &i, std::min(sizeof(T), sizeof i));
    for (std::size_t i = 0; i < out_count; ++i) std::memset(&out[i], 0xEE, sizeof(T));
    expected = out;
    const std::size_t count = std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>());
    for (std::size_t index = 0; index < count; ++index) {
      std::ptrdiff_t from = in_first, to = out_first;
      std::size_t rest = index;
      for (std::size_t axis = dims.size(); axis-- > 0;) {
        from += static_cast<std::ptrdiff_t>(rest % dims[axis]) * in_strides[axis];
        to += static_cast<std::ptrdiff_t>(rest % dims[axis]) * out_strides[axis];
        rest /= dims[axis];
      }
      expected[static_cast<std::size_t>(to)] = in[static_cast<std::size_t>(from)];
    }
    move_strided(in.data() + in_first, in_strides, out.data() + out_first, out_strides, dims, sizeof(T), pool_, 2);
    EXPECT_EQ(out, expected) << sizeof(T);
  }

  template <typename T>
  void check_moves() {
    check_move<T>({}, {}, 3, 5, {}, 1, 2);
    check_move<T>({0, 3}, {3, 1}, 0, 1, {3, 1}, 0, 4);
    check_move<T>({5, 7}, {7, 1}, 0, 35, {20, 2}, 3, 100);          // spread apart
    check_move<T>({5, 7}, {-7, -1}, 34, 35, {9, 1}, 2, 50);         // turned round, into a wider matrix
    check_move<T>({3, 4, 2}, {8, 2, 1}, 0, 24, {16, 4, 1}, 0, 64);  // pairs that move as one
    check_move<T>({3, 4, 2}, {8, 2, 1}, 0, 24, {15, 3, 1}, 1, 64);  // pairs that do not
    check_move<T>({2, 3}, {0, 1}, 0, 3, {3, 1}, 0, 6);              // repeated
    check_move<T>({1, 100003}, {0, 1}, 0, 100003, {0, 1}, 0, 100003);
    check_move<T>({3, 40001}, {40001, 1}, 0, 120003, {50000, 1}, 5, 150006);
  }

  base::ThreadPool pool_{2};
};

TEST_F(MovingKernels, MovesElementsOfEverySize) {
  check_moves<std::uint8_t>();
  check_moves<std::uint16_t>();
  check_moves<std::uint32_t>();
  check_moves<std::uint64_t>();
  check_moves<std::array<std::uint64_t, 2>>();
}

TEST_F(MovingKernels, RefusesOddElementsAndManyAxes) {
  std::uint32_t in = 5, out = 6;
  EXPECT_THROW(move_strided(&in, {}, &out, {}, {}, 3, pool_, 1), Error);
  const Strides strides(17, 0);
  EXPECT_THROW(move_strided(&in, strides, &out, strides, Dims(17, 1), 4, pool_, 1), Error);
}

TEST_F(MovingKernels, FillsAndCopiesBytes) {
  for (const std::size_t count : {0u, 1u, 7u, 70001u}) {
    std::vector<std::uint16_t> filled(count + 1, 9), copied(count + 1, 8);
    const std::uint16_t value = 0x1234;
    fill_elements(filled.data(), &value, 2, count, pool_, 2);
    move_bytes(filled.data(), copied.data(), count * 2, pool_, 2);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(copied[i], value);
    EXPECT_EQ(filled[count], 9);
    EXPECT_EQ(copied[count], 8);
  }
}

TEST_F(MovingKernels, GathersWindowsOfOneAndOfManyElements) {
  // Windows of a [rows, columns] matrix; the result has them as [batch, …] or with the batch in the middle.
  for (const std::size_t batch : {1u, 3u, 5000u}) {
    for (const Dims& window : std::vector<Dims>{{1, 1}, {1, 9}, {4, 1}, {3, 5}, {64, 600}}) {
      const std::size_t rows = 70, columns = 700, size = window[0] * window[1];
      if (batch * size > 4000000) continue;
      std::vector<std::uint32_t> in(rows * columns), out(batch * size, 0), expected(batch * size, 1);
      std::iota(in.begin(), in.end(), 0u);
      Strides places;
      for (std::size_t n = 0; n < batch; ++n) {
        places.push_back(
            static_cast<std::ptrdiff_t>(n * 7 % (rows - window[0] + 1) * columns + n * 13 % (columns - window[1] + 1)));
      }
      const auto signed_batch = static_cast<std::ptrdiff_t>(batch), width = static_cast<std::ptrdiff_t>(window[1]);
      for (const bool batch_first : {true, false}) {
        const Dims batch_dims = {batch};
        const Strides batch_strides = {batch_first ? static_cast<std::ptrdiff_t>(size) : width},
                      window_in = {static_cast<std::ptrdiff_t>(columns), 1},
                      window_out = {batch_first ? width : signed_batch * width, 1};
        for (std::size_t n = 0; n < batch; ++n) {
          for (std::size_t i = 0; i < size; ++i) {
            const auto row = static_cast<std::ptrdiff_t>(i / window[1]),
                       column = static_cast<std::ptrdiff_t>(i % window[1]);
            expected[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(n) * batch_strides[0] + row * window_out[0] +
                                              column)] =
                in[static_cast<std::size_t>(places[n] + row * window_in[0] + column)];
          }
        }
        gather_windows(
            {in.data(), places.data(), out.data(), batch_dims, window, batch_strides, window_in, window_out, 4}, pool_,
            2);
        EXPECT_EQ(out, expected) << batch << " windows of " << window[0] << " x " << window[1];
      }
    }
  }
}

TEST_F(MovingKernels, ScattersInTheOrderOfTheRunsOnAnyNumberOfThreads) {
  constexpr std::size_t kCount = 5003, kRuns = 4000;
  std::minstd_rand random(7);
  std::vector<ScatterRun> runs;
  std::int64_t from = 0;
  for (std::size_t n = 0; n < kRuns; ++n) {
    const auto length = static_cast<std::int64_t>(random() % 40),
               to = static_cast<std::int64_t>(random() % (kCount - 40));
    runs.push_back({to, from, length});
    from += length;
  }
  std::vector<float> updates(static_cast<std::size_t>(from));
  for (float& value : updates) value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 7;
  updates[100] = std::numeric_limits<float>::quiet_NaN();
  for (const ScatterOp op : {ScatterOp::set, ScatterOp::sum, ScatterOp::max, ScatterOp::min}) {
    std::vector<float> expected(kCount, 1.5f);
    for (const ScatterRun& run : runs) {
      for (std::int64_t i = 0; i < run.length; ++i) {
        float& to = expected[static_cast<std::size_t>(run.to + i)];
        const float value = updates[static_cast<std::size_t>(run.from + i)];
        if (op == ScatterOp::set) to = value;
        if (op == ScatterOp::sum) to += value;
        if (op == ScatterOp::max) to = std::isnan(to) || std::isnan(value) ? to + value : std::max(to, value);
        if (op == ScatterOp::min) to = std::isnan(to) || std::isnan(value) ? to + value : std::min(to, value);
      }
    }
    for (const std::size_t workers : {1u, 2u}) {
      std::vector<float> out(kCount, 1.5f);
      scatter(op, DType::f32, {runs.data(), runs.size(), updates.data(), out.data(), kCount, updates.size()}, pool_,
              workers);
      EXPECT_EQ(0, std::memcmp(out.data(), expected.data(), kCount * sizeof(float)));
    }
  }
}

TEST_F(MovingKernels, ScatteredSumsWrapAndCombine) {
  const ScatterRun runs[] = {{0, 0, 2}, {1, 2, 1}};
  std::int8_t bytes[] = {100, -100};
  const std::int8_t more[] = {100, -100, 1};
  scatter(ScatterOp::sum, DType::i8, {runs, 2, more, bytes, 2, 3}, pool_, 1);
  EXPECT_EQ(bytes[0], -56);
  EXPECT_EQ(bytes[1], 57);
  std::uint8_t truths[] = {0, 1};
  const std::uint8_t others[] = {1, 0, 0};
  scatter(ScatterOp::sum, DType::boolean, {runs, 2, others, truths, 2, 3}, pool_, 1);
  EXPECT_EQ(truths[0], 1);
  EXPECT_EQ(truths[1], 1);
  std::complex<float> values[] = {{1, 2}, {3, 4}};
  const std::complex<float> added[] = {{1, 1}, {2, 0}, {0, 5}};
  scatter(ScatterOp::sum, DType::c64, {runs, 2, added, values, 2, 3}, pool_, 1);
  EXPECT_EQ(values[0], (std::complex<float>{2, 3}));
  EXPECT_EQ(values[1], (std::complex<float>{5, 9}));
  EXPECT_THROW(scatter(ScatterOp::max, DType::c64, {runs, 2, added, values, 2, 3}, pool_, 1), Error);
}

}  // namespace
}  // namespace alate::cpu::kernel_testing
