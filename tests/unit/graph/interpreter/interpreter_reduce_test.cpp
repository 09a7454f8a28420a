// Reductions, cumulative reductions and indices of extremes. Numbers are those of numpy and jax.lax.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Interpreter, MultipliesOverAxes) {
  const Tensor x = Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, -6});
  EXPECT_EQ(values_of<float>(run_op(Op::reduce_product, {x}, Axes{{1}})), (Floats{6, -120}));
  EXPECT_EQ(values_of<float>(run_op(Op::reduce_product, {x}, Axes{{0, 1}})), Floats{-720});
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::reduce_product, {row<std::int8_t>({3, 100, 5, -7})}, Axes{{0}})),
            std::vector<std::int8_t>{-4});
  Tensor complex = Tensor::zeros({DType::c64, {3}});
  const float parts[] = {1, 2, 3, -1, -0.5F, 1};  // 1 + 2i, 3 - i, -0.5 + i
  std::memcpy(complex.mutable_bytes().data(), parts, sizeof parts);
  const Tensor product = run_op(Op::reduce_product, {complex}, Axes{{0}});
  Floats found(2);
  std::memcpy(found.data(), product.bytes().data(), product.byte_count());
  EXPECT_EQ(found, (Floats{-7.5F, 2.5F}));
}

TEST(Interpreter, ReducesTruthsAndBits) {
  const Tensor truths = Tensor::from<bool>({2, 3}, {true, true, true, false, true, true});
  const auto of = [&](Op op) { return values_of<bool>(run_op(op, {truths}, Axes{{1}})); };
  EXPECT_EQ(of(Op::reduce_and), (std::vector<bool>{true, false}));
  EXPECT_EQ(of(Op::reduce_or), (std::vector<bool>{true, true}));
  EXPECT_EQ(of(Op::reduce_xor), (std::vector<bool>{true, false}));
  const Tensor bits = Tensor::from<std::int8_t>({2, 2}, {-12, 10, 9, 15});
  const auto bitwise = [&](Op op) { return values_of<std::int8_t>(run_op(op, {bits}, Axes{{0}})); };
  EXPECT_EQ(bitwise(Op::reduce_bitwise_and), (std::vector<std::int8_t>{0, 10}));
  EXPECT_EQ(bitwise(Op::reduce_bitwise_or), (std::vector<std::int8_t>{-3, 15}));
  EXPECT_EQ(bitwise(Op::reduce_bitwise_xor), (std::vector<std::int8_t>{-3, 5}));
}

TEST(Interpreter, ReductionsOfNothingGiveTheirIdentities) {
  const auto reduced = [](Op op, DType dtype) { return run_op(op, {Tensor::zeros({dtype, {0}})}, Axes{{0}}); };
  EXPECT_EQ(values_of<float>(reduced(Op::reduce_product, DType::f32)), Floats{1});
  EXPECT_EQ(values_of<bool>(reduced(Op::reduce_and, DType::boolean)), std::vector<bool>{true});
  EXPECT_EQ(values_of<bool>(reduced(Op::reduce_or, DType::boolean)), std::vector<bool>{false});
  EXPECT_EQ(values_of<bool>(reduced(Op::reduce_xor, DType::boolean)), std::vector<bool>{false});
  EXPECT_EQ(values_of<std::int16_t>(reduced(Op::reduce_bitwise_and, DType::i16)), std::vector<std::int16_t>{-1});
  EXPECT_EQ(values_of<std::uint32_t>(reduced(Op::reduce_bitwise_and, DType::u32)),
            std::vector<std::uint32_t>{0xffffffffU});
  EXPECT_EQ(values_of<std::int16_t>(reduced(Op::reduce_bitwise_or, DType::i16)), std::vector<std::int16_t>{0});
  EXPECT_EQ(values_of<std::int64_t>(reduced(Op::reduce_max, DType::i64)),
            std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(values_of<std::int64_t>(reduced(Op::reduce_min, DType::i64)),
            std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()});
}

TEST(Interpreter, ExtremesOverAxesKeepNansAndZerosSigns) {
  const Tensor zeros = row<float>({-0.0F, 0.0F, -0.0F});
  EXPECT_FALSE(std::signbit(values_of<float>(run_op(Op::reduce_max, {zeros}, Axes{{0}}))[0]));
  EXPECT_TRUE(std::signbit(values_of<float>(run_op(Op::reduce_min, {zeros}, Axes{{0}}))[0]));
  for (const Op op : {Op::reduce_max, Op::reduce_min}) {
    EXPECT_TRUE(std::isnan(values_of<float>(run_op(op, {row<float>({1, kNan, kInf, -kInf})}, Axes{{0}}))[0]));
  }
}

std::int64_t place_of(const Tensor& x, bool is_min) {
  return values_of<std::int64_t>(run_op(Op::arg_min_max, {x}, ArgMinMax{0, DType::i64, is_min})).at(0);
}

TEST(Interpreter, FindsTheFirstExtreme) {
  EXPECT_EQ(place_of(row<float>({1, 3, 2, 3}), false), 1);
  EXPECT_EQ(place_of(row<float>({1, 3, 0, 0}), true), 2);
  EXPECT_EQ(place_of(row<float>({1, kNan, 3, kNan}), false), 1);
  EXPECT_EQ(place_of(row<float>({1, kNan, -3, kNan}), true), 1);
  EXPECT_EQ(place_of(row<float>({-0.0F, 0.0F}), false), 0);
  EXPECT_EQ(place_of(row<float>({0.0F, -0.0F}), true), 0);
  EXPECT_EQ(place_of(row<float>({-kInf, -kInf}), false), 0);
  EXPECT_EQ(place_of(row<bool>({false, true, true}), false), 1);
  EXPECT_EQ(place_of(row<std::int64_t>({5, std::numeric_limits<std::int64_t>::min()}), true), 1);
  EXPECT_EQ(place_of(row<std::uint64_t>({5, std::numeric_limits<std::uint64_t>::max()}), false), 1);
  EXPECT_EQ(place_of(Tensor::zeros({DType::f32, {0}}), false), 0);
}

TEST(Interpreter, FindsExtremesAlongAnyAxis) {
  const Tensor x = Tensor::from<std::int8_t>({2, 3}, {1, 5, 3, 4, 2, 6});
  EXPECT_EQ(values_of<std::int32_t>(run_op(Op::arg_min_max, {x}, ArgMinMax{0, DType::i32, false})), (Ints{1, 0, 1}));
  EXPECT_EQ(values_of<std::uint8_t>(run_op(Op::arg_min_max, {x}, ArgMinMax{1, DType::u8, true})),
            (std::vector<std::uint8_t>{0, 1}));
}

TEST(Interpreter, AccumulatesAlongAnAxis) {
  const Tensor x = Tensor::from<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto sum = [&](Cumulative attributes) {
    return values_of<std::int32_t>(run_op(Op::cumulative_sum, {x}, attributes));
  };
  EXPECT_EQ(sum({.axis = 0}), (Ints{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(sum({.axis = 0, .reverse = true}), (Ints{5, 7, 9, 4, 5, 6}));
  EXPECT_EQ(sum({.axis = 1}), (Ints{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(sum({.axis = 1, .reverse = true}), (Ints{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(sum({.axis = 1, .exclusive = true}), (Ints{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(sum({.axis = 1, .reverse = true, .exclusive = true}), (Ints{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::cumulative_product, {row<std::int8_t>({3, 100, 5, -7})}, Cumulative{})),
            (std::vector<std::int8_t>{3, 44, -36, -4}));
  EXPECT_EQ(run_op(Op::cumulative_sum, {counting({0, 3})}, Cumulative{}).element_count(), 0);
}

TEST(Interpreter, CumulativeExtremesStayNanAndStartAtTheLimits) {
  const Floats largest = values_of<float>(run_op(Op::cumulative_max, {row<float>({1, 3, 2, kNan, 5})}, Cumulative{}));
  EXPECT_EQ(Floats(largest.begin(), largest.begin() + 3), (Floats{1, 3, 3}));
  EXPECT_TRUE(std::isnan(largest[3]) && std::isnan(largest[4]));
  EXPECT_EQ(values_of<float>(run_op(Op::cumulative_min, {row<float>({3, -1, 2})}, Cumulative{.exclusive = true})),
            (Floats{kInf, 3, -1}));
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::cumulative_max, {row<std::int8_t>({3, -1, 7})},
                                          Cumulative{.reverse = true, .exclusive = true})),
            (std::vector<std::int8_t>{7, 7, -128}));
}

// Elements of four bits, packed low bits first.
Tensor packed(DType dtype, std::int64_t count, std::initializer_list<unsigned> bytes) {
  Tensor tensor = Tensor::zeros({dtype, {count}});
  std::size_t next = 0;
  for (const unsigned byte : bytes) tensor.mutable_bytes()[next++] = static_cast<std::byte>(byte);
  return tensor;
}

TEST(Interpreter, ReducesAndMovesPackedElements) {
  const Tensor x = packed(DType::i4, 3, {0x83, 0x05});  // 3, -8, 5
  const auto bytes = [](const Tensor& tensor) {
    std::vector<int> values;
    for (const std::byte byte : tensor.bytes()) values.push_back(std::to_integer<int>(byte));
    return values;
  };
  using Bytes = std::vector<int>;
  EXPECT_EQ(bytes(run_op(Op::reduce_min, {x}, Axes{{0}})), Bytes{0x08});
  EXPECT_EQ(bytes(run_op(Op::reduce_max, {x}, Axes{{0}})), Bytes{0x05});
  EXPECT_EQ(bytes(run_op(Op::reduce_product, {x}, Axes{{0}})), Bytes{0x08});             // -120 = -8 · 16 + 8
  EXPECT_EQ(bytes(run_op(Op::cumulative_sum, {x}, Cumulative{})), (Bytes{0xb3, 0x00}));  // 3, -5, 0
  EXPECT_EQ(bytes(run_op(Op::reverse, {x}, Axes{{0}})), (Bytes{0x85, 0x03}));
  EXPECT_EQ(place_of(x, true), 1);
  EXPECT_EQ(bytes(run_op(Op::reduce_max, {packed(DType::i4, 0, {})}, Axes{{0}})), Bytes{0x08});
  const std::vector<Tensor> top =
      interpret(graph_of(Op::top_k, {x.shape()}, TopK{2}), std::vector{x}, base::Cancellation::never());
  EXPECT_EQ(bytes(top[0]), Bytes{0x35});
  EXPECT_EQ(values_of<std::int32_t>(top[1]), (Ints{2, 0}));
}

}  // namespace
}  // namespace alate::graph
