// Each pass before and after, in text, and with the same results.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/decompose.h"
#include "graph/passes.h"
#include "graph/text/text.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

Tensor wavy(std::vector<std::int64_t> extents, double phase) {
  Tensor tensor = Tensor::zeros(detail::shape_of(DType::f32, extents));
  double at = phase;
  for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(std::sin(at += 0.7));
  return tensor;
}

// The ops of a graph in order, without leaves.
std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes()) {
    if (op_info(node.op).kind != OpKind::leaf) ops.emplace_back(to_string(node.op));
  }
  return ops;
}

const Node& last_of(const Graph& graph, Op op) {
  const Node* found = nullptr;
  for (const Node& node : graph.nodes()) {
    if (node.op == op) found = &node;
  }
  if (found == nullptr) throw std::runtime_error("no such op in the graph");
  return *found;
}

void expect_same_results(const Graph& before, const Graph& after, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> a = interpret(before, inputs, base::Cancellation::never()),
                            b = interpret(after, inputs, base::Cancellation::never());
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape());
    for (std::size_t k = 0; k < a[i].values<float>().size(); ++k)
      EXPECT_NEAR(a[i].values<float>()[k], b[i].values<float>()[k], 2e-6) << "output " << i << " element " << k;
  }
}

using Ops = std::vector<std::string>;

TEST(FoldConstants, MakesOneConstantOfOpsOverConstants) {
  const Graph before = parse_graph(R"(graph "g" {
    @0 = "a" : f32[2] [1, 2]
    @1 = "b" : f32[2] [3, 5]
    %0 = parameter "x" : f32[4]
    %1 = constant @0
    %2 = constant @1
    %3 = concatenate(%1, %2) {axis = 0} : f32[4]
    %4 = neg(%3) : f32[4]
    %5 = add(%0, %4) : f32[4]
    output "y" = %5
  })");
  const Graph after = eliminate_dead_nodes(fold_constants(before));
  EXPECT_EQ(ops_of(after), Ops{"add"});
  ASSERT_EQ(after.constants().size(), 1u);
  EXPECT_EQ(values_of<float>(materialize(*after.constants()[0])), (std::vector<float>{-1, -2, -3, -5}));
  expect_same_results(before, after, {wavy({4}, 0)});
}

TEST(FoldConstants, NamesTheSameFoldTheSameWayAndOtherFoldsDifferently) {
  const auto folded = [](float second, std::int64_t start) {
    Builder b("g");
    const Value a = b.constant(Tensor::from<float>({3}, {1, second, 3}));
    b.output("y", b.slice({a}, {.starts = {start}, .limits = {start + 2}, .strides = {}}));
    return fold_constants(b.finish()).constants().back()->identity;
  };
  EXPECT_EQ(folded(2, 0), folded(2, 0));
  EXPECT_NE(folded(2, 0), folded(4, 0));
  EXPECT_NE(folded(2, 0), folded(2, 1));
}

TEST(FoldConstants, LeavesARepeatedConstantSmall) {
  Builder b("g");
  b.output("y", b.broadcast_in_dim({b.constant(Tensor::scalar(1.0f))}, {.dims = {1000}, .mapping = {}}));
  EXPECT_EQ(ops_of(fold_constants(b.finish())), Ops{"broadcast_in_dim"});
}

TEST(FoldConstants, LeavesQuantizedNumbersAsTheyAreStored) {
  Builder b("g");
  const Value stored = b.constant(Tensor::zeros({DType::u8, {4, 18}}));
  b.output("y", b.dequantize({stored}, {.encoding = tensor::EncodingKind::q4_0}));
  EXPECT_EQ(ops_of(fold_constants(b.finish())), Ops{"dequantize"});
}

TEST(FoldConstants, DoesNotSeeThroughBarriers) {
  for (const Op barrier : {Op::optimization_barrier, Op::scheduling_barrier}) {
    Builder b("g");
    const Value x = b.constant(Tensor::scalar(1.0f));
    b.output("y", b.neg({b.emit(barrier, {x}, NoAttributes{}).front()}));
    EXPECT_EQ(ops_of(fold_constants(b.finish())), (Ops{std::string(to_string(barrier)), "neg"}));
  }
}

TEST(EliminateDeadNodes, DropsWhatNoOutputNeedsAndKeepsParameters) {
  const Graph before = parse_graph(R"(graph "g" {
    %0 = parameter "x" : f32[2]
    %1 = parameter "unused" : f32[2]
    %2 = exp(%0) : f32[2]
    %3 = log(%1) : f32[2]
    output "y" = %2
  })");
  const Graph after = eliminate_dead_nodes(before);
  EXPECT_EQ(print_graph(after), print_graph(parse_graph(R"(graph "g" {
    %0 = parameter "x" : f32[2]
    %1 = parameter "unused" : f32[2]
    %2 = exp(%0) : f32[2]
    output "y" = %2
  })")));
}

TEST(EliminateDeadNodes, LooksIntoRegions) {
  const std::string head = R"(graph "g" {
    %0 = parameter "x" : f32[2]
    %1 = call(%0) : f32[2]
      graph "body" {
        %0 = parameter "x" : f32[2]
        %1 = exp(%0) : f32[2]
)",
                    tail = R"(        output "y" = %1
      }
    output "y" = %1
  })";
  const Graph after = eliminate_dead_nodes(parse_graph(head + "%2 = log(%0) : f32[2]\n" + tail));
  EXPECT_EQ(print_graph(after), print_graph(parse_graph(head + tail)));
}

class DenseFusion : public testing::Test {
 protected:
  Builder b{"g"};
  Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), 3}});
  Value weight = b.constant(wavy({5, 3}, 1));
  Value bias = b.constant(wavy({5}, 2));

  Graph fused(Value y) {
    b.output("y", y);
    const Graph before = b.finish();
    Graph after = eliminate_dead_nodes(fuse_dense(before));
    expect_same_results(before, after, {wavy({4, 3}, 3)});
    return after;
  }
};

TEST_F(DenseFusion, TakesAProductWithATransposedWeightBiasActivationAndResidual) {
  const Value weight_in_out = b.constant(wavy({3, 5}, 4));
  const Value product = b.dot_general(
      {x, weight_in_out}, {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {1}, .rhs_contracting = {0}});
  const Dims dims = b.shape(product).dims;
  const Value activated = b.gelu({b.add({product, broadcast_to(b, bias, dims)})});
  const Value residual = b.dense({x, weight});
  const Graph after = fused(b.add({activated, residual}));
  EXPECT_EQ(ops_of(after), (Ops{"transpose", "dense", "dense"}));
  const auto& attributes = std::get<Dense>(last_of(after, Op::dense).attributes);
  EXPECT_EQ(attributes, (Dense{.has_bias = true, .has_residual = true, .activation = Activation::gelu_erf}));
}

TEST_F(DenseFusion, TakesEachActivation) {
  const auto activation_of = [&](auto apply) {
    Builder fresh("g");
    const Value in = fresh.parameter("x", {DType::f32, {2, 3}});
    fresh.output("y", apply(fresh, fresh.dense({in, fresh.constant(wavy({5, 3}, 1))})));
    const Graph before = fresh.finish();
    const Graph after = eliminate_dead_nodes(fuse_dense(before));
    expect_same_results(before, after, {wavy({2, 3}, 3)});
    EXPECT_EQ(ops_of(after), Ops{"dense"});
    return std::get<Dense>(last_of(after, Op::dense).attributes).activation;
  };
  EXPECT_EQ(activation_of([](Builder& f, Value y) { return f.gelu({y}, {.tanh_approximation = true}); }),
            Activation::gelu_tanh);
  EXPECT_EQ(activation_of([](Builder& f, Value y) { return f.silu({y}); }), Activation::silu);
  EXPECT_EQ(activation_of([](Builder& f, Value y) { return f.tanh({y}); }), Activation::tanh);
  EXPECT_EQ(activation_of([](Builder& f, Value y) { return f.logistic({y}); }), Activation::sigmoid);
  EXPECT_EQ(activation_of([](Builder& f, Value y) { return f.max({y, scalar_like(f, 0, y)}); }), Activation::relu);
}

TEST_F(DenseFusion, LeavesAProductAloneThatSomethingElseReads) {
  const Value product = b.dense({x, weight});
  b.output("product", product);
  const Graph after = fused(b.gelu({product}));
  EXPECT_EQ(ops_of(after), (Ops{"dense", "gelu"}));
}

TEST_F(DenseFusion, DoesNotTakeAnActivationAfterTheResidual) {
  Builder fresh("g");
  const Value in = fresh.parameter("x", {DType::f32, {4, 3}}), r = fresh.parameter("r", {DType::f32, {4, 5}});
  fresh.output("y", fresh.gelu({fresh.add({fresh.dense({in, fresh.constant(wavy({5, 3}, 1))}), r})}));
  const Graph before = fresh.finish(), after = eliminate_dead_nodes(fuse_dense(before));
  EXPECT_EQ(ops_of(after), (Ops{"dense", "gelu"}));
  expect_same_results(before, after, {wavy({4, 3}, 0), wavy({4, 5}, 5)});
}

TEST(MergeProjections, MakesOneProductOfQueryKeyAndValue) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), 3}});
  for (const int i : {0, 1, 2}) {
    const auto width = static_cast<std::int64_t>(4 + i);
    b.output("y" + std::to_string(i),
             b.dense({x, b.constant(wavy({width, 3}, i)), b.constant(wavy({width}, 10 + i))}, {.has_bias = true}));
  }
  const Graph before = b.finish();
  const Graph after = run_passes(
      before,
      {{"merge_projections", merge_projections}, {"fold_constants", fold_constants}, {"dce", eliminate_dead_nodes}},
      nullptr);
  EXPECT_EQ(ops_of(after), (Ops{"dense", "slice", "slice", "slice"}));
  EXPECT_EQ(after.shape(last_of(after, Op::dense).operands[1]), (Shape{DType::f32, {15, 3}}));
  expect_same_results(before, after, {wavy({7, 3}, 3)});
}

// A [out, in] weight in 8 bits with a scale for each run of a row, and what else a quantized_dense takes of it.
std::vector<Value> quantized(Builder& b, std::vector<Value> inputs, std::int64_t out, std::int64_t in = 3,
                             std::int64_t runs = 1) {
  std::vector<std::int8_t> numbers(static_cast<std::size_t>(in * out));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int8_t>(static_cast<int>(37 * i % 255) - 127);
  inputs.push_back(b.constant(Tensor::from<std::int8_t>({out, in}, std::span<const std::int8_t>(numbers))));
  inputs.push_back(b.constant(wavy({out, runs}, 6)));
  return inputs;
}
const QuantizedDense kRounded{.encoding = tensor::EncodingKind::linear,
                              .blocks = {1, 0},
                              .has_zero_points = false,
                              .has_bias = false,
                              .has_smoothing = true,
                              .activation_groups = 1};

TEST_F(DenseFusion, TakesBiasActivationAndResidualOfAQuantizedProduct) {
  const Value smoothing = b.constant(wavy({3}, 5));
  const Value product = b.quantized_dense(quantized(b, {x, smoothing}, 5), kRounded);
  const Value activated = b.gelu({b.add({product, broadcast_to(b, bias, b.shape(product).dims)})});
  const Graph after = fused(b.add({b.dense({x, weight}), activated}));
  EXPECT_EQ(ops_of(after), (Ops{"quantized_dense", "dense"}));
  const auto& attributes = std::get<QuantizedDense>(last_of(after, Op::quantized_dense).attributes);
  EXPECT_TRUE(attributes.has_bias);
  EXPECT_EQ(attributes.activation, Activation::gelu_erf);
}

TEST_F(DenseFusion, TakesTheResidualOfAQuantizedProduct) {
  const Value residual = b.parameter("r", {DType::f32, {b.dim("tokens"), 5}});
  b.output("y", b.add({b.quantized_dense(quantized(b, {x, b.constant(wavy({3}, 5))}, 5), kRounded), residual}));
  const Graph before = b.finish(), after = eliminate_dead_nodes(fuse_dense(before));
  EXPECT_EQ(ops_of(after), Ops{"quantized_dense"});
  expect_same_results(before, after, {wavy({4, 3}, 3), wavy({4, 5}, 4)});
}

TEST(MergeProjections, MakesOneProductOfQuantizedOnesWithTheSameSmoothing) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), 3}}), smoothing = b.constant(wavy({3}, 5));
  QuantizedDense biased = kRounded;
  biased.has_bias = true;
  std::vector<Value> with_bias = quantized(b, {x, smoothing}, 4);
  with_bias.push_back(b.constant(wavy({4}, 2)));
  b.output("a", b.quantized_dense(with_bias, biased));
  b.output("b", b.quantized_dense(quantized(b, {x, smoothing}, 6), kRounded));
  b.output("c", b.quantized_dense(quantized(b, {x, b.constant(wavy({3}, 6))}, 6), kRounded));
  const Graph before = b.finish();
  const Graph after = run_passes(
      before,
      {{"merge_projections", merge_projections}, {"fold_constants", fold_constants}, {"dce", eliminate_dead_nodes}},
      nullptr);
  EXPECT_EQ(ops_of(after), (Ops{"quantized_dense", "slice", "slice", "quantized_dense"}));
  expect_same_results(before, after, {wavy({7, 3}, 3)});
}

TEST(MergeProjections, MakesOneProductOfQuantizedOnesWithScalesForRuns) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), 8}}), smoothing = b.constant(wavy({8}, 5));
  QuantizedDense in_runs = kRounded, in_rows = kRounded;
  in_runs.blocks = {1, 4};
  in_runs.activation_groups = in_rows.activation_groups = 2;
  b.output("a", b.quantized_dense(quantized(b, {x, smoothing}, 4, 8, 2), in_runs));
  b.output("b", b.quantized_dense(quantized(b, {x, smoothing}, 6, 8, 2), in_runs));
  b.output("c", b.quantized_dense(quantized(b, {x, smoothing}, 6, 8, 1), in_rows));
  const Graph before = b.finish();
  const Graph after = run_passes(
      before,
      {{"merge_projections", merge_projections}, {"fold_constants", fold_constants}, {"dce", eliminate_dead_nodes}},
      nullptr);
  EXPECT_EQ(ops_of(after), (Ops{"quantized_dense", "slice", "slice", "quantized_dense"}));
  expect_same_results(before, after, {wavy({7, 8}, 3)});
}

TEST(MergeProjections, KeepsProductsApartThatDifferInActivationOrInput) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {2, 3}}), other = b.parameter("other", {DType::f32, {2, 3}});
  b.output("a", b.dense({x, b.constant(wavy({4, 3}, 0))}));
  b.output("b", b.dense({x, b.constant(wavy({4, 3}, 1))}, {.activation = Activation::relu}));
  b.output("c", b.dense({other, b.constant(wavy({4, 3}, 2))}));
  EXPECT_EQ(ops_of(merge_projections(b.finish())), (Ops{"dense", "dense", "dense"}));
}

// x -> norm -> dense -> gelu -> dense + norm's result -> norm, as an encoder ends.
class PickRowsEarly : public testing::Test {
 protected:
  Builder b{"g"};
  Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), 3}});
  Value starts = b.parameter("starts", {DType::i32, {b.dim("sequences")}});
  Value lengths = b.parameter("lengths", {DType::i32, {b.dim("sequences")}});
  Value first = norm(x, 1);
  Value wide = b.gelu({b.dense({first, b.constant(wavy({5, 3}, 4))})});
  Value last = norm(b.add({b.dense({wide, b.constant(wavy({3, 5}, 5))}), first}), 6);

  Value norm(Value of, int seed) {
    return b.layer_norm({of, b.constant(wavy({3}, seed)), b.constant(wavy({3}, seed + 1))});
  }
  Value pool(Value of, PoolMode mode) { return b.ragged_pool({of, starts, lengths}, {.mode = mode, .longest = 9}); }
  Graph after(const Graph& before) {
    Graph picked = eliminate_dead_nodes(pick_rows_early(before));
    const Tensor from = Tensor::from<std::int32_t>({4}, {0, 2, 2, 7}),
                 count = Tensor::from<std::int32_t>({4}, {2, 0, 5, 0});
    expect_same_results(before, picked, {wavy({7, 3}, 3), from, count});
    return picked;
  }
  // The rows of the first dense's operand.
  static Dim rows_multiplied(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::dense) return graph.shape(node.operands[0]).dims[0];
    }
    return -1;
  }
};

TEST_F(PickRowsEarly, ComputesOneRowOfEachSequence) {
  for (const PoolMode mode : {PoolMode::cls, PoolMode::last}) {
    Builder fresh = b;
    fresh.output("pooled", fresh.ragged_pool({last, starts, lengths}, {.mode = mode, .longest = 9}));
    const Graph picked = after(fresh.finish());
    EXPECT_EQ(rows_multiplied(picked), picked.shape(last_of(picked, Op::ragged_pool).operands[1]).dims[0]);
  }
}

TEST_F(PickRowsEarly, LeavesRowsThatAreReadElsewhere) {
  b.output("pooled", pool(last, PoolMode::cls));
  b.output("all", last);
  const Graph before = b.finish();
  EXPECT_EQ(ops_of(after(before)), ops_of(before));
}

TEST_F(PickRowsEarly, LeavesPoolsOfAllTokens) {
  b.output("pooled", pool(last, PoolMode::mean));
  const Graph before = b.finish();
  EXPECT_EQ(ops_of(after(before)), ops_of(before));
}

TEST(RunPasses, SaysWhatEachPassDid) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {2}});
  b.exp({x});
  b.output("y", x);
  PassLog log;
  run_passes(b.finish(), standard_passes(), &log);
  ASSERT_EQ(log.size(), standard_passes().size());
  EXPECT_EQ(log.back().pass, "eliminate_dead_nodes");
  EXPECT_EQ(log.front().nodes_before, 2u);
  EXPECT_EQ(log.back().nodes_after, 1u);
}

}  // namespace
}  // namespace alate::graph
