// Attention over pages against torch, and the builder functions around attention.
#include <cmath>
#include <limits>

#include "graph/decompose.h"
#include "graph/projections.h"
#include "tests/unit/graph/golden_ops.h"

namespace alate::graph {
namespace {

Tensor integers(const Numbers& extents, const std::vector<double>& values) {
  return Tensor::from<std::int32_t>(
      extents, std::span<const std::int32_t>(std::vector<std::int32_t>(values.begin(), values.end())));
}

TEST(Interpreter, AttendsToPagesLikeTorch) {
  for (const GoldenOp& golden : golden_ops("paged_attention")) {
    Tensor keys = golden_operand(1, {5, 2, 2, 3}), values = golden_operand(2, {5, 2, 2, 2});
    std::vector<Tensor> operands = {golden_operand(0, {3, 2, 4, 3}),
                                    keys,
                                    values,
                                    integers({3, 3}, golden.values("table")),
                                    integers({3}, golden.values("lengths")),
                                    integers({3}, golden.values("queries"))};
    const bool has_sinks = golden.number("sinks") != 0;
    if (has_sinks) operands.push_back(golden_operand(3, {4}));
    const Attention attention{.scale = 0.5,
                              .has_sinks = has_sinks,
                              .causal = golden.number("causal") != 0,
                              .window_left = golden.number("left"),
                              .window_right = golden.number("right"),
                              .soft_cap = golden.values("cap")[0]};
    std::vector<Shape> shapes;
    for (const Tensor& operand : operands) shapes.push_back(operand.shape());
    const Graph graph = graph_of(Op::paged_attention, shapes, attention);
    const Graph plain = decompose(graph, [](const Graph&, const Node&) { return false; });
    expect_golden(interpret(graph, operands, base::Cancellation::never()).front(), golden.values("values"),
                  golden.line);
    expect_golden(interpret(plain, operands, base::Cancellation::never()).front(), golden.values("values"),
                  golden.line);
    // No sequence has a key in page 1, or in the second place of page 3: what lies there is not looked at.
    for (const std::size_t place : {2, 3, 7}) {
      for (std::size_t i = 0; i < 6; ++i)
        keys.mutable_values<double>()[place * 6 + i] = std::numeric_limits<double>::quiet_NaN();
      for (std::size_t i = 0; i < 4; ++i)
        values.mutable_values<double>()[place * 4 + i] = std::numeric_limits<double>::quiet_NaN();
    }
    expect_golden(interpret(graph, operands, base::Cancellation::never()).front(), golden.values("values"),
                  golden.line);
    expect_golden(interpret(plain, operands, base::Cancellation::never()).front(), golden.values("values"),
                  golden.line);
  }
}

TEST(InferShapes, PagedAttentionNamesWhatDoesNotFit) {
  const Shape query{DType::f32, {3, 2, 4, 3}}, pages{DType::f32, {5, 2, 2, 3}}, table{DType::i32, {3, 3}},
      lengths{DType::i32, {3}};
  const auto said = [&](const Shape& q, const Shape& k, const Shape& t, Attention attention) {
    return refusal([&] { graph_of(Op::paged_attention, {q, k, k, t, lengths, lengths}, attention); });
  };
  EXPECT_EQ(said(query, pages, table, {}), "accepted");
  EXPECT_NE(said(query, pages, {DType::i32, {2, 3}}, {}).find("the page table must be i32"), std::string::npos);
  EXPECT_NE(said(query, {DType::f32, {5, 2, 3, 3}}, table, {}).find("must be a multiple"), std::string::npos);
  EXPECT_NE(said(query, {DType::f32, {0, 2, 2, 3}}, table, {}).find("at least one page"), std::string::npos);
  EXPECT_NE(said(query, pages, table, {.has_bias = true}).find("must be false"), std::string::npos);
  EXPECT_NE(said(query, pages, {DType::i32, {3, std::int64_t{1} << 31}}, {}).find("an i32"), std::string::npos);
}

// x · [1 2 3 4 5 6 7]: query of 2 heads, key and value of 1 head, values 3 wide.
TEST(ProjectQkv, CutsOneProductIntoHeads) {
  Builder b("g");
  const Dim tokens = b.dim("tokens");
  const Value x = b.parameter("x", {DType::f32, {tokens, 1}}), weight = b.parameter("weight", {DType::f32, {6, 1}});
  const QueryKeyValue parts =
      project_qkv(b, x, weight, std::nullopt, {.heads = 2, .kv_heads = 1, .width = 1, .value_width = 3});
  EXPECT_EQ(b.shape(parts.query), (Shape{DType::f32, {tokens, 2, 1}}));
  EXPECT_EQ(b.shape(parts.value), (Shape{DType::f32, {tokens, 1, 3}}));
  EXPECT_NE(refusal([&] {
              project_qkv(b, x, weight, std::nullopt, {1, 1, 1, 3});
            }).find("has 6 rows, their heads 5"),
            std::string::npos);
  b.output("query", parts.query);
  b.output("key", parts.key);
  b.output("value", parts.value);
  const std::vector<Tensor> found =
      interpret(b.finish(), std::vector<Tensor>{Tensor::from<float>({2, 1}, {1, 10}), counting({6, 1})},
                base::Cancellation::never());
  EXPECT_EQ(values_of<float>(found[0]), (std::vector<float>{0, 1, 0, 10}));
  EXPECT_EQ(values_of<float>(found[1]), (std::vector<float>{2, 20}));
  EXPECT_EQ(values_of<float>(found[2]), (std::vector<float>{3, 4, 5, 30, 40, 50}));
}

// Angles of place 2 with base 100 and width 4: 2, and 2 / 10.
TEST(RopeTables, TurnSlowerPairByPair) {
  const RopeTables tables = rope_tables(3, 4, 100);
  EXPECT_EQ(to_string(tables.cosines.shape()), "f32[3,2]");
  EXPECT_EQ(values_of<float>(tables.cosines)[0], 1);
  EXPECT_EQ(values_of<float>(tables.cosines)[4], std::cos(2.0F));
  EXPECT_FLOAT_EQ(values_of<float>(tables.cosines)[5], 0.980066578F);
  EXPECT_FLOAT_EQ(values_of<float>(tables.sines)[5], 0.198669331F);
  EXPECT_EQ(rope_tables(0, 4, 100).sines.element_count(), 0);
  EXPECT_NE(refusal([] { rope_tables(3, 5, 100); }).find("must be even, not 5"), std::string::npos);
}

}  // namespace
}  // namespace alate::graph
