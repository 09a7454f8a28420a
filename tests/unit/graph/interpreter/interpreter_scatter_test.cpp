// Gather with batching dims, and scatter. Numbers are those of StableHLO's specification and of jax.lax.
#include <cmath>
#include <limits>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

Tensor numbers_from_one(const std::vector<std::int64_t>& extents) {
  Longs values(static_cast<std::size_t>(Tensor::zeros(detail::shape_of(DType::i64, extents)).element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i) + 1;
  return Tensor::from<std::int64_t>(extents, values);
}

// The index vectors of the examples of StableHLO's sections on gather and scatter.
Tensor example_vectors() {
  return Tensor::from<std::int64_t>({2, 2, 3, 2},
                                    {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0});
}

// Rows of a table by a vector of places.
Scatter rows() {
  return {.update_window_dims = {1},
          .inserted_window_dims = {0},
          .input_batching_dims = {},
          .scatter_indices_batching_dims = {},
          .scatter_dims_to_operand_dims = {0},
          .index_vector_dim = 1};
}

void expect_same(const Tensor& found, const Floats& wanted) {
  const Floats values = values_of<float>(found);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(values[i] == wanted[i] || (std::isnan(values[i]) && std::isnan(wanted[i])))
        << i << ": " << values[i] << " is not " << wanted[i];
  }
}

TEST(Interpreter, GathersInBatches) {
  const Gather gather{.offset_dims = {3, 4},
                      .collapsed_slice_dims = {1},
                      .start_index_map = {2, 1},
                      .index_vector_dim = 3,
                      .slice_sizes = {1, 1, 2, 2},
                      .operand_batching_dims = {0},
                      .start_indices_batching_dims = {1}};
  const Tensor result = run_op(Op::gather, {numbers_from_one({2, 3, 4, 2}), example_vectors()}, gather);
  EXPECT_EQ(to_string(result.shape()), "i64[2,2,3,2,2]");
  EXPECT_EQ(values_of<std::int64_t>(result),
            (Longs{1, 2, 3, 4, 3,  4,  5,  6,  13, 14, 15, 16, 33, 34, 35, 36, 35, 36, 37, 38, 41, 42, 43, 44,
                   1, 2, 3, 4, 13, 14, 15, 16, 21, 22, 23, 24, 43, 44, 45, 46, 33, 34, 35, 36, 27, 28, 29, 30}));
}

TEST(Interpreter, GathersInBatchesWithVectorsAlongAnEarlierAxis) {
  // Row i of x at place i of the indices, whose vectors are along axis 0.
  const Gather gather{.offset_dims = {},
                      .collapsed_slice_dims = {1},
                      .start_index_map = {1},
                      .index_vector_dim = 0,
                      .slice_sizes = {1, 1},
                      .operand_batching_dims = {0},
                      .start_indices_batching_dims = {1}};
  EXPECT_EQ(
      values_of<float>(run_op(Op::gather, {counting({3, 4}), Tensor::from<std::int32_t>({1, 3}, {3, 0, 2})}, gather)),
      (Floats{3, 4, 10}));
  EXPECT_EQ(run_op(Op::gather, {counting({0, 4}), Tensor::zeros({DType::i32, {1, 0}})},
                   [&] {
                     Gather empty = gather;
                     empty.slice_sizes = {0, 1};
                     return empty;
                   }())
                .element_count(),
            0);
}

TEST(Interpreter, GathersNothingFromNothing) {
  const auto gathered = [](std::int64_t places) {
    return refusal([&] {
      run_op(Op::gather, {Tensor::zeros({DType::f32, {0, 2}}), Tensor::zeros({DType::i32, {places}})},
             Gather{{1}, {0}, {0}, 1, {0, 2}});
    });
  };
  EXPECT_EQ(gathered(0), "accepted");
  EXPECT_EQ(gathered(3),
            "invalid_argument: gather(f32[0,2], i32[3]): there are places to take, but operand 0 has no elements");
}

TEST(Interpreter, ScattersInBatchesAndSkipsWhatIsOutside) {
  const Scatter scatter{.update_window_dims = {3, 4},
                        .inserted_window_dims = {1},
                        .input_batching_dims = {0},
                        .scatter_indices_batching_dims = {1},
                        .scatter_dims_to_operand_dims = {2, 1},
                        .index_vector_dim = 3};
  const Tensor ones = Tensor::from<std::int64_t>({2, 2, 3, 2, 2}, Longs(48, 1));
  EXPECT_EQ(values_of<std::int64_t>(
                run_op(Op::scatter_sum, {numbers_from_one({2, 3, 4, 2}), example_vectors(), ones}, scatter)),
            (Longs{3,  4,  6,  7,  6,  7,  7,  8,  9,  10, 11, 12, 15, 16, 17, 18, 17, 18, 19, 20, 22, 23, 24, 25,
                   25, 26, 28, 29, 30, 31, 31, 32, 35, 36, 38, 39, 38, 39, 39, 40, 41, 42, 44, 45, 46, 47, 47, 48}));
}

TEST(Interpreter, ScattersRowsInOrder) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = counting({3, 2}), places = Tensor::from<std::int32_t>({5, 1}, {2, 0, 2, -1, 3});
  const Tensor updates = Tensor::from<float>({5, 2}, {10, -10, 20, kNan, 30, -30, 99, 99, 99, 99});
  expect_same(run_op(Op::scatter_set, {x, places, updates}, rows()), {20, kNan, 2, 3, 30, -30});
  expect_same(run_op(Op::scatter_sum, {x, places, updates}, rows()), {20, kNan, 2, 3, 44, -35});
  expect_same(run_op(Op::scatter_max, {x, places, updates}, rows()), {20, kNan, 2, 3, 30, 5});
  expect_same(run_op(Op::scatter_min, {x, places, updates}, rows()), {0, kNan, 2, 3, 4, -30});
}

// StableHLO skips element by element; XLA skips the whole window.
TEST(Interpreter, ScattersThePartOfAWindowThatIsInside) {
  const Scatter windows{.update_window_dims = {1},
                        .inserted_window_dims = {},
                        .input_batching_dims = {},
                        .scatter_indices_batching_dims = {},
                        .scatter_dims_to_operand_dims = {0},
                        .index_vector_dim = 1};
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Tensor places = Tensor::from<std::int64_t>({4, 1}, {3, -1, kMost, -kMost - 1});
  EXPECT_EQ(
      values_of<float>(run_op(
          Op::scatter_set,
          {Tensor::zeros({DType::f32, {4}}), places, Tensor::from<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, windows)),
      (Floats{4, 0, 0, 1}));
}

TEST(Interpreter, ScattersScalarsAndNothing) {
  const Scatter whole{.update_window_dims = {},
                      .inserted_window_dims = {},
                      .input_batching_dims = {},
                      .scatter_indices_batching_dims = {},
                      .scatter_dims_to_operand_dims = {},
                      .index_vector_dim = 0};
  const Tensor no_places = Tensor::zeros({DType::i32, {0}});
  EXPECT_EQ(values_of<float>(run_op(Op::scatter_sum, {Tensor::scalar(1.0F), no_places, Tensor::scalar(2.0F)}, whole)),
            Floats{3});
  const Tensor x = counting({3, 2});
  EXPECT_EQ(
      values_of<float>(run_op(Op::scatter_set,
                              {x, Tensor::zeros({DType::i32, {0, 1}}), Tensor::zeros({DType::f32, {0, 2}})}, rows())),
      values_of<float>(x));
}

TEST(Interpreter, ScattersSumsOfIntegersAndBools) {
  const Tensor places = Tensor::from<std::uint8_t>({2, 1}, {1, 1});
  EXPECT_EQ(values_of<std::int8_t>(run_op(
                Op::scatter_sum,
                {Tensor::from<std::int8_t>({2, 1}, {1, 100}), places, Tensor::from<std::int8_t>({2, 1}, {100, 100})},
                rows())),
            (std::vector<std::int8_t>{1, 44}));
  EXPECT_EQ(
      values_of<bool>(run_op(
          Op::scatter_sum,
          {Tensor::from<bool>({2, 1}, {false, false}), places, Tensor::from<bool>({2, 1}, {true, true})}, rows())),
      (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace alate::graph
