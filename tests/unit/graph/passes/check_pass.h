// Checks for tests of passes: the graph before and after in text, and that both compute the same.
#pragma once

#include <cmath>

#include "graph/passes.h"
#include "graph/text/text.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {

/// Sines of f32 that differ from each other and from one phase to another.
inline Tensor waves(const Shape& shape, double phase) {
  Tensor tensor = Tensor::zeros(shape);
  double at = phase;
  for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(std::sin(at += 0.7));
  return tensor;
}

/// Ops of a graph in order, without leaves, one after the other with spaces between.
inline std::string op_names(const Graph& graph) {
  std::string names;
  for (const Node& node : graph.nodes()) {
    if (op_info(node.op).kind != OpKind::leaf) names += (names.empty() ? "" : " ") + std::string(to_string(node.op));
  }
  return names;
}

/// The same outputs for these inputs, but for `tolerance`; NaN where NaN is, and zeros of the same sign where it is 0.
inline void expect_same_outputs(const Graph& before, const Graph& after, const std::vector<Tensor>& inputs,
                                float tolerance) {
  const std::vector<Tensor> a = interpret(before, inputs, base::Cancellation::never()),
                            b = interpret(after, inputs, base::Cancellation::never());
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape());
    if (tolerance == 0) {
      const auto x = a[i].bytes(), y = b[i].bytes();
      EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end())) << "bits of output " << i;
      continue;
    }
    const auto x = a[i].values<float>(), y = b[i].values<float>();
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (std::isnan(x[k])) {
        EXPECT_TRUE(std::isnan(y[k])) << "output " << i << " element " << k;
      } else if (x[k] != y[k]) {  // infinities are equal to themselves
        EXPECT_NEAR(x[k], y[k], tolerance) << "output " << i << " element " << k;
      }
    }
  }
}

/// Waves for each parameter; named dims are 3.
inline std::vector<Tensor> wave_inputs(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const Parameter& parameter : graph.parameters()) {
    Shape shape = parameter.shape;
    for (Dim& dim : shape.dims) {
      if (!dim.is_number()) dim = 3;
    }
    inputs.push_back(waves(shape, static_cast<double>(inputs.size())));
  }
  return inputs;
}

/// `before` becomes `after` (both in text) by the pass and what drops dead nodes; both compute the same of f32 waves.
template <typename Run>
void expect_pass(const Run& pass, const std::string& before, const std::string& after, float tolerance = 0) {
  const Graph old = parse_graph(before), made = eliminate_dead_nodes(pass(old));
  EXPECT_EQ(print_graph(made), print_graph(parse_graph(after)));
  expect_same_outputs(old, made, wave_inputs(old), tolerance);
}

}  // namespace alate::graph
