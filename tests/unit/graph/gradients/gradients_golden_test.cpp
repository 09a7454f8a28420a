// jax's gradients, with ties, zeros, infinities and NaN; recorded by tests/golden/record_gradients.py.
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "graph/gradients.h"
#include "tests/unit/graph/golden_ops.h"
#include "tests/unit/graph/gradients/gradients_check.h"

namespace alate::graph {
namespace {

struct RecordedOp {
  Op op;
  Attributes attributes = NoAttributes{};
};

// Names of lines that are not just an op's.
const std::map<std::string, RecordedOp>& recorded_ops() {
  const Window window{.window_dimensions = {2, 3}, .strides = {1, 2}, .padding_low = {1, 0}, .padding_high = {0, 1}};
  const auto window_of = [&](Reduction reduction) {
    Window some = window;
    some.reduction = reduction;
    return some;
  };
  static const std::map<std::string, RecordedOp> table{
      {"reduce_sum", {Op::reduce_sum, Axes{{1}}}},
      {"reduce_max", {Op::reduce_max, Axes{{1}}}},
      {"reduce_min", {Op::reduce_min, Axes{{1}}}},
      {"reduce_product", {Op::reduce_product, Axes{{1}}}},
      {"cumulative_sum", {Op::cumulative_sum, Cumulative{1}}},
      {"cumulative_product", {Op::cumulative_product, Cumulative{1}}},
      {"cumulative_max", {Op::cumulative_max, Cumulative{1}}},
      {"cumulative_sum_reverse", {Op::cumulative_sum, Cumulative{1, true}}},
      {"cumulative_product_reverse", {Op::cumulative_product, Cumulative{1, true}}},
      {"top_k", {Op::top_k, TopK{2}}},
      {"window_max", {Op::reduce_window, window_of(Reduction::max)}},
      {"window_min", {Op::reduce_window, window_of(Reduction::min)}},
      {"window_sum", {Op::reduce_window, window_of(Reduction::sum)}},
      {"convolution",
       {Op::conv_general, Convolution{.strides = {2, 1},
                                      .padding_low = {1, 2},
                                      .padding_high = {0, 1},
                                      .lhs_dilation = {1, 2},
                                      .rhs_dilation = {2, 1},
                                      .input_spatial = {2, 3},
                                      .kernel_spatial = {2, 3},
                                      .output_spatial = {2, 3},
                                      .feature_groups = 2}}},
      {"gather", {Op::gather, Gather{{1}, {0}, {0}, 1, {1, 4}}}},
      {"scatter_sum", {Op::scatter_sum, Scatter{{1}, {0}, {}, {}, {0}, 1}}},
      {"dynamic_slice", {Op::dynamic_slice, DynamicSlice{{2, 2}}}},
      {"attention", {Op::attention, Attention{.scale = 0.5}}},
      {"attention_causal", {Op::attention, Attention{.scale = 0.7, .causal = true, .window_left = 1}}},
      {"attention_all",
       {Op::attention, Attention{.scale = 0.6,
                                 .has_lengths = true,
                                 .has_bias = true,
                                 .has_sinks = true,
                                 .window_left = 2,
                                 .soft_cap = 1.5}}},
      {"fft", {Op::fft, Fft{FftKind::fft, {5}}}},
      {"ifft", {Op::fft, Fft{FftKind::ifft, {5}}}},
      {"irfft8", {Op::fft, Fft{FftKind::irfft, {8}}}},
      {"irfft9", {Op::fft, Fft{FftKind::irfft, {9}}}},
      {"rfft", {Op::fft, Fft{FftKind::rfft, {4}}}},
      {"dot", {Op::dot_general, DotGeneral{{}, {}, {1}, {0}}}},
      {"pad", {Op::pad, Pad{{-1, 1}, {2, -2}, {1, 0}}}},
      {"slice", {Op::slice, Slice{{0, 1}, {3, 4}, {2, 2}}}},
  };
  return table;
}

Tensor tensor_of(const Shape& shape, const std::vector<double>& values) {
  Tensor tensor = Tensor::zeros(shape);
  if (shape.dtype == DType::i32) {
    for (std::size_t i = 0; i < values.size(); ++i)
      tensor.mutable_values<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
  } else if (!values.empty()) {
    std::memcpy(tensor.mutable_bytes().data(), values.data(), tensor.byte_count());
  }
  return tensor;
}

void expect_like_jax(const Tensor& found, const std::vector<double>& expected, const std::string& line) {
  ASSERT_EQ(found.byte_count(), expected.size() * sizeof(double)) << line;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double value = 0;
    std::memcpy(&value, found.bytes().data() + i * sizeof value, sizeof value);
    if (std::isfinite(expected[i])) {
      EXPECT_NEAR(value, expected[i], 1e-12 * (1 + std::abs(expected[i]))) << line << ", gradient " << i;
    } else {
      EXPECT_TRUE(value == expected[i] || (std::isnan(value) && std::isnan(expected[i])))
          << line << ", gradient " << i << ": " << value << ", not " << expected[i];
    }
  }
}

TEST(Gradients, AreThoseOfJaxAtTiesAndEdges) {
  std::set<std::string> names;
  for (const GoldenOp& golden : golden_ops("", "gradients.txt")) {
    const std::string name = golden.line.substr(0, golden.line.find(' '));
    names.insert(name);
    const auto found_op = recorded_ops().find(name);
    RecordedOp op;
    if (found_op != recorded_ops().end()) {
      op = found_op->second;
    } else {
      ASSERT_TRUE(parse_op(name).has_value()) << name;
      op = {*parse_op(name)};
    }
    std::vector<Tensor> inputs;
    std::vector<Shape> shapes;
    for (const std::int64_t kind : golden.numbers("kinds")) {
      const std::string number = std::to_string(inputs.size());
      static constexpr DType kDtypes[] = {DType::f64, DType::c128, DType::i32};
      shapes.push_back(detail::shape_of(kDtypes[kind], golden.numbers("dims" + number)));
      inputs.push_back(tensor_of(shapes.back(), golden.values("x" + number)));
    }
    const Graph graph = graph_of(op.op, shapes, op.attributes);
    const Tensor cotangent = tensor_of(graph.shape(graph.outputs()[0].value), golden.values("c"));
    const std::vector<Tensor> gradients = gradients_at(graph, inputs, {cotangent});
    std::size_t next = 0;
    for (const std::size_t place : differentiable_parameters(graph))
      expect_like_jax(gradients[next++], golden.values("g" + std::to_string(place)), name + std::to_string(place));
  }
  EXPECT_GT(names.size(), 50U);
}

}  // namespace
}  // namespace alate::graph
