#include "graph/projections.h"

#include <cmath>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

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
