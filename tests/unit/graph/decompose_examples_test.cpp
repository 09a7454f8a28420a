// The reference functions of fused ops are written from their definitions, not through their decompositions: both must
// give the same results.
#include <cmath>

#include "graph/decompose.h"
#include "tensor/element.h"
#include "tests/unit/graph/example_graphs.h"

namespace alate::graph {
namespace {

// A decomposition rounds after each op, in f32 for narrower dtypes; the last rounding may then fall to a neighbour.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-13;
    case DType::f32: return 3e-6;
    default: return 2e-3;
  }
}

TEST(Decompose, AgreesWithTheReferenceOfEveryFusedOp) {
  for (const Graph& graph : example_graphs()) {
    const OpInfo& op = op_info(graph.nodes().back().op);
    if (op.kind != OpKind::fused) continue;
    const std::vector<Tensor> inputs = example_inputs(graph);
    const std::vector<Tensor> all_expected = interpret(graph, inputs, base::Cancellation::never());
    const Graph plain = decompose(graph, [](const Graph&, const Node&) { return false; });
    const std::vector<Tensor> all_found = interpret(plain, inputs, base::Cancellation::never());
    for (std::size_t result = 0; result < all_expected.size(); ++result) {
      const Tensor &expected = all_expected[result], &found = all_found[result];
      ASSERT_EQ(found.shape(), expected.shape()) << graph.name();
      const std::size_t size = bits_of(expected.dtype()) / 8;
      for (std::size_t at = 0; at < expected.byte_count(); at += size) {
        const double want = tensor::load_double(expected.dtype(), expected.bytes().data() + at);
        ASSERT_TRUE(std::isfinite(want)) << graph.name();
        EXPECT_NEAR(tensor::load_double(found.dtype(), found.bytes().data() + at), want, tolerance(expected.dtype()))
            << graph.name() << ", result " << result << ", element " << at / size;
      }
    }
  }
}

}  // namespace
}  // namespace alate::graph
