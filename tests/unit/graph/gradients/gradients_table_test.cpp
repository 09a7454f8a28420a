// Every op of the table: has a rule, passes nothing on, or is refused; and every example graph is differentiated.
#include <algorithm>
#include <map>

#include "graph/gradients.h"
#include "tests/unit/graph/example_graphs.h"
#include "tests/unit/graph/gradients/gradients_check.h"

namespace alate::graph {
namespace {

bool is_float_or_complex(DType dtype) { return contains(kFloats | kComplex, dtype); }

TEST(GradientTable, SaysOfEveryOpWhetherItHasARuleAndElseWhyNot) {
  std::map<OpGradient::Kind, std::vector<std::string_view>> ops;
  for (const OpInfo& op : all_ops()) {
    const OpGradient gradient = op_gradient(op.op);
    ops[gradient.kind].push_back(op.name);
    EXPECT_EQ(gradient.reason.empty(), gradient.kind == OpGradient::Kind::rule) << op.name;
    EXPECT_NE(gradient.reason, "nobody has written its rule") << op.name;
  }
  EXPECT_EQ(ops[OpGradient::Kind::none], (std::vector<std::string_view>{"collective_broadcast", "dequantize"}));
  EXPECT_EQ(ops[OpGradient::Kind::zero], (std::vector<std::string_view>{"parameter",
                                                                        "constant",
                                                                        "floor",
                                                                        "ceil",
                                                                        "round_nearest_even",
                                                                        "is_finite",
                                                                        "is_nan",
                                                                        "logical_not",
                                                                        "bitwise_not",
                                                                        "popcnt",
                                                                        "count_leading_zeros",
                                                                        "logical_and",
                                                                        "logical_or",
                                                                        "logical_xor",
                                                                        "bitwise_and",
                                                                        "bitwise_or",
                                                                        "bitwise_xor",
                                                                        "shift_left",
                                                                        "shift_right_arithmetic",
                                                                        "shift_right_logical",
                                                                        "equal",
                                                                        "not_equal",
                                                                        "less",
                                                                        "less_or_equal",
                                                                        "greater",
                                                                        "greater_or_equal",
                                                                        "equal_total_order",
                                                                        "not_equal_total_order",
                                                                        "less_total_order",
                                                                        "less_or_equal_total_order",
                                                                        "greater_total_order",
                                                                        "greater_or_equal_total_order",
                                                                        "bitcast",
                                                                        "iota",
                                                                        "dimension_size",
                                                                        "reduce_and",
                                                                        "reduce_or",
                                                                        "reduce_xor",
                                                                        "reduce_bitwise_and",
                                                                        "reduce_bitwise_or",
                                                                        "reduce_bitwise_xor",
                                                                        "arg_min_max",
                                                                        "replica_id",
                                                                        "partition_id",
                                                                        "rng_bit_generator"}));
}

// Ops of kind none; encodings, whose examples train nothing; combinations other than sums.
bool is_refused(Op op) {
  return op_gradient(op).kind == OpGradient::Kind::none || op == Op::quantized_dense || op == Op::quantized_embedding ||
         op == Op::reduce_scatter || op == Op::all_reduce || op == Op::reduce;
}

TEST(GradientTable, DifferentiatesTheExampleOfEveryOp) {
  for (const Graph& graph : example_graphs()) {
    std::vector<std::size_t> outputs, parameters;
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      if (is_float_or_complex(graph.shape(graph.outputs()[i].value).dtype)) outputs.push_back(i);
    }
    for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
      if (is_float_or_complex(graph.parameters()[i].shape.dtype)) parameters.push_back(i);
    }
    if (outputs.empty() || parameters.empty()) continue;
    const Op op = graph.nodes().back().op;
    const std::string refused = refusal([&] {
      const Graph back = vector_jacobian_product(graph, outputs, parameters);
      for (std::size_t i = 0; i < parameters.size(); ++i)
        EXPECT_EQ(back.shape(back.outputs()[i].value), graph.parameters()[parameters[i]].shape) << graph.name();
    });
    if (refused == "accepted") continue;
    EXPECT_TRUE(is_refused(op) || op == Op::while_loop) << graph.name() << ": " << refused;
    EXPECT_EQ(refused.find("unsupported: no gradient of "), 0U) << refused;
  }
}

// Rules are made of ops that have rules.
TEST(GradientTable, DifferentiatesGradientsToo) {
  const auto expect_twice = [](Op op, std::vector<Tensor> inputs, Attributes attributes = NoAttributes{}) {
    SCOPED_TRACE(to_string(op));
    std::vector<Shape> shapes;
    for (const Tensor& input : inputs) shapes.push_back(input.shape());
    const Graph graph = graph_of(op, shapes, std::move(attributes));
    const std::vector<std::size_t> ends = differentiable_outputs(graph);
    for (const Tensor& output : interpret(graph, inputs, base::Cancellation::never())) {
      std::vector<std::int64_t> extents;
      for (const Dim dim : output.shape().dims) extents.push_back(dim.number());
      if (output.dtype() == DType::f64 || output.dtype() == DType::c128)
        inputs.push_back(scattered(extents, 9, 0.5, 1, output.dtype()));
    }
    const Graph once = vector_jacobian_product(graph, ends, differentiable_parameters(graph));
    ASSERT_NO_THROW(expect_gradients(once, inputs, 1e-6));
  };
  const Tensor x = scattered({3, 4}, 1, 0.3, 1.2), y = scattered({3, 4}, 2, 1.4, 2), image = scattered({1, 2, 5}, 3);
  for (const Op op : {Op::tanh, Op::logistic, Op::erf, Op::sqrt, Op::rsqrt, Op::cbrt, Op::log, Op::tan, Op::abs})
    expect_twice(op, {x});
  for (const Op op : {Op::mul, Op::div, Op::pow, Op::atan2, Op::max, Op::min, Op::rem}) expect_twice(op, {x, y});
  for (const Op op : {Op::reduce_product, Op::reduce_max}) expect_twice(op, {x}, Axes{{1}});
  for (const Op op : {Op::cumulative_product, Op::cumulative_max, Op::cumulative_sum})
    expect_twice(op, {x}, Cumulative{1});
  const Tensor at = Tensor::from<std::int32_t>({3, 1}, {2, 0, 2});
  expect_twice(Op::gather, {x, at}, Gather{{1}, {0}, {0}, 1, {1, 4}});
  for (const Op op : {Op::scatter_sum, Op::scatter_set, Op::scatter_max})
    expect_twice(op, {x, at, y}, Scatter{{1}, {0}, {}, {}, {0}, 1});
  expect_twice(Op::top_k, {x}, TopK{2});
  expect_twice(Op::dot_general, {x, y}, DotGeneral{{0}, {0}, {1}, {1}});
  expect_twice(Op::conv_general, {image, scattered({3, 2, 2}, 4)},
               Convolution{.strides = {2}, .input_spatial = {2}, .kernel_spatial = {2}, .output_spatial = {2}});
  for (const Reduction reduction : {Reduction::sum, Reduction::product, Reduction::max})
    expect_twice(Op::reduce_window, {x},
                 Window{.reduction = reduction, .window_dimensions = {2, 2}, .strides = {1, 2}});
  expect_twice(Op::fft, {x}, Fft{FftKind::rfft, {4}});
  expect_twice(Op::softmax, {x}, Axis{1});
  expect_twice(Op::pad, {x, Tensor::scalar(0.5)}, Pad{{1, -1}, {0, 2}, {1, 0}});
  expect_twice(Op::batch_norm_training, {x, scattered({4}, 5), scattered({4}, 6)}, BatchNorm{0.1, 1});
}

TEST(GradientTable, AgreesWithFiniteDifferencesForEveryFusedOp) {
  std::vector<Op> seen;
  for (const Graph& graph : example_graphs()) {
    const Op op = graph.nodes().back().op;
    if (op_info(op).kind != OpKind::fused || is_refused(op)) continue;
    if (differentiable_outputs(graph).empty() || differentiable_parameters(graph).empty()) continue;
    seen.push_back(op);
    std::vector<Tensor> inputs = example_inputs(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) {  // the examples' own floats have ties
      if (inputs[i].dtype() != DType::f64) continue;
      std::vector<std::int64_t> extents;
      for (const Dim dim : inputs[i].shape().dims) extents.push_back(dim.number());
      inputs[i] = scattered(extents, static_cast<int>(i), -1, 1);
    }
    expect_gradients(graph, inputs, 1e-6);
  }
  for (const OpInfo& op : all_ops()) {
    const bool is_expected = op.kind == OpKind::fused && !is_refused(op.op);
    EXPECT_EQ(std::find(seen.begin(), seen.end(), op.op) != seen.end(), is_expected) << op.name;
  }
}

}  // namespace
}  // namespace alate::graph
