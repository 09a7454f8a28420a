// Shape inference of the ops over a paged cache.
#include <gtest/gtest.h>

#include "graph/operands.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

Shape f32(Dims dims) { return {DType::f32, std::move(dims)}; }
Shape f16(Dims dims) { return {DType::f16, std::move(dims)}; }
Shape i32(Dims dims) { return {DType::i32, std::move(dims)}; }

void expect_refusal(Op op, const std::vector<Shape>& shapes, Attributes attributes, const std::string& what) {
  const std::string said = refusal([&] { graph_of(op, shapes, std::move(attributes)); });
  EXPECT_NE(said.find(what), std::string::npos) << said;
}

TEST(InferShapes, WritesRowsOfAnyFloatsIntoPages) {
  Builder b("pages");
  const Value cache = b.parameter("cache", f16({b.dim("pages"), 16, 2, 8}), true);
  const Value rows = b.parameter("rows", f32({b.dim("tokens"), 2, 8}));
  const Value slots = b.parameter("slots", i32({b.dim("tokens")}));
  EXPECT_EQ(b.shape(b.write_pages({cache, rows, slots})), b.shape(cache));
}

TEST(InferShapes, RefusesRowsThatAreNotThoseOfThePages) {
  const Shape cache = f32({3, 16, 2, 8}), rows = f32({5, 2, 8}), slots = i32({5});
  const auto refuses = [](const std::vector<Shape>& shapes, const std::string& what) {
    expect_refusal(Op::write_pages, shapes, NoAttributes{}, what);
  };
  refuses({f32({48, 2, 8}), rows, slots}, "operand 0 must be [pages, rows of a page, heads, width]");
  for (const std::int64_t page_rows : {0, 3, 24, 256})
    refuses({f32({3, page_rows, 2, 8}), rows, slots}, "operand 0: the rows of a page (axis 1) must be a number that");
  refuses({cache, f32({5, 2, 7}), slots}, "operand 1 (rows) must be floats (i8, if operand 0 is) [tokens, heads");
  refuses({cache, i32({5, 2, 8}), slots}, "operand 1 (rows) must be floats (i8, if operand 0 is) [tokens, heads");
  refuses({{DType::i8, {3, 16, 2, 8}}, rows, slots}, "operand 1 (rows) must be floats (i8, if operand 0 is)");
  refuses({cache, rows, i32({4})}, "operand 2 (slots) must be i32 [tokens]");
  refuses({i32({3, 16, 2, 8}), rows, slots}, "operand 0 has dtype i32");
}

// Four heads over two of the cache; values are narrower than keys.
PagedAttentionOperands<Shape> operands(DType cache = DType::bf16) {
  return {.query = f32({5, 4, 8}),
          .key = {cache, {7, 16, 2, 8}},
          .value = {cache, {7, 16, 2, 6}},
          .table = i32({3, 2}),
          .starts = i32({3}),
          .lengths = i32({3}),
          .key_lengths = i32({3})};
}

TEST(InferShapes, AttendsToPagesOfHalvesOrOfTheQuerysDtype) {
  for (const DType cache : {DType::f32, DType::f16, DType::bf16}) {
    const Graph graph = graph_of(Op::paged_attention, operands(cache).list(), Attention{.longest = 4});
    EXPECT_EQ(graph.shape(graph.outputs()[0].value), f32({5, 4, 6}));
  }
  PagedAttentionOperands<Shape> bytes = operands(DType::i8);
  bytes.key_scales = bytes.value_scales = f32({7, 16, 2, 1});
  const Graph graph = graph_of(Op::paged_attention, bytes.list(), bytes.flagged(Attention{.longest = 4}));
  EXPECT_EQ(graph.shape(graph.outputs()[0].value), f32({5, 4, 6}));
  PagedAttentionOperands<Shape> with_sinks = operands();
  with_sinks.sinks = f32({4});
  EXPECT_EQ(refusal([&] {
              graph_of(Op::paged_attention, with_sinks.list(), with_sinks.flagged({.causal = true, .longest = 4}));
            }),
            "accepted");
}

TEST(InferShapes, RefusesPagesThatDoNotFitTheQueries) {
  const auto refuses = [](const auto& change, const std::string& what) {
    PagedAttentionOperands<Shape> shapes = operands();
    Attention attention{.longest = 4};
    change(shapes, attention);
    expect_refusal(Op::paged_attention, shapes.list(), attention, what);
  };
  using Shapes = PagedAttentionOperands<Shape>;
  refuses([](Shapes& s, Attention&) { s.query = f32({5, 4, 1, 8}); }, "operand 0 (query) must be [tokens, heads");
  refuses([](Shapes& s, Attention&) { s.key.dims[1] = s.value.dims[1] = 12; },
          "operand 1: the rows of a page (axis 1)");
  refuses([](Shapes& s, Attention&) { s.value.dims[1] = 8; }, "must have as many pages, and as many rows in each");
  refuses([](Shapes& s, Attention&) { s.value.dtype = DType::f16; }, "must have one dtype: f16, bf16, f32 or that of");
  refuses([](Shapes& s, Attention&) { s.key.dtype = s.value.dtype = DType::f64; }, "must have one dtype: f16, bf16");
  refuses([](Shapes& s, Attention&) { s.key.dtype = s.value.dtype = DType::i8; }, "or i8 with scales");
  refuses(
      [](Shapes& s, Attention& a) {
        s.key_scales = s.value_scales = f32({7, 16, 2, 1});
        a = s.flagged(a);
      },
      "or i8 with scales");
  refuses(
      [](Shapes& s, Attention& a) {
        s.key.dtype = s.value.dtype = DType::i8;
        s.key_scales = f32({7, 16, 2, 1});
        s.value_scales = f32({7, 16, 2});
        a = s.flagged(a);
      },
      "operands 7 and 8 (scales of key and value) must be f32 [pages, rows of a page, kv_heads, 1]");
  refuses([](Shapes& s, Attention&) { s.key.dims[3] = 6; }, "operands 0 and 1 (query and key) must have one width");
  refuses([](Shapes& s, Attention&) { s.query.dims[1] = 3; }, "must be a multiple of those of operand 1 (key)");
  refuses(
      [](Shapes& s, Attention&) {
        s.table = i32({2, 2});
      },
      "operand 3 (table) must be i32 [sequences, most pages]");
  refuses([](Shapes& s, Attention&) { s.key_lengths = i32({2}); }, "operands 4, 5 and 6 (starts, lengths and key");
  refuses([](Shapes&, Attention& a) { a.longest = {}; }, "longest must be a dim, or a number above 0");
  refuses([](Shapes&, Attention& a) { a.has_sinks = true; }, "then sinks and the scales of key and value as the");
  refuses([](Shapes&, Attention& a) { a.soft_cap = -1; }, "soft_cap and window must not be negative");
  for (bool Attention::*field : {&Attention::has_lengths, &Attention::has_bias, &Attention::rounds_operands,
                                 &Attention::has_query_distances, &Attention::has_key_distances})
    refuses([field](Shapes&, Attention& a) { a.*field = true; }, "must be false");
}

}  // namespace
}  // namespace alate::graph
