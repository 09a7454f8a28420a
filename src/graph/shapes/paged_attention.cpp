#include "graph/shapes/rules.h"

namespace alate::graph {

std::vector<Shape> infer_paged_attention(const InferenceInput& input) {
  const Attention& attention = input.as<Attention>();
  const Shape &query = input.operands[0], &keys = input.operands[1], &values = input.operands[2],
              &table = input.operands[3];
  input.require(!attention.has_lengths && !attention.has_bias, "has_lengths and has_bias must be false");
  input.require(!attention.has_query_distances && !attention.has_key_distances,
                "has_query_distances and has_key_distances must be false");
  input.require(attention.soft_cap >= 0 && attention.window_left >= -1 && attention.window_right >= -1,
                "soft_cap and window must not be negative (window: -1 for none)");
  input.require(
      input.operands.size() == (attention.has_sinks ? 7U : 6U),
      "operands must be query, key pages, value pages, page table, lengths and query lengths, then sinks as the "
      "attribute says");
  input.require(query.rank() == 4 && keys.rank() == 4 && values.rank() == 4,
                "query, key pages and value pages must have rank 4");
  input.require(query.dtype == keys.dtype && keys.dtype == values.dtype,
                "query, key pages and value pages must have one dtype");
  input.require(keys.dims[0] == values.dims[0] && keys.dims[1] == values.dims[1] && keys.dims[2] == values.dims[2],
                "key and value pages must be as many, of one size and as many heads");
  input.require(keys.dims[0] != Dim(0), "needs at least one page");
  input.require(query.dims[3] == keys.dims[3], "query and key pages must have one width");
  const Dim heads = query.dims[2], kv_heads = keys.dims[2];
  input.require(
      heads.is_number() && kv_heads.is_number() && kv_heads.number() > 0 && heads.number() % kv_heads.number() == 0,
      "the query's heads must be a multiple of the pages'");
  const Shape sequences{DType::i32, {query.dims[0]}};
  input.require(table.dtype == DType::i32 && table.rank() == 2 && table.dims[0] == query.dims[0],
                "the page table must be i32 [sequences, longest in pages]");
  input.require(input.operands[4] == sequences && input.operands[5] == sequences,
                "lengths and query lengths must be i32 [sequences]");
  const Dim size = keys.dims[1], longest = table.dims[1];
  input.require(
      size.is_number() && longest.is_number() && (size == Dim(0) || longest.number() <= INT32_MAX / size.number()),
      "the page size and the longest in pages must be numbers, and their product an i32");
  if (attention.has_sinks)
    input.require(input.operands[6] == Shape{query.dtype, {heads}}, "sinks must be one number a head");
  Shape result = query;
  result.dims[3] = values.dims[3];
  return {result};
}

}  // namespace alate::graph
