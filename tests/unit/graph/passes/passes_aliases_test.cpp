// Aliases of donated parameters stay what they are through everything that makes a graph of a graph.
#include "graph/decompose.h"
#include "graph/gradients.h"
#include "tests/unit/graph/passes/check_pass.h"

namespace alate::graph {
namespace {

// The first parameter is neither donated nor aliased, so that a place that shifts shows.
void expect_same_aliases(const Graph& before, const Graph& after, std::string_view what) {
  ASSERT_EQ(after.parameters().size(), before.parameters().size()) << what;
  for (std::size_t i = 0; i < before.parameters().size(); ++i) {
    EXPECT_EQ(after.parameters()[i].name, before.parameters()[i].name) << what;
    EXPECT_EQ(after.parameters()[i].donatable, before.parameters()[i].donatable) << what;
  }
  ASSERT_GE(after.outputs().size(), before.outputs().size()) << what;
  for (std::size_t i = 0; i < before.outputs().size(); ++i) {
    EXPECT_EQ(after.outputs()[i].name, before.outputs()[i].name) << what;
    EXPECT_EQ(after.outputs()[i].aliases_parameter, before.outputs()[i].aliases_parameter) << what;
  }
}

// Each pass has something to do: equal values, no-ops, constants, a dead node, patterns of fused ops.
Graph with_aliases() {
  Builder b("g");
  const Shape shape{DType::f32, {3, 3}};
  const Value x = b.parameter("x", shape), unused = b.parameter("unused", shape, true),
              cache = b.parameter("cache", shape, true), state = b.parameter("state", shape, true);
  b.parameter("kept", shape, true);
  const Value factor = b.add({b.constant(waves(shape, 1)), b.constant(waves(shape, 2))});
  const auto next = [&] { return b.add({b.mul({cache, factor}), b.neg({b.neg({x})})}); };
  const Value dead = b.exp({unused});
  b.exp({dead});
  b.output("cache", next(), 2);
  const Value silu = b.mul({state, b.logistic({state})});
  const Value turned = b.transpose({b.transpose({silu}, {.permutation = {1, 0}})}, {.permutation = {1, 0}});
  b.output("loss", b.reduce_sum({b.mul({turned, next()})}, {.axes = {0, 1}}));
  b.output("state", next(), 3);                                         // becomes the value of the first output
  b.output("kept", b.reshape({b.identity({x})}, {.dims = {3, 3}}), 4);  // becomes another parameter
  b.output("unused", b.constant(waves(shape, 3)), 1);
  return b.finish();
}

TEST(Aliases, StayThroughEachPass) {
  const Graph before = with_aliases();
  for (const Pass& pass : standard_passes()) {
    const Graph after = run_passes(before, {pass}, nullptr);
    expect_same_aliases(before, after, pass.name);
    expect_same_outputs(before, after, wave_inputs(before), 1e-5F);
  }
  const Graph all = run_passes(before, standard_passes(), nullptr);
  expect_same_aliases(before, all, "all passes");
  expect_same_outputs(before, all, wave_inputs(before), 1e-5F);
  expect_same_aliases(before, decompose(all, [](const Graph&, const Node&) { return false; }), "decompose");
}

TEST(Aliases, StayInTextAndInGraphsWithGradients) {
  const Graph before = with_aliases();
  expect_same_aliases(before, parse_graph(print_graph(before)), "text");
  const std::vector<std::size_t> asked = {2, 3};
  const Graph after = with_gradients(before, 1, asked);
  expect_same_aliases(before, after, "gradients");
  for (std::size_t i = before.outputs().size(); i < after.outputs().size(); ++i)
    EXPECT_FALSE(after.outputs()[i].aliases_parameter.has_value());
}

TEST(Aliases, CountInFingerprints) {
  const auto fingerprint = [](std::optional<std::size_t> aliased) {
    Builder b("g");
    const Value x = b.parameter("x", {DType::f32, {3}}, true);
    b.parameter("y", {DType::f32, {3}}, true);
    b.output("z", b.neg({x}), aliased);
    return b.finish().fingerprint();
  };
  EXPECT_NE(fingerprint({}), fingerprint(0));
  EXPECT_NE(fingerprint(0), fingerprint(1));
}

}  // namespace
}  // namespace alate::graph
