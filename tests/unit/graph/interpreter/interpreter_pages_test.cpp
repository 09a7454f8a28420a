// Ops over a paged cache in the interpreter, by the op and by its decomposition.
#include <cmath>
#include <limits>

#include "graph/decompose.h"
#include "graph/operands.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The result of an op, which its decomposition has too.
Tensor run_both_ways(Op op, const std::vector<Tensor>& operands, Attributes attributes = NoAttributes{}) {
  std::vector<Shape> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  const Graph graph = graph_of(op, shapes, std::move(attributes));
  const Graph plain = decompose(graph, [](const Graph&, const Node&) { return false; });
  const Tensor result = interpret(graph, operands, base::Cancellation::never()).front(),
               parts = interpret(plain, operands, base::Cancellation::never()).front();
  EXPECT_EQ(parts.shape(), result.shape());
  if (result.dtype() == DType::f32) {
    for (std::int64_t i = 0; i < result.element_count(); ++i) {
      const auto place = static_cast<std::size_t>(i);
      EXPECT_NEAR(parts.values<float>()[place], result.values<float>()[place], 2e-6) << "element " << i;
    }
  } else {
    EXPECT_TRUE(std::ranges::equal(parts.bytes(), result.bytes()));
  }
  return result;
}

TEST(Interpreter, WritesRowsToTheirSlots) {
  const Tensor cache = counting({2, 2, 1, 2}), rows = Tensor::from<float>({3, 1, 2}, {10, 11, 20, 21, 30, 31});
  const auto written = [&](std::initializer_list<std::int32_t> slots) {
    return values_of<float>(run_both_ways(Op::write_pages, {cache, rows, row(slots)}));
  };
  EXPECT_EQ(written({3, 0, 2}), (std::vector<float>{20, 21, 2, 3, 30, 31, 10, 11}));
  EXPECT_EQ(written({-1, 1, -7}), (std::vector<float>{0, 1, 20, 21, 4, 5, 6, 7})) << "padding writes nothing";
  EXPECT_EQ(written({4, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}),
            values_of<float>(cache))
      << "outside of the cache";
  EXPECT_EQ(written({1, 1, 1}), (std::vector<float>{0, 1, 30, 31, 4, 5, 6, 7})) << "the last one stays";
}

TEST(Interpreter, ConvertsRowsToTheCachesDtype) {
  const Tensor rows = Tensor::from<float>({1, 1, 3}, {1.0F / 3, 1e6F, 1 + 0x1p-8F}), slots = row<std::int32_t>({1});
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor cache = Tensor::zeros({dtype, {1, 2, 1, 3}});
    const Tensor written = run_both_ways(Op::write_pages, {cache, rows, slots}),
                 wanted = run_op(Op::convert, {rows}, Convert{.dtype = dtype});
    EXPECT_TRUE(std::ranges::equal(written.bytes().subspan(6), wanted.bytes()));
    EXPECT_TRUE(std::ranges::equal(written.bytes().first(6), cache.bytes().first(6)));
  }
}

// One head of width 1 whose keys are 0, so that weights are equal among the keys that are seen. Rows of the cache that
// no sequence has are NaN. Sequence 0 has the values 1, 3, 8 in the pages 2 and 0, sequence 1 the value 5 in page 1,
// sequence 2 no queries, and a page that is not there.
struct MeansOfSeen {
  Tensor key = Tensor::from<float>({3, 2, 1, 1}, {0, kNaN, 0, kNaN, 0, 0});
  Tensor value = Tensor::from<float>({3, 2, 1, 1}, {8, kNaN, 5, kNaN, 1, 3});
  Tensor table = Tensor::from<std::int32_t>({3, 2}, {2, 0, 1, -1, 99, 99});
  Tensor key_lengths = row<std::int32_t>({3, 1, 4});

  std::vector<float> of(std::int32_t queries, Attention attention) const {
    attention.longest = 3;
    const Tensor query = Tensor::zeros({DType::f32, {queries + 2, 1, 1}});  // the last token is of no sequence
    return values_of<float>(run_both_ways(
        Op::paged_attention,
        {query, key, value, table, row<std::int32_t>({0, queries, 0}), row<std::int32_t>({queries, 1, 0}), key_lengths},
        attention));
  }
};

TEST(Interpreter, PagedAttentionSeesTheRowsOfASequencesPages) {
  const MeansOfSeen means;
  EXPECT_EQ(means.of(1, {}), (std::vector<float>{4, 5, 0}));
  EXPECT_EQ(means.of(3, {.causal = true}), (std::vector<float>{1, 2, 4, 5, 0}));
  EXPECT_EQ(means.of(2, {.causal = true}), (std::vector<float>{2, 4, 5, 0})) << "the last two of three tokens";
  EXPECT_EQ(means.of(1, {.causal = true}), (std::vector<float>{4, 5, 0}));
  EXPECT_EQ(means.of(2, {.causal = true, .window_left = 1}), (std::vector<float>{2, 5.5, 5, 0}));
  EXPECT_EQ(means.of(3, {.window_left = 0, .window_right = 1}), (std::vector<float>{2, 5.5, 8, 5, 0}));
}

TEST(Interpreter, WritesBytesAsTheyAre) {
  const Tensor cache = Tensor::zeros({DType::i8, {1, 2, 1, 2}});
  const Tensor written = run_both_ways(
      Op::write_pages, {cache, Tensor::from<std::int8_t>({1, 1, 2}, {-128, 127}), row<std::int32_t>({1})});
  EXPECT_EQ(values_of<std::int8_t>(written), (std::vector<std::int8_t>{0, 0, -128, 127}));
}

TEST(Interpreter, PagedAttentionMultipliesBytesByTheirScales) {
  // One text of two tokens in one page, two heads over two: the keys are 0, so that all that is seen weighs as much.
  const Tensor key = Tensor::zeros({DType::i8, {1, 2, 2, 1}}), key_scales = Tensor::zeros({DType::f32, {1, 2, 2, 1}});
  const Tensor value = Tensor::from<std::int8_t>({1, 2, 2, 1}, {100, -3, 50, 4}),
               value_scales = Tensor::from<float>({1, 2, 2, 1}, {0.5F, 2, 0.25F, 0.5F});
  EXPECT_EQ(values_of<float>(run_both_ways(
                Op::paged_attention,
                {Tensor::zeros({DType::f32, {2, 2, 1}}), key, value, Tensor::from<std::int32_t>({1, 1}, {0}),
                 row<std::int32_t>({0}), row<std::int32_t>({2}), row<std::int32_t>({2}), key_scales, value_scales},
                Attention{.causal = true, .has_cache_scales = true, .longest = 2})),
            (std::vector<float>{50, -6, 31.25F, -2}));
}

TEST(Interpreter, PagedAttentionReadsNoPageBeforeTheWindow) {
  MeansOfSeen means;
  means.table.mutable_values<std::int32_t>()[0] = 99;
  for (const std::size_t row : {4U, 5U}) {  // where a gather clamps the entry to
    means.key.mutable_values<float>()[row] = kNaN;
    means.value.mutable_values<float>()[row] = kNaN;
  }
  EXPECT_EQ(means.of(1, {.causal = true, .window_left = 0}), (std::vector<float>{8, 5, 0}));
  EXPECT_NE(refusal([&] { means.of(1, {.causal = true, .window_left = 1}); }), "accepted");
}

TEST(Interpreter, PagedAttentionIsRaggedAttentionOverTheSameRows) {
  // Two texts of 5 and 3 tokens in pages of 2 rows, four heads over two of 3 numbers.
  const auto numbers = [](std::vector<std::int64_t> extents, float phase) {
    Tensor tensor = counting(std::move(extents));
    for (float& value : tensor.mutable_values<float>()) value = std::sin(value * 0.7F + phase);
    return tensor;
  };
  const Tensor query = numbers({8, 4, 3}, 0), key = numbers({8, 2, 3}, 1), value = numbers({8, 2, 3}, 2);
  const Tensor starts = row<std::int32_t>({0, 5}), lengths = row<std::int32_t>({5, 3});
  const Tensor slots = row<std::int32_t>({8, 9, 2, 3, 0, 4, 5, 6});
  const Tensor table = Tensor::from<std::int32_t>({2, 3}, {4, 1, 0, 2, 3, -5});
  const Tensor empty = Tensor::zeros({DType::f32, {5, 2, 2, 3}});
  for (Attention attention : {Attention{.scale = 0.6}, Attention{.scale = 0.6, .causal = true},
                              Attention{.scale = 2, .causal = true, .window_left = 1, .soft_cap = 0.9}}) {
    attention.longest = 5;
    const Tensor paged =
        run_both_ways(Op::paged_attention,
                      {query, run_op(Op::write_pages, {empty, key, slots}),
                       run_op(Op::write_pages, {empty, value, slots}), table, starts, lengths, lengths},
                      attention);
    EXPECT_EQ(values_of<float>(paged),
              values_of<float>(run_op(Op::ragged_attention, {query, key, value, starts, lengths}, attention)));
  }
}

TEST(Interpreter, PagedAttentionRejectsPagesThatAreNotThere) {
  const MeansOfSeen good;
  EXPECT_EQ(refusal([&] { good.of(2, {}); }), "accepted");
  const auto said = [](const auto& change) {
    MeansOfSeen bad;
    change(bad);
    return refusal([&] {
      run_op(Op::paged_attention,
             {Tensor::zeros({DType::f32, {3, 1, 1}}), bad.key, bad.value, bad.table, row<std::int32_t>({0, 2, 0}),
              row<std::int32_t>({2, 1, 0}), bad.key_lengths},
             Attention{.longest = 2});
    });
  };
  for (const std::int32_t page : {-1, 3}) {
    EXPECT_NE(said([&](MeansOfSeen& m) {
                m.table.mutable_values<std::int32_t>()[1] = page;
              }).find("a page that the cache does not have"),
              std::string::npos);
  }
  for (const std::int32_t keys : {-1, 1, 5}) {
    EXPECT_NE(said([&](MeansOfSeen& m) {
                m.key_lengths.mutable_values<std::int32_t>()[0] = keys;
              }).find("a sequence's key length is below its length, or above"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace alate::graph
