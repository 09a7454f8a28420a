#include "graph/operands.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

// Checks that kv_heads divide heads and widths agree; [heads, width] are the last axes of operands 0, 1 and 2.
void require_heads(const InferenceInput& input) {
  const Shape &query = input.operands[0], &key = input.operands[1], &value = input.operands[2];
  input.require(query.dims.back() == key.dims.back(), "operands 0 and 1 (query and key) must have one width");
  const auto heads_of = [](const Shape& shape) { return shape.dims[shape.rank() - 2]; };
  input.require(heads_of(key) == heads_of(value), "operands 1 and 2 (key and value) must have as many heads");
  const Dim heads = heads_of(query), kv_heads = heads_of(key);
  input.require(
      heads.is_number() && kv_heads.is_number() && kv_heads.number() > 0 && heads.number() % kv_heads.number() == 0,
      "the heads of operand 0 (query) must be a multiple of those of operand 1 (key)");
  const Attention& attention = input.as<Attention>();
  input.require(attention.soft_cap >= 0 && attention.window_left >= -1 && attention.window_right >= -1,
                "soft_cap and window must not be negative (window: -1 for none)");
}

// Operands of one dtype, whose [heads, width] begin at `axis`.
void require_alike(const InferenceInput& input, std::size_t axis) {
  const Shape &query = input.operands[0], &key = input.operands[1], &value = input.operands[2];
  input.require(query.rank() == axis + 2 && key.rank() == axis + 2 && value.rank() == axis + 2,
                "operands 0, 1 and 2 (query, key and value) must have rank " + std::to_string(axis + 2));
  input.require(query.dtype == key.dtype && key.dtype == value.dtype,
                "operands 0, 1 and 2 (query, key and value) must have one dtype");
  require_heads(input);
}

// `place`: that of the sinks.
void require_sinks(const InferenceInput& input, std::size_t place, Dim heads) {
  input.require(input.operands[place] == Shape{input.operands[0].dtype, {heads}},
                "operand " + std::to_string(place) + ", sinks, must be one number a head");
}

void require_bias(const InferenceInput& input, const Shape& bias, Dim batch, Dim heads, Dim queries, Dim keys,
                  std::string_view dims) {
  input.require(
      bias.dtype == input.operands[0].dtype && bias.rank() == 4 && (bias.dims[0] == Dim(1) || bias.dims[0] == batch) &&
          (bias.dims[1] == Dim(1) || bias.dims[1] == heads) && bias.dims[2] == queries && bias.dims[3] == keys,
      "the bias operand must be " + std::string(dims) + " of the query's dtype");
}

void require_padded(const InferenceInput& input) {
  const Attention& attention = input.as<Attention>();
  input.require(!attention.has_query_distances && !attention.has_key_distances && !attention.has_cache_scales &&
                    attention.longest == Dim(),
                "has_query_distances, has_key_distances and has_cache_scales must be false, and longest must not be "
                "given");
}

void require_in_table(const InferenceInput& input, Dim dim) {
  input.require(dim.is_number() || static_cast<std::size_t>(dim.id()) < input.dims.size(),
                "names a dim that is not in the dim table");
}

void require_longest(const InferenceInput& input, Dim longest) {
  require_in_table(input, longest);
  input.require(longest != Dim(), "longest must be a dim, or a number above 0");
}

// Operand `place` as a cache [pages, rows of a page, heads, width].
void require_pages(const InferenceInput& input, std::size_t place) {
  const Shape& cache = input.operands[place];
  const std::string name = "operand " + std::to_string(place);
  input.require(cache.rank() == 4, name + " must be [pages, rows of a page, heads, width]");
  const Dim rows = cache.dims[1];
  input.require(rows.is_number() && rows.number() > 0 && kMostPageRows % rows.number() == 0,
                name + ": the rows of a page (axis 1) must be a number that divides " + std::to_string(kMostPageRows));
}

// The result shape of attention, with `more` operands after its own. `what` describes the required operands.
Shape attended(const InferenceInput& input, std::size_t more, std::string_view what) {
  const Attention& attention = input.as<Attention>();
  require_alike(input, 2);
  require_padded(input);
  input.require(input.operands.size() == operand_count<AttentionOperands>(attention) + more, what);
  const auto at = places_of<AttentionOperands>(attention);
  const Shape &query = input.operands[at.query], &key = input.operands[at.key], &value = input.operands[at.value];
  input.require(query.dims[0] == key.dims[0] && key.dims[0] == value.dims[0] && key.dims[1] == value.dims[1],
                "operands 0, 1 and 2 (query, key and value) must have one batch; key and value one length");
  if (at.lengths)
    input.require(input.operands[*at.lengths] == Shape{DType::i32, {query.dims[0]}},
                  "operand 3, lengths, must be i32 [batch]");
  if (at.bias)
    require_bias(input, input.operands[*at.bias], query.dims[0], query.dims[2], query.dims[1], key.dims[1],
                 "[1 or batch, 1 or heads, queries, keys]");
  if (at.sinks) require_sinks(input, *at.sinks, query.dims[2]);
  Shape result = query;
  result.dims[3] = value.dims[3];
  return result;
}

}  // namespace

std::vector<Shape> infer_attention(const InferenceInput& input) {
  return {
      attended(input, 0, "operands must be query, key and value, then lengths, bias and sinks as the attributes say")};
}

std::vector<Shape> infer_attention_gradient(const InferenceInput& input) {
  const Attention& attention = input.as<Attention>();
  const Shape result = attended(input, 1,
                                "operands must be query, key and value, then lengths, bias and sinks as the attributes "
                                "say, then the gradient of the result");
  input.require(input.operands.back() == result,
                "the last operand, the gradient, must have the shape of attention's result: the query's with the "
                "value's width");
  auto at = places_of<AttentionOperands>(attention);
  at.lengths.reset();  // has no gradient
  std::vector<Shape> results;
  for (const std::size_t place : at.list()) results.push_back(input.operands[place]);
  return results;
}

std::vector<Shape> infer_ragged_attention(const InferenceInput& input) {
  const Attention& attention = input.as<Attention>();
  require_alike(input, 1);
  const Dim longest = attention.longest;
  require_longest(input, longest);
  input.require(!attention.has_cache_scales, "has_cache_scales must be false");
  input.require(input.operands.size() == operand_count<RaggedAttentionOperands>(attention),
                "operands must be query, key, value, starts and lengths, then key lengths, bias, sinks and scores by "
                "distance as the attributes say");
  const auto at = places_of<RaggedAttentionOperands>(attention);
  const Shape &query = input.operands[at.query], &key = input.operands[at.key], &value = input.operands[at.value];
  const Shape &starts = input.operands[at.starts], &lengths = input.operands[at.lengths];
  input.require(query.dims[0] == key.dims[0] && key.dims[0] == value.dims[0],
                "operands 0, 1 and 2 (query, key and value) must have the same tokens");
  input.require(starts.dtype == DType::i32 && starts.rank() == 1 && lengths == starts,
                "operands 3 and 4 (starts and lengths) must be i32 [sequences]");
  if (at.key_lengths)
    input.require(input.operands[*at.key_lengths] == starts, "operand 5, key lengths, must be i32 [sequences]");
  if (at.bias)
    require_bias(input, input.operands[*at.bias], starts.dims[0], query.dims[1], longest, longest,
                 "[1 or sequences, 1 or heads, longest, longest]");
  if (at.sinks) require_sinks(input, *at.sinks, query.dims[1]);
  const auto require_distances = [&](std::size_t place, bool may_be_shared) {
    const auto scores = [&](Dim tokens) { return Shape{query.dtype, {query.dims[1], tokens, 2, longest}}; };
    const Shape& given = input.operands[place];
    input.require(given == scores(query.dims[0]) || (may_be_shared && given == scores(1)),
                  "operand " + std::to_string(place) + ", scores by distance, must be [heads, " +
                      (may_be_shared ? "1 or " : "") + "tokens, 2, longest] of the query's dtype");
  };
  if (at.query_distances) require_distances(*at.query_distances, false);
  if (at.key_distances) require_distances(*at.key_distances, true);
  Shape result = query;
  result.dims[2] = value.dims[2];
  return {result};
}

std::vector<Shape> infer_write_pages(const InferenceInput& input) {
  const Shape &cache = input.operands[0], &rows = input.operands[1], &slots = input.operands[2];
  require_pages(input, 0);
  const DTypeSet dtypes = cache.dtype == DType::i8 ? set_of(DType::i8) : kFloats;
  input.require(contains(dtypes, rows.dtype) && rows.rank() == 3 && rows.dims[1] == cache.dims[2] &&
                    rows.dims[2] == cache.dims[3],
                "operand 1 (rows) must be floats (i8, if operand 0 is) [tokens, heads, width], with the heads and the "
                "width of operand 0");
  input.require(slots == Shape{DType::i32, {rows.dims[0]}}, "operand 2 (slots) must be i32 [tokens]");
  return {cache};
}

std::vector<Shape> infer_paged_attention(const InferenceInput& input) {
  const Attention& attention = input.as<Attention>();
  input.require(!attention.has_lengths && !attention.has_bias && !attention.rounds_operands &&
                    !attention.has_query_distances && !attention.has_key_distances,
                "has_lengths, has_bias, rounds_operands, has_query_distances and has_key_distances must be false");
  require_longest(input, attention.longest);
  input.require(input.operands.size() == operand_count<PagedAttentionOperands>(attention),
                "operands must be query, key, value, table, starts, lengths and key lengths, then sinks and the scales "
                "of key and value as the attributes say");
  const auto at = places_of<PagedAttentionOperands>(attention);
  const Shape &query = input.operands[at.query], &key = input.operands[at.key], &value = input.operands[at.value];
  const Shape &table = input.operands[at.table], &starts = input.operands[at.starts];
  input.require(query.rank() == 3, "operand 0 (query) must be [tokens, heads, width]");
  require_pages(input, at.key);
  require_pages(input, at.value);
  input.require(key.dims[0] == value.dims[0] && key.dims[1] == value.dims[1],
                "operands 1 and 2 (key and value) must have as many pages, and as many rows in each");
  const DTypeSet dtypes = set_of(DType::f16) | set_of(DType::bf16) | set_of(DType::f32) | set_of(query.dtype);
  input.require(
      key.dtype == value.dtype && (attention.has_cache_scales ? key.dtype == DType::i8 : contains(dtypes, key.dtype)),
      "operands 1 and 2 (key and value) must have one dtype: f16, bf16, f32 or that of operand 0, or i8 with "
      "scales");
  if (attention.has_cache_scales) {
    const Shape scales{DType::f32, {key.dims[0], key.dims[1], key.dims[2], 1}};
    input.require(input.operands[*at.key_scales] == scales && input.operands[*at.value_scales] == scales,
                  "operands " + std::to_string(*at.key_scales) + " and " + std::to_string(*at.value_scales) +
                      " (scales of key and value) must be f32 [pages, rows of a page, kv_heads, 1]");
  }
  require_heads(input);
  input.require(starts.dtype == DType::i32 && starts.rank() == 1 && input.operands[at.lengths] == starts &&
                    input.operands[at.key_lengths] == starts,
                "operands 4, 5 and 6 (starts, lengths and key lengths) must be i32 [sequences]");
  input.require(table.dtype == DType::i32 && table.rank() == 2 && table.dims[0] == starts.dims[0],
                "operand 3 (table) must be i32 [sequences, most pages]");
  if (at.sinks) require_sinks(input, *at.sinks, query.dims[1]);
  Shape result = query;
  result.dims[2] = value.dims[3];
  return {result};
}

std::vector<Shape> infer_ragged_pool(const InferenceInput& input) {
  const Shape &x = input.operands[0], &starts = input.operands[1];
  input.require(x.rank() == 2, "operand 0 must be [tokens, width]");
  input.require(starts.dtype == DType::i32 && starts.rank() == 1 && input.operands[2] == starts,
                "operands 1 and 2 (starts and lengths) must be i32 [sequences]");
  require_in_table(input, input.as<Pool>().longest);
  return {{x.dtype, {starts.dims[0], x.dims[1]}}};
}

}  // namespace alate::graph
