// The cpu backend's attention, rope and norms over rows that lie apart, against the reference: sizes past one block,
// any number of threads, halves; and that passes find both in what exporters write.
#include <limits>

#include "graph/passes.h"
#include "tests/unit/backends/cpu/step_testing.h"

namespace alate::cpu {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Op;

TEST(CpuAttention, OverPaddedBatchesIsTheReferences) {
  constexpr std::int64_t kBatch = 3, kQueries = 70, kKeys = 300, kHeads = 4;
  const Tensor lengths = Tensor::from<std::int32_t>({kBatch}, {300, 0, 129});
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Tensor query = random_tensor(dtype, {kBatch, kQueries, kHeads, 24}, 20),
                 key = random_tensor(dtype, {kBatch, kKeys, 2, 24}, 21),
                 value = random_tensor(dtype, {kBatch, kKeys, 2, 20}, 22);
    for (const bool is_repeated : {false, true}) {
      const Tensor bias = is_repeated ? random_tensor(dtype, {1, kHeads, kQueries, kKeys}, 23)
                                      : random_tensor(dtype, {kBatch, 1, kQueries, kKeys}, 24);
      const Tensor sinks = random_tensor(dtype, {kHeads}, 25);
      for (graph::Attention attention :
           {graph::Attention{.scale = 0.3}, graph::Attention{.scale = 0.3, .causal = true},
            graph::Attention{.scale = 0.3, .window_left = 9, .window_right = 140, .soft_cap = 2.5}}) {
        Builder b("attention");
        const auto given = [&](const Tensor& tensor) {
          return b.parameter("input " + std::to_string(b.so_far().parameters().size()), tensor.shape());
        };
        std::vector<graph::Value> operands = {given(query), given(key), given(value)};
        b.output("plain", b.attention(operands, attention));
        attention.has_lengths = attention.has_bias = true;
        operands.push_back(given(lengths));
        operands.push_back(given(bias));
        b.output("masked", b.attention(operands, attention));
        attention.has_sinks = true;
        operands.push_back(given(sinks));
        b.output("with sinks", b.attention(operands, attention));
        expect_as_reference(std::move(b).finish(), {query, key, value, lengths, bias, sinks},
                            dtype == DType::f32 ? 2e-6 : 1.0 / 128, "attention of " + std::string(to_string(dtype)));
      }
    }
  }
}

TEST(CpuAttention, OfRowsThatAreHiddenByTheLowestNumberIsAMean) {
  const float lowest = std::numeric_limits<float>::lowest();
  const Tensor query = random_tensor(DType::f32, {1, 2, 1, 4}, 26), key = random_tensor(DType::f32, {1, 3, 1, 4}, 27),
               value = random_tensor(DType::f32, {1, 3, 1, 4}, 28),
               bias = Tensor::from<float>({1, 1, 2, 3}, {lowest, lowest, lowest, lowest, 0, lowest});
  Builder b("attention");
  const auto q = b.parameter("q", query.shape()), k = b.parameter("k", key.shape()),
             v = b.parameter("v", value.shape()), hidden = b.parameter("bias", bias.shape());
  b.output("y", b.attention({q, k, v, hidden}, {.has_bias = true}));
  expect_as_reference(std::move(b).finish(), {query, key, value, bias}, 1e-6, "attention");
}

// What the standard passes make of a graph for this backend.
std::vector<Op> ops_for_cpu(const Graph& graph) {
  const graph::IsNative is_native = [](const Graph& g, const graph::Node& node) {
    return cpu_backend().supports(g, node, cpu_backend().devices().front()).native;
  };
  const Graph made = graph::run_passes(graph, graph::standard_passes({.is_native = is_native}), nullptr);
  std::vector<Op> ops;
  for (const graph::Node& node : made.nodes()) ops.push_back(node.op);
  return ops;
}
bool has(const std::vector<Op>& ops, Op op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

TEST(CpuAttention, AndRopeAreFoundInWhatExportersWrite) {
  for (const bool is_half : {false, true}) {
    Builder b("block");
    const DType dtype = is_half ? DType::bf16 : DType::f32;
    const auto given = [&](std::string name, std::vector<std::int64_t> extents) {
      const auto value = b.parameter(std::move(name), random_tensor(dtype, extents, 1).shape());
      return is_half ? b.convert({value}, {.dtype = DType::f32}) : value;
    };
    const auto k = given("k", {2, 3, 7, 8}), v = given("v", {2, 3, 7, 8}), x = given("q", {2, 3, 5, 8});
    const auto table = [&](std::string name) {
      return b.broadcast_in_dim({b.parameter(std::move(name), {DType::f32, {5, 4}})},
                                {.dims = {2, 3, 5, 4}, .mapping = {2, 3}});
    };
    const auto cosines = table("cosines"), sines = table("sines");
    const auto half = [&](std::int64_t start) {
      return b.slice({x}, {.starts = {0, 0, 0, start}, .limits = {2, 3, 5, start + 4}, .strides = {1, 1, 1, 1}});
    };
    const auto first = half(0), second = half(4);
    const auto q = b.concatenate({b.sub({b.mul({first, cosines}), b.mul({second, sines})}),
                                  b.add({b.mul({second, cosines}), b.mul({first, sines})})},
                                 {.axis = 3});
    const auto scores = b.dot_general(
        {q, k}, {.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contracting = {3}, .rhs_contracting = {3}});
    auto y = b.dot_general({b.softmax({scores}, {.axis = 3}), v},
                           {.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contracting = {3}, .rhs_contracting = {2}});
    if (is_half) y = b.convert({y}, {.dtype = DType::bf16});
    b.output("y", y);
    const Graph graph = std::move(b).finish();
    const std::vector<Op> ops = ops_for_cpu(graph);
    EXPECT_TRUE(has(ops, Op::attention) && has(ops, Op::rope)) << "halves: " << is_half;
    EXPECT_FALSE(has(ops, Op::softmax) || has(ops, Op::dot_general)) << "halves: " << is_half;
    std::vector<Tensor> inputs;
    for (const graph::Parameter& parameter : graph.parameters()) {
      std::vector<std::int64_t> extents;
      for (const Dim dim : parameter.shape.dims) extents.push_back(dim.number());
      inputs.push_back(random_tensor(parameter.shape.dtype, extents, static_cast<unsigned>(inputs.size()) + 40));
    }
    expect_as_reference(graph, inputs, is_half ? 1.0 / 128 : 2e-6, "block");
  }
}

TEST(CpuRope, TurnsHeadsThatLieApartAtPlacesOutsideOfItsTables) {
  const Tensor x = random_tensor(DType::f32, {5, 24}, 29), cosines = random_tensor(DType::f32, {4, 3}, 30),
               sines = random_tensor(DType::f32, {4, 3}, 31),
               places = Tensor::from<std::int64_t>({5}, {0, 3, -1, INT64_MAX, 2});
  Builder b("rope");
  const auto in = b.parameter("x", x.shape()), c = b.parameter("cosines", cosines.shape()),
             s = b.parameter("sines", sines.shape()), at = b.parameter("places", places.shape());
  const auto part = b.slice({in}, {.starts = {0, 3}, .limits = {5, 19}, .strides = {1, 1}});
  const auto heads = b.reshape({part}, {.dims = {5, 2, 8}});
  b.output("halves", b.rope({heads, at, c, s}, {}));
  b.output("neighbours", b.rope({heads, at, c, s}, {.interleaved = true}));
  const auto grouped = b.reshape({part}, {.dims = {5, 1, 2, 8}}), pair = b.reshape({at}, {.dims = {5, 1}});
  b.output("of more axes", b.rope({grouped, pair, c, s}, {}));
  expect_as_reference(std::move(b).finish(), {x, cosines, sines, places}, 1e-6, "rope");
}

TEST(CpuRows, OfMoreAxesMayBePartsOfAMatrix) {
  const Tensor x = random_tensor(DType::f32, {4, 12}, 32), row = random_tensor(DType::f32, {3}, 33),
               weight = random_tensor(DType::f32, {5, 3}, 34);
  Builder b("rows");
  const auto in = b.parameter("x", x.shape()), scale = b.parameter("scale", row.shape());
  const auto part = b.slice({in}, {.starts = {0, 2}, .limits = {4, 8}, .strides = {1, 1}});
  const auto rows = b.reshape({part}, {.dims = {4, 2, 3}});
  b.output("norm", b.layer_norm({rows, scale, scale}, {}));
  b.output("product", b.dense({rows, b.constant(weight)}, {}));
  expect_as_reference(std::move(b).finish(), {x, row}, 1e-5, "rows");
}

}  // namespace
}  // namespace alate::cpu
