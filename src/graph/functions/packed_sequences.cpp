#include "graph/builder_functions.h"
#include "graph/functions/arguments.h"

namespace alate::graph {
namespace {

void require_sequences(const Arguments& arguments, const Shape& starts, const Shape& lengths) {
  arguments.require(starts.dtype == DType::i32 && starts.rank() == 1 && lengths == starts,
                    "starts and lengths must be i32 [sequences]");
}

}  // namespace

Value padded_rows(Builder& b, Value starts, Value lengths, Dim longest) {
  const std::vector<Value> values = {starts, lengths};
  require_sequences({b, "padded_rows", values}, b.shape(starts), b.shape(lengths));
  const Dims dims = {b.shape(starts).dims[0], longest};
  const auto of_sequence = [&](Value value) { return b.broadcast_in_dim({value}, {.dims = dims, .mapping = {0}}); };
  const Value one = scalar_like(b, 1, lengths);
  const Value last = b.sub({b.max({lengths, one}), one});  // 0 in an empty sequence
  const Value place = b.min({b.iota({}, {.dtype = DType::i32, .dims = dims, .axis = 1}), of_sequence(last)});
  return b.add({of_sequence(starts), place});
}

PackedRows packed_rows(Builder& b, Value starts, Value lengths, Dim rows) {
  const std::vector<Value> values = {starts, lengths};
  require_sequences({b, "packed_rows", values}, b.shape(starts), b.shape(lengths));
  const Dims dims = {rows, b.shape(starts).dims[0]};
  const auto of_sequence = [&](Value value) { return b.broadcast_in_dim({value}, {.dims = dims, .mapping = {1}}); };
  const Value place = b.sub({b.iota({}, {.dtype = DType::i32, .dims = dims, .axis = 0}), of_sequence(starts)});
  const Value zero = scalar_like(b, 0, place);
  const Value has_row = b.logical_and({b.greater_or_equal({place, zero}), b.less({place, of_sequence(lengths)})});
  const auto of_row = [&](Value value) { return b.reduce_max({b.select({has_row, value, zero})}, {.axes = {1}}); };
  return {.sequence = of_row(b.iota({}, {.dtype = DType::i32, .dims = dims, .axis = 1})),
          .place = of_row(place),
          .is_of_sequence = b.reduce_or({has_row}, {.axes = {1}})};
}

}  // namespace alate::graph
