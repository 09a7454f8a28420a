// Builder functions for the ops around attention in decoders and encoders, composed of existing ops.
#pragma once

#include <optional>

#include "graph/builder.h"

namespace alate::graph {

struct HeadSizes {
  std::int64_t heads, kv_heads, width, value_width;
};
struct QueryKeyValue {
  Value query, key, value;
};
/// One dense product of x [..., in], split into query [..., heads, width], key [..., kv_heads, width] and value [...,
/// kv_heads, value_width]. weight is [out, in] (bias [out]) with the rows of query, key and value concatenated, each
/// head's rows contiguous. The merge_projections pass turns three products into the same.
QueryKeyValue project_qkv(Builder& b, Value x, Value weight, std::optional<Value> bias, const HeadSizes& sizes);

/// Cosines and sines for rope, f32 [places, rotary_width / 2]: the angle is position · base^(-2i / rotary_width),
/// section 3.2.2 of Su et al. 2021, "RoFormer". Throws invalid_argument when rotary_width is odd or negative.
struct RopeTables {
  Tensor cosines, sines;
};
RopeTables rope_tables(std::int64_t places, std::int64_t rotary_width, double base);

}  // namespace alate::graph
