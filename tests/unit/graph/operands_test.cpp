#include "graph/operands.h"

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Places = std::vector<std::size_t>;

TEST(Operands, AreNamedInTheirOrder) {
  const std::vector<int> given = {10, 11, 12, 13, 14, 15, 16};
  const Attention attention{.has_bias = true, .has_key_distances = true};
  const auto named = RaggedAttentionOperands<int>::of(attention, given);
  EXPECT_EQ(named.query, 10);
  EXPECT_EQ(named.lengths, 14);
  EXPECT_EQ(named.bias, 15);
  EXPECT_EQ(named.key_distances, 16);
  EXPECT_FALSE(named.key_lengths || named.sinks || named.query_distances);
  EXPECT_EQ(named.list(), given);
}

TEST(Operands, HavePlacesOnlyIfTheAttributesAskForThem) {
  const auto dense = places_of<DenseOperands>(Dense{.has_residual = true});
  EXPECT_FALSE(dense.bias);
  EXPECT_EQ(dense.residual, 2U);
  EXPECT_EQ(operand_count<DenseOperands>(Dense{.has_bias = true, .has_residual = true}), 4U);
  const QuantizedDense linear{.has_smoothing = true}, blocks{.encoding = tensor::EncodingKind::q8_0, .has_bias = true};
  EXPECT_EQ(places_of<QuantizedDenseOperands>(linear).list(), (Places{0, 1, 2, 3}));
  EXPECT_EQ(places_of<QuantizedDenseOperands>(linear).scales, 3U);
  EXPECT_EQ(places_of<QuantizedDenseOperands>(blocks).bias, 2U) << "scales are in the blocks";
  EXPECT_EQ(places_of<RopeOperands>(Rope{.has_positions = false}).sines, 2U);
  EXPECT_EQ(places_of<RopeOperands>(Rope{.has_positions = true}).sines, 3U);
}

TEST(Operands, SetTheFlagsOfThoseThatAreGiven) {
  const AttentionOperands<int> operands{.query = 0, .key = 1, .value = 2, .sinks = 3};
  const Attention attention = operands.flagged({.scale = 0.5, .has_bias = true});
  EXPECT_TRUE(attention.has_sinks);
  EXPECT_FALSE(attention.has_bias || attention.has_lengths);
  EXPECT_EQ(attention.scale, 0.5);
  const DequantizeOperands<int> stored{.stored = 0, .scales = 1, .zero_points = 2};
  EXPECT_TRUE(stored.flagged({}).has_zero_points);
}

TEST(Operands, RejectAnotherNumberOfThem) {
  for (const std::vector<int>& given : std::vector<std::vector<int>>{{}, {0, 1}, {0, 1, 2, 3}})
    EXPECT_TRUE(refusal([&] { DenseOperands<int>::of({.has_bias = true}, given); }).starts_with("internal: "));
  EXPECT_TRUE(refusal([] { AttentionGradientOperands<int>::of({}, {}); }).starts_with("internal: "));
}

}  // namespace
}  // namespace alate::graph
