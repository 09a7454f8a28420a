#include <cmath>
#include <limits>

#include "graph/decompose.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Doubles = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kE = std::exp(1.0);

Tensor doubles(std::vector<std::int64_t> extents, std::initializer_list<double> values) {
  return Tensor::from<double>(std::move(extents), values);
}

void expect_near(const Tensor& found, const Doubles& expected) {
  const Doubles values = values_of<double>(found);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-14) << "element " << i;
}

TEST(Interpreter, SoftmaxSumsToOneAlongItsAxis) {
  const Tensor x = doubles({2, 2}, {0, 1, 1000, 999});
  expect_near(run_op(Op::softmax, {x}, Axis{1}), {1 / (1 + kE), kE / (1 + kE), kE / (1 + kE), 1 / (1 + kE)});
  expect_near(run_op(Op::softmax, {x}, Axis{0}), {0, 0, 1, 1});
  EXPECT_EQ(run_op(Op::softmax, {Tensor::zeros({DType::f64, {2, 0}})}, Axis{1}).element_count(), 0);
}

TEST(Interpreter, GeluIsExactOrByTanh) {
  // Φ(1) = (1 + erf(1/√2)) / 2 = 0.8413447460685429…
  expect_near(run_op(Op::gelu, {row<double>({1, 0, -1})}, Gelu{false}),
              {0.8413447460685429, 0, 0.8413447460685429 - 1});
  expect_near(run_op(Op::gelu, {row<double>({1})}, Gelu{true}),
              {0.5 * (1 + std::tanh(std::sqrt(2 / 3.141592653589793) * 1.044715))});
  expect_near(run_op(Op::silu, {row<double>({2})}), {2 / (1 + std::exp(-2.0))});
}

TEST(Interpreter, LayerNormHasMeanZeroAndVarianceOne) {
  const Tensor x = doubles({1, 4}, {1, 3, 1, 3}), scale = row<double>({1, 1, 2, 2}), shift = row<double>({0, 0, 5, 5});
  expect_near(run_op(Op::layer_norm, {x, scale, shift}, Norm{0}), {-1, 1, 3, 7});
  expect_near(run_op(Op::layer_norm, {x, scale, shift}, Norm{3}), {-0.5, 0.5, 4, 6});  // deviation √(1 + 3)
}

TEST(Interpreter, NormalizeDividesByTheLengthOrByEpsilon) {
  expect_near(run_op(Op::normalize, {doubles({2, 2}, {3, 4, 0, 0.25})}, Norm{0.5}), {0.6, 0.8, 0, 0.5});
}

TEST(Interpreter, DenseAddsBiasThenActivatesThenAddsTheResidual) {
  const Tensor x = doubles({1, 2}, {1, 2}), weight = doubles({3, 2}, {1, 1, -1, -1, 0, 2}),
               bias = row<double>({1, 1, -10}), residual = doubles({1, 3}, {100, 200, 300});
  expect_near(run_op(Op::dense, {x, weight}, Dense{}), {3, -3, 4});
  expect_near(run_op(Op::dense, {x, weight, bias}, Dense{.has_bias = true, .activation = Activation::relu}), {4, 0, 0});
  expect_near(run_op(Op::dense, {x, weight, bias, residual},
                     Dense{.has_bias = true, .has_residual = true, .activation = Activation::relu}),
              {104, 200, 300});
  const auto activated = [&](Activation activation) {
    return values_of<double>(run_op(Op::dense, {x, weight}, Dense{.activation = activation}))[0];
  };
  EXPECT_DOUBLE_EQ(activated(Activation::sigmoid), 1 / (1 + std::exp(-3.0)));
  EXPECT_DOUBLE_EQ(activated(Activation::tanh), std::tanh(3.0));
  EXPECT_DOUBLE_EQ(activated(Activation::silu), 3 / (1 + std::exp(-3.0)));
  EXPECT_DOUBLE_EQ(activated(Activation::quick_gelu), 3 / (1 + std::exp(-1.702 * 3)));
  EXPECT_DOUBLE_EQ(activated(Activation::gelu_erf), 1.5 * (1 + std::erf(3 / std::sqrt(2.0))));
}

// 1 + 3 · 2^-9 is between the bf16 1 + 2^-7 and 1, nearer to the former; in f16 it is a number.
TEST(Interpreter, DenseRoundsF32ToBf16BesideAWeightOfBf16) {
  const float x = 1 + 3 * 0x1p-9F;
  const auto product = [&](DType weight) {
    const Tensor w = run_op(Op::convert, {Tensor::from<float>({1, 1}, {3})}, Convert{.dtype = weight});
    return values_of<float>(run_op(Op::dense, {Tensor::from<float>({1, 1}, {x}), w}, Dense{}))[0];
  };
  EXPECT_EQ(product(DType::f32), 3 * x);
  EXPECT_EQ(product(DType::f16), 3 * x);
  EXPECT_EQ(product(DType::bf16), 3 * (1 + 0x1p-7F));
}

// One head of width 1; a key of 0 makes all scores 0, so that the weights are equal among the keys that are seen.
Tensor mean_of_seen(const Tensor& values, const Attention& attention, std::vector<Tensor> more = {}) {
  const std::int64_t length = values.element_count();
  const Tensor zeros = Tensor::zeros({DType::f64, {1, length, 1, 1}});
  std::vector<Tensor> operands{zeros, zeros, values.reshaped({1, length, 1, 1})};
  operands.insert(operands.end(), more.begin(), more.end());
  return run_op(Op::attention, operands, attention);
}

TEST(Interpreter, AttentionSeesWhatMasksLeave) {
  const Tensor values = row<double>({1, 2, 3, 6});
  expect_near(mean_of_seen(values, {}), {3, 3, 3, 3});
  expect_near(mean_of_seen(values, {.causal = true}), {1, 1.5, 2, 3});
  expect_near(mean_of_seen(values, {.window_left = 1, .window_right = 0}), {1, 1.5, 2.5, 4.5});
  expect_near(mean_of_seen(values, {.window_left = 0, .window_right = 1}), {1.5, 2.5, 4.5, 6});
  expect_near(mean_of_seen(values, {.has_lengths = true}, {row<std::int32_t>({2})}), {1.5, 1.5, 1.5, 1.5});
  expect_near(mean_of_seen(values, {.has_lengths = true}, {row<std::int32_t>({0})}), {0, 0, 0, 0});
}

TEST(Interpreter, AttentionScalesCapsAndBiasesScores) {
  const Tensor query = doubles({1, 1, 1, 1}, {2}), key = doubles({1, 2, 1, 1}, {0, 3}),
               value = doubles({1, 2, 1, 1}, {0, 1});
  const auto weight = [](double score) { return std::exp(score) / (1 + std::exp(score)); };
  expect_near(run_op(Op::attention, {query, key, value}, Attention{.scale = 0.5}), {weight(3)});
  expect_near(run_op(Op::attention, {query, key, value}, Attention{.scale = 0.5, .soft_cap = 2}),
              {weight(2 * std::tanh(1.5))});
  const Tensor bias = doubles({1, 1, 1, 2}, {0, -1});
  expect_near(run_op(Op::attention, {query, key, value, bias}, Attention{.scale = 0.5, .has_bias = true}), {weight(2)});
  const Tensor hidden = doubles({1, 1, 1, 2}, {-kInf, -kInf});
  expect_near(run_op(Op::attention, {query, key, value, hidden}, Attention{.has_bias = true}), {0});
}

TEST(Interpreter, AttentionSinksTakeWeightWithoutValue) {
  const Tensor zero = doubles({1, 1, 2, 1}, {0, 0}), value = doubles({1, 1, 2, 1}, {6, 6});
  // One key with score 0 and a sink: weight 1 / (1 + exp(sink)).
  expect_near(run_op(Op::attention, {zero, zero, value, row<double>({0, std::log(2.0)})}, Attention{.has_sinks = true}),
              {3, 2});
}

TEST(Interpreter, AttentionSharesKeysAmongGroupsOfHeads) {
  // Four query heads over two key/value heads: heads 0 and 1 read the first.
  const Tensor query = Tensor::zeros({DType::f64, {1, 1, 4, 1}}), key = Tensor::zeros({DType::f64, {1, 1, 2, 1}}),
               value = doubles({1, 1, 2, 2}, {1, 2, 3, 4});
  expect_near(run_op(Op::attention, {query, key, value}, Attention{}), {1, 2, 1, 2, 3, 4, 3, 4});
}

TEST(Interpreter, RaggedAttentionStaysWithinItsSequence) {
  const Tensor zeros = Tensor::zeros({DType::f64, {3, 1, 1}}), value = doubles({3, 1, 1}, {1, 3, 7});
  const Tensor starts = row<std::int32_t>({0, 2}), lengths = row<std::int32_t>({2, 1});
  const auto attend = [&](std::vector<Tensor> more, Attention attributes) {
    attributes.longest = 2;
    more.insert(more.begin(), {zeros, zeros, value, starts, lengths});
    return run_op(Op::ragged_attention, more, attributes);
  };
  expect_near(attend({}, {}), {2, 2, 7});
  expect_near(attend({}, {.causal = true}), {1, 2, 7});
  const Tensor bias = doubles({1, 1, 2, 2}, {0, -kInf, 0, 0});
  expect_near(attend({bias}, {.has_bias = true}), {1, 2, 7});
  const Tensor biases = doubles({2, 1, 2, 2}, {0, std::log(3.0), 0, -kInf, -kInf, 0, 0, 0});
  expect_near(attend({biases}, {.has_bias = true}), {2.5, 1, 0});
  // Of distances -2, -1, 0 and 1: token 0 gives its neighbour the weight 3 of 4, token 1 none.
  const Tensor distances = doubles({1, 3, 2, 2}, {9, 9, 0, std::log(3.0), 9, -kInf, 0, 9, 9, 9, 0, 9});
  expect_near(attend({distances}, {.has_query_distances = true}), {2.5, 3, 7});
  // The key's row: token 1 hides from token 0, token 0 has the weight 3 of 4 of token 1.
  expect_near(attend({distances}, {.has_key_distances = true}), {1, 1.5, 7});
  // One row for all tokens: keys before the query have the weight 3 of 4, those after it none.
  const Tensor shared = doubles({1, 1, 2, 2}, {9, -kInf, 0, std::log(3.0)});
  expect_near(attend({shared}, {.has_key_distances = true}), {1, 1.5, 7});
}

TEST(Interpreter, RaggedAttentionRejectsSequencesThatDoNotFit) {
  const Tensor x = Tensor::zeros({DType::f64, {3, 1, 1}});
  const auto said = [&](std::initializer_list<std::int32_t> lengths, std::int64_t longest) {
    return refusal([&] {
      run_op(Op::ragged_attention, {x, x, x, row<std::int32_t>({0, 2}), row(lengths)}, Attention{.longest = longest});
    });
  };
  EXPECT_EQ(said({2, 1}, 2), "accepted");
  EXPECT_NE(said({2, 2}, 2).find("outside the tokens"), std::string::npos);
  EXPECT_NE(said({2, 1}, 1).find("past the longest sequence"), std::string::npos);
}

// Both ways: by the op, and by its decomposition.
TEST(Interpreter, RaggedAttentionGivesZerosForTokensOfNoSequence) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor zeros = Tensor::zeros({DType::f64, {5, 1, 1}}), value = doubles({5, 1, 1}, {nan, 1, 3, 7, nan});
  // The second sequence is empty, and begins where the tokens end.
  const std::vector<Tensor> operands = {zeros, zeros, value, row<std::int32_t>({3, 5, 1}),
                                        row<std::int32_t>({1, 0, 2})};
  const Graph graph = graph_of(Op::ragged_attention,
                               {zeros.shape(), zeros.shape(), zeros.shape(), {DType::i32, {3}}, {DType::i32, {3}}},
                               Attention{.longest = 3});
  const Graph plain = decompose(graph, [](const Graph&, const Node&) { return false; });
  for (const Graph* each : {&graph, &plain})
    expect_near(interpret(*each, operands, base::Cancellation::never()).front(), {0, 2, 2, 7, 0});
}

TEST(Interpreter, RaggedPoolMakesARowOfEachSequence) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = doubles({5, 2}, {1, -2, 3, -4, 8, -9, nan, nan, 5, 7});  // row 3 is of no sequence
  const Tensor starts = row<std::int32_t>({0, 3, 4}), lengths = row<std::int32_t>({3, 0, 1});
  const auto pooled = [&](PoolMode mode) { return run_op(Op::ragged_pool, {x, starts, lengths}, Pool{mode, 3}); };
  expect_near(pooled(PoolMode::mean), {4, -5, 0, 0, 5, 7});
  expect_near(pooled(PoolMode::cls), {1, -2, 0, 0, 5, 7});
  expect_near(pooled(PoolMode::last), {8, -9, 0, 0, 5, 7});
  expect_near(pooled(PoolMode::max), {8, -2, 0, 0, 5, 7});
  expect_near(pooled(PoolMode::mean_sqrt_len), {12 / std::sqrt(3.0), -15 / std::sqrt(3.0), 0, 0, 5, 7});
  expect_near(pooled(PoolMode::weighted_mean), {(1 + 6 + 24) / 6.0, (-2 - 8 - 27) / 6.0, 0, 0, 5, 7});
}

}  // namespace
}  // namespace alate::graph
