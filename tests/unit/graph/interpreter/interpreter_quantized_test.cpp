// Ops over quantized tensors; the encodings themselves are tested in tests/unit/tensor.
#include <algorithm>

#include "graph/decompose.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using tensor::EncodingKind;

// Whatever bytes, with f16 scales of 1 (0x3c00) in blocks of q8_0.
Tensor blocks_of_q8_0(std::int64_t rows) {
  Tensor stored = Tensor::zeros({DType::u8, {rows, 34}});
  const std::span<std::uint8_t> bytes = stored.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = i % 34 == 0 ? 0 : i % 34 == 1 ? 0x3c : static_cast<std::uint8_t>(i * 37);
  return stored;
}

std::vector<float> run_both_ways(Op op, const std::vector<Tensor>& operands, const Attributes& attributes) {
  std::vector<Shape> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  const Graph graph = graph_of(op, shapes, attributes);
  const std::vector<float> found = values_of<float>(interpret(graph, operands, base::Cancellation::never()).front());
  const Graph plain = decompose(graph, [](const Graph&, const Node&) { return false; });
  EXPECT_EQ(values_of<float>(interpret(plain, operands, base::Cancellation::never()).front()), found);
  return found;
}

TEST(Interpreter, DequantizesIntoTheDtypeAsked) {
  const Tensor found =
      run_op(Op::dequantize, {blocks_of_q8_0(2)}, Dequantize{EncodingKind::q8_0, {}, false, DType::f64});
  EXPECT_EQ(to_string(found.shape()), "f64[2,32]");
  EXPECT_EQ(found.values<double>()[1], static_cast<std::int8_t>(3 * 37));
}

// [1, 2, 3] · [[1, 0, -1], [2, 2, 2]] (scales 0.5 and 10) + [100, 200]
TEST(Interpreter, QuantizedDenseMultipliesByTheNumbers) {
  const Tensor x = Tensor::from<float>({1, 3}, {1, 2, 3}), bias = row<float>({100, 200});
  const Tensor weight = Tensor::from<std::int8_t>({2, 3}, {1, 0, -1, 2, 2, 2}),
               scales = Tensor::from<float>({2, 1}, {0.5, 10});
  const QuantizedDense plain{EncodingKind::linear, {1, 0}, false, false};
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {x, weight, scales}, plain), (std::vector<float>{-1, 120}));
  const QuantizedDense biased{EncodingKind::linear, {1, 0}, false, true};
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {x, weight, scales, bias}, biased), (std::vector<float>{99, 320}));
  const Tensor zero_points = Tensor::from<std::int8_t>({2, 1}, {1, 2});
  const QuantizedDense shifted{EncodingKind::linear, {1, 0}, true, true};
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {x, weight, scales, zero_points, bias}, shifted),
            (std::vector<float>{100 - 0.5F * (2 + 2 * 3), 200}));
}

// A run of [0, 51, 100] has steps of 100 / 255: 51 is nearest to the 130th; a run of equal numbers keeps them.
TEST(Interpreter, QuantizedDenseRoundsActivations) {
  const Tensor x = Tensor::from<float>({2, 6}, {0, 51, 100, 7, 7, 7, 0, 102, 200, -1, -1, -1});
  const Tensor smoothing = row<float>({1, 1, 1, 2, 2, 2});
  const Tensor weight = Tensor::from<std::int8_t>({2, 6}, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}),
               scales = Tensor::from<float>({2, 1}, {1, 1});
  QuantizedDense dense{EncodingKind::linear, {1, 0}, false, false, true, 2};
  const std::vector<float> found = run_both_ways(Op::quantized_dense, {x, smoothing, weight, scales}, dense);
  EXPECT_FLOAT_EQ(found[0], 130 * (100.0F / 255));
  EXPECT_FLOAT_EQ(found[2], 130 * (200.0F / 255));
  EXPECT_EQ(found[1], 14);
  EXPECT_EQ(found[3], -2);
  dense.activation_groups = 0;
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {x, smoothing, weight, scales}, dense),
            (std::vector<float>{51, 14, 102, -2}));
}

// Runs of activations and of scales are the same: [10, 10, 3, 3] keeps its numbers, and each run its scale.
TEST(Interpreter, QuantizedDenseScalesEachRun) {
  const Tensor x = Tensor::from<float>({1, 4}, {10, 10, 3, 3});
  const Tensor weight = Tensor::from<std::int8_t>({2, 4}, {1, 2, 4, 0, 1, 1, -1, -1}),
               scales = Tensor::from<float>({2, 2}, {0.5F, 2, 1, 10}), bias = row<float>({100, 200});
  const QuantizedDense dense{EncodingKind::linear, {1, 2}, false, true, false, 2};
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {x, weight, scales, bias}, dense),
            (std::vector<float>{100 + 15 + 24, 200 + 20 - 60}));
}

// Rotated [1, 2, 3, 4] is [10, -2, -4, 0]; the weight picks each of its numbers.
TEST(Interpreter, QuantizedDenseRotates) {
  const Tensor x = Tensor::from<float>({1, 4}, {1, 1, 3, 4}), smoothing = row<float>({1, 2, 1, 1});
  const Tensor weight = Tensor::from<std::int8_t>({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  const Tensor scales = Tensor::from<float>({4, 1}, {1, 1, 1, 1});
  QuantizedDense dense{.blocks = {1, 0}, .has_smoothing = true, .rotation = 4};
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {x, smoothing, weight, scales}, dense),
            (std::vector<float>{10, -2, -4, 0}));
  dense.rotation = 2;
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {x, smoothing, weight, scales}, dense),
            (std::vector<float>{3, -1, 7, -1}));
  // What is rounded is what was rotated: [200, -55, 10.25, 30.5], in steps of 1.
  dense.rotation = 4;
  dense.activation_groups = 1;
  const Tensor mixed = Tensor::from<float>({1, 4}, {46.4375F, 29.34375F, 26.0625F, 68.8125F});
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {mixed, smoothing, weight, scales}, dense),
            (std::vector<float>{200, -55, 10, 31}));
}

TEST(Interpreter, QuantizedDenseTakesBlocks) {
  const Tensor weight = blocks_of_q8_0(2);
  std::vector<float> one_hot(32, 0);
  one_hot[5] = 2;
  const Tensor x = Tensor::from<float>({32}, std::span<const float>(one_hot));
  EXPECT_EQ(run_both_ways(Op::quantized_dense, {x, weight}, QuantizedDense{EncodingKind::q8_0, {}, false, false}),
            (std::vector<float>{2.0F * static_cast<std::int8_t>(7 * 37 % 256),
                                2.0F * static_cast<std::int8_t>(41 * 37 % 256)}));
}

// Indices outside of the table are its ends, however scales are shared among rows.
TEST(Interpreter, QuantizedEmbeddingTakesRows) {
  const Tensor table = Tensor::from<std::int8_t>({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Tensor indices = Tensor::from<std::int32_t>({2, 2}, {-1, 1, 3, 99});
  const auto rows = [&](Numbers blocks, const Tensor& scales) {
    return run_both_ways(Op::quantized_embedding, {indices, table, scales},
                         Dequantize{EncodingKind::linear, std::move(blocks), false, DType::f32});
  };
  EXPECT_EQ(rows({0, 0}, Tensor::from<float>({1, 1}, {2})), (std::vector<float>{2, 4, 6, 8, 14, 16, 18, 20}));
  EXPECT_EQ(rows({1, 0}, Tensor::from<float>({5, 1}, {1, 2, 3, 4, 5})),
            (std::vector<float>{1, 2, 6, 8, 28, 32, 45, 50}));
  EXPECT_EQ(rows({0, 1}, Tensor::from<float>({1, 2}, {1, 10})), (std::vector<float>{1, 20, 3, 40, 7, 80, 9, 100}));
  EXPECT_EQ(rows({2, 0}, Tensor::from<float>({3, 1}, {1, 2, 3})), (std::vector<float>{1, 2, 3, 4, 14, 16, 27, 30}));
}

TEST(Interpreter, QuantizedEmbeddingDecodesBlocks) {
  const Tensor table = blocks_of_q8_0(3), index = Tensor::scalar<std::int64_t>(2);
  const std::vector<float> all =
      values_of<float>(run_op(Op::dequantize, {table}, Dequantize{EncodingKind::q8_0, {}, false, DType::f32}));
  EXPECT_EQ(
      run_both_ways(Op::quantized_embedding, {index, table}, Dequantize{EncodingKind::q8_0, {}, false, DType::f32}),
      (std::vector<float>{all.begin() + 64, all.end()}));
  const Tensor nf4 = Tensor::from<std::uint8_t>({2, 2}, {0x0f, 0x7f, 0xf0, 0x77}),
               scales = Tensor::from<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_both_ways(Op::quantized_embedding, {Tensor::from<std::uint8_t>({1}, {1}), nf4, scales},
                          Dequantize{EncodingKind::nf4, {1, 2}, false, DType::f32}),
            (std::vector<float>{3, -3, 0, 0}));
}

// A block of 200 rows does not fit in i8, the dtype of the indices.
TEST(Interpreter, QuantizedEmbeddingTakesBlocksLongerThanIndices) {
  const Tensor table =
      Tensor::from<std::int8_t>({201, 1}, std::span<const std::int8_t>(std::vector<std::int8_t>(201, 1)));
  EXPECT_EQ(
      run_both_ways(Op::quantized_embedding, {row<std::int8_t>({0, 100}), table, Tensor::from<float>({2, 1}, {5, 7})},
                    Dequantize{EncodingKind::linear, {200, 0}, false, DType::f32}),
      (std::vector<float>{5, 5}));
}

}  // namespace
}  // namespace alate::graph
