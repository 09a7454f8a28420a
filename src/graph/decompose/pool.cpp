#include <limits>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "graph/decompose.h"
#include "graph/decompose/widening.h"

namespace alate::graph {
namespace {

// x's rows padded to [sequences, longest, width], with `otherwise` past the end.
struct Padded {
  Value rows;
  Value weights;  // [sequences, longest]: 1, or position + 1 for weighted_mean; 0 past the end
};

Padded pad(Builder& b, Value x, Value starts, Value lengths, Dim longest, bool by_place, double otherwise) {
  const Dims places{b.shape(starts).dims[0], longest};
  const Dims rows_dims{places[0], longest, b.shape(x).dims[1]};
  const Value place = b.iota({}, {.dtype = DType::i32, .dims = places, .axis = 1});
  const Value inside = b.less({place, b.broadcast_in_dim({lengths}, {.dims = places, .mapping = {0}})});
  const Value rows = take_rows(b, x, padded_rows(b, starts, lengths, longest));
  const Value masked = b.select(
      {b.broadcast_in_dim({inside}, {.dims = rows_dims, .mapping = {0, 1}}), rows, scalar_like(b, otherwise, rows)});
  Value weights = b.convert({inside}, {.dtype = b.shape(x).dtype});
  if (by_place) {
    const Value number = b.convert({b.add({place, scalar_like(b, 1, place)})}, {.dtype = b.shape(x).dtype});
    weights = b.mul({weights, number});
  }
  return {masked, weights};
}

// A weighted sum of rows over a divisor; sentence-transformers' Pooling module.
Value mean(Builder& b, const Padded& padded, bool root) {
  const Dims dims = b.shape(padded.rows).dims;
  const Value weighted = b.mul({padded.rows, b.broadcast_in_dim({padded.weights}, {.dims = dims, .mapping = {0, 1}})});
  const Value sum = b.reduce_sum({weighted}, {.axes = {1}});
  Value divisor = b.reduce_sum({padded.weights}, {.axes = {1}});
  divisor = b.max({divisor, scalar_like(b, 1e-9, divisor)});
  if (root) divisor = b.sqrt({divisor});
  return b.div({sum, b.broadcast_in_dim({divisor}, {.dims = b.shape(sum).dims, .mapping = {0}})});
}

// `row`, or zeros for an empty sequence.
Value unless_empty(Builder& b, Value row, Value lengths) {
  const Value some = b.greater({lengths, scalar_like(b, 0, lengths)});
  return b.select(
      {b.broadcast_in_dim({some}, {.dims = b.shape(row).dims, .mapping = {0}}), row, scalar_like(b, 0, row)});
}

}  // namespace

Value decompose_ragged_pool(Builder& b, std::span<const Value> operands, const Pool& attributes) {
  const DType dtype = b.shape(operands[0]).dtype;
  if (b.shape(operands[0]).dims[0] == Dim(0))  // no row to gather: every sequence is empty
    return broadcast_to(b, b.scalar(dtype, 0), {b.shape(operands[1]).dims[0], b.shape(operands[0]).dims[1]});
  const Value x = widen(b, operands[0]), starts = operands[1], lengths = operands[2];
  const auto finish = [&](Value result) { return narrow(b, result, dtype); };
  const auto padded = [&](bool by_place, double otherwise) {
    return pad(b, x, starts, lengths, attributes.longest, by_place, otherwise);
  };
  switch (attributes.mode) {
    case PoolMode::mean: return finish(mean(b, padded(false, 0), false));
    case PoolMode::mean_sqrt_len: return finish(unless_empty(b, mean(b, padded(false, 0), true), lengths));
    case PoolMode::weighted_mean: return finish(mean(b, padded(true, 0), false));
    case PoolMode::cls: return finish(unless_empty(b, take_rows(b, x, starts), lengths));
    case PoolMode::last: {
      const Value last = b.sub({b.add({starts, lengths}), scalar_like(b, 1, starts)});
      return finish(unless_empty(b, take_rows(b, x, last), lengths));
    }
    case PoolMode::max: {
      const Padded lowest = padded(false, -std::numeric_limits<double>::infinity());
      return finish(unless_empty(b, b.reduce_max({lowest.rows}, {.axes = {1}}), lengths));
    }
  }
  throw make_error(ErrorCode::internal, "unknown pool mode");
}

}  // namespace alate::graph
