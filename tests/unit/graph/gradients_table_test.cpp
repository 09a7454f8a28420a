// Every op of the table: has a rule, passes nothing on, or is refused; and every example graph is differentiated.
#include <algorithm>
#include <map>

#include "graph/gradients.h"
#include "tests/unit/graph/example_graphs.h"
#include "tests/unit/graph/gradients_check.h"

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
  EXPECT_EQ(ops[OpGradient::Kind::none],
            (std::vector<std::string_view>{"collective_broadcast", "dequantize", "reduce"}));
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
         op == Op::reduce_scatter || op == Op::all_reduce;
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
