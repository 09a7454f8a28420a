#include <limits>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Floats = std::vector<float>;

TEST(Interpreter, CountsAlongAnAxis) {
  const auto iota = [](DType dtype, Dims dims, std::int64_t axis) {
    return run_op(Op::iota, {}, Iota{dtype, std::move(dims), axis});
  };
  EXPECT_EQ(values_of<std::int32_t>(iota(DType::i32, {2, 3}, 1)), (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values_of<float>(iota(DType::f32, {2, 3}, 0)), (Floats{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(iota(DType::i32, {0, 3}, 0).element_count(), 0);
}

TEST(Interpreter, ReshapesWithoutACopy) {
  const Tensor x = counting({2, 3});
  const Tensor reshaped = run_op(Op::reshape, {x}, Reshape{{3, 2}});
  EXPECT_EQ(values_of<float>(reshaped), values_of<float>(x));
  EXPECT_EQ(to_string(reshaped.shape()), "f32[3,2]");
  EXPECT_TRUE(reshaped.shares_storage_with(x));
}

TEST(Interpreter, TransposesAnyElementSize) {
  EXPECT_EQ(values_of<float>(run_op(Op::transpose, {counting({2, 3})}, Permutation{{1, 0}})),
            (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values_of<float>(run_op(Op::transpose, {counting({2, 2, 2})}, Permutation{{1, 0, 2}})),
            (Floats{0, 1, 4, 5, 2, 3, 6, 7}));
  const Tensor bytes = Tensor::from<std::int8_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::transpose, {bytes}, Permutation{{1, 0}})),
            (std::vector<std::int8_t>{1, 3, 2, 4}));
}

TEST(Interpreter, BroadcastsOnesAndNewAxes) {
  const Tensor x = Tensor::from<float>({2, 1}, {5, 6});
  EXPECT_EQ(values_of<float>(run_op(Op::broadcast_in_dim, {x}, BroadcastInDim{{2, 3}, {0, 1}})),
            (Floats{5, 5, 5, 6, 6, 6}));
  EXPECT_EQ(values_of<float>(run_op(Op::broadcast_in_dim, {row<float>({1, 2})}, BroadcastInDim{{2, 2}, {1}})),
            (Floats{1, 2, 1, 2}));
  EXPECT_EQ(values_of<float>(run_op(Op::broadcast_in_dim, {row<float>({1, 2})}, BroadcastInDim{{2, 2}, {0}})),
            (Floats{1, 1, 2, 2}));
  // The mapping may swap axes.
  EXPECT_EQ(values_of<float>(run_op(Op::broadcast_in_dim, {counting({2, 3})}, BroadcastInDim{{3, 2}, {1, 0}})),
            (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values_of<float>(run_op(Op::broadcast_in_dim, {Tensor::scalar(7.0F)}, BroadcastInDim{{3}, {}})),
            (Floats{7, 7, 7}));
}

TEST(Interpreter, ConcatenatesAlongAnyAxis) {
  const Tensor x = counting({2, 2}), y = Tensor::from<float>({2, 1}, {8, 9});
  EXPECT_EQ(values_of<float>(run_op(Op::concatenate, {x, y}, Axis{1})), (Floats{0, 1, 8, 2, 3, 9}));
  EXPECT_EQ(values_of<float>(run_op(Op::concatenate, {x, Tensor::zeros({DType::f32, {0, 2}}), x}, Axis{0})),
            (Floats{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(Interpreter, SlicesWithStrides) {
  const Tensor x = counting({4, 3});
  EXPECT_EQ(values_of<float>(run_op(Op::slice, {x}, Slice{{1, 0}, {4, 3}, {2, 2}})), (Floats{3, 5, 9, 11}));
  EXPECT_EQ(values_of<float>(run_op(Op::slice, {x}, Slice{{3, 1}, {4, 3}, {}})), (Floats{10, 11}));
  EXPECT_EQ(
      values_of<float>(run_op(Op::slice, {x}, Slice{{1, 0}, {2, 1}, {std::numeric_limits<std::int64_t>::max(), 1}})),
      Floats{3});
  EXPECT_EQ(run_op(Op::slice, {x}, Slice{{2, 0}, {2, 3}, {}}).element_count(), 0);
}

TEST(Interpreter, GathersRowsAndClampsPlacesIntoRange) {
  const Gather rows{.offset_dims = {1},
                    .collapsed_slice_dims = {0},
                    .start_index_map = {0},
                    .index_vector_dim = 1,
                    .slice_sizes = {1, 2}};
  const Tensor table = counting({3, 2});
  EXPECT_EQ(values_of<float>(run_op(Op::gather, {table, row<std::int32_t>({2, -5, 9, 1})}, rows)),
            (Floats{4, 5, 0, 1, 4, 5, 2, 3}));
  const Tensor huge = row<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()});
  EXPECT_EQ(values_of<float>(run_op(Op::gather, {table, huge}, rows)), (Floats{4, 5}));
}

// The example of the specification's section on gather, without its batching dimensions: windows of [1, 2, 2].
TEST(Interpreter, GathersWindowsWithOffsetsAmongTheBatchAxes) {
  const Tensor x = counting({3, 4, 2});
  const Tensor places = Tensor::from<std::int64_t>({2, 3, 2}, {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9});
  const Gather windows{.offset_dims = {2, 3},
                       .collapsed_slice_dims = {0},
                       .start_index_map = {1, 0},
                       .index_vector_dim = 2,
                       .slice_sizes = {1, 2, 2}};
  // Index vectors are (row, matrix); the last, (0, 9), is clamped to matrix 2.
  EXPECT_EQ(values_of<float>(run_op(Op::gather, {x, places}, windows)),
            (Floats{0, 1, 2,  3,  2,  3,  4,  5,  12, 13, 14, 15,  //
                    8, 9, 10, 11, 10, 11, 12, 13, 16, 17, 18, 19}));
  // The same with the window's columns before the batch, and index vectors along the first axis of the places.
  const Gather columns_first{.offset_dims = {0},
                             .collapsed_slice_dims = {1},
                             .start_index_map = {1},
                             .index_vector_dim = 0,
                             .slice_sizes = {2, 1}};
  EXPECT_EQ(values_of<float>(
                run_op(Op::gather, {counting({2, 3}), Tensor::from<std::int32_t>({1, 3}, {2, 0, 2})}, columns_first)),
            (Floats{2, 0, 2, 5, 3, 5}));
}

TEST(Interpreter, MultipliesMatricesInBatches) {
  // [2,2]·[2,2] of 0 1 / 2 3 and 4 5 / 6 7, then with batches and swapped contraction.
  const Tensor x = counting({2, 2});
  EXPECT_EQ(values_of<float>(run_op(Op::dot_general, {x, x}, DotGeneral{{}, {}, {1}, {0}})), (Floats{2, 3, 6, 11}));
  EXPECT_EQ(values_of<float>(run_op(Op::dot_general, {x, x}, DotGeneral{{}, {}, {1}, {1}})), (Floats{1, 3, 3, 13}));
  const Tensor batches = counting({2, 2, 2});
  EXPECT_EQ(values_of<float>(run_op(Op::dot_general, {batches, batches}, DotGeneral{{0}, {0}, {2}, {1}})),
            (Floats{2, 3, 6, 11, 46, 55, 66, 79}));
  // Batch axis last on the left: row b of the result is x[:, b] · x[b, :].
  EXPECT_EQ(values_of<float>(run_op(Op::dot_general, {x, x}, DotGeneral{{1}, {0}, {0}, {1}})), (Floats{2, 11}));
  EXPECT_EQ(values_of<float>(run_op(Op::dot_general, {row<float>({1, 2}), row<float>({3, 4})}, DotGeneral{})),
            (Floats{3, 4, 6, 8}));
}

TEST(Interpreter, ProductsOfIntegersWrap) {
  const Tensor x = row<std::int8_t>({100, 100});
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::dot_general, {x, x}, DotGeneral{{}, {}, {0}, {0}})),
            std::vector<std::int8_t>{32});  // 20000 = 78 · 256 + 32
}

TEST(Interpreter, ReducesOverAxes) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(values_of<float>(run_op(Op::reduce_sum, {x}, Axes{{1}})), (Floats{3, 12}));
  EXPECT_EQ(values_of<float>(run_op(Op::reduce_sum, {x}, Axes{{0}})), (Floats{3, 5, 7}));
  EXPECT_EQ(values_of<float>(run_op(Op::reduce_max, {x}, Axes{{0, 1}})), Floats{5});
  EXPECT_EQ(values_of<float>(run_op(Op::reduce_min, {x}, Axes{{}})), values_of<float>(x));
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::reduce_min, {row<std::int8_t>({-1, 5, -7})}, Axes{{0}})),
            std::vector<std::int8_t>{-7});
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::reduce_sum, {row<std::int8_t>({100, 100})}, Axes{{0}})),
            std::vector<std::int8_t>{-56});
}

TEST(Interpreter, ReductionOfNothingGivesTheStart) {
  const auto reduced = [](Op op, DType dtype) { return run_op(op, {Tensor::zeros({dtype, {0}})}, Axes{{0}}); };
  constexpr float kStart = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values_of<float>(reduced(Op::reduce_max, DType::f32)), Floats{-kStart});
  EXPECT_EQ(values_of<float>(reduced(Op::reduce_min, DType::f32)), Floats{kStart});
  EXPECT_EQ(values_of<float>(reduced(Op::reduce_sum, DType::f32)), Floats{0});
  EXPECT_EQ(values_of<std::int8_t>(reduced(Op::reduce_max, DType::i8)), std::vector<std::int8_t>{-128});
  EXPECT_EQ(values_of<std::int8_t>(reduced(Op::reduce_min, DType::i8)), std::vector<std::int8_t>{127});
  EXPECT_EQ(values_of<std::uint64_t>(reduced(Op::reduce_min, DType::u64)),
            std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()});
  EXPECT_EQ(values_of<std::uint16_t>(reduced(Op::reduce_max, DType::u16)), std::vector<std::uint16_t>{0});
}

}  // namespace
}  // namespace alate::graph
