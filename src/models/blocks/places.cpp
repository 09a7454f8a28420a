#include "models/blocks/places.h"

#include <limits>
#include <optional>

#include "graph/builder_functions.h"

namespace alate::models {
namespace {

using graph::Dims;
using graph::Value;

Dims pair_dims(const EncoderInputs& in) { return {in.sequences, in.longest, in.longest}; }

}  // namespace

Value padded_tokens(EncoderScope& scope) {
  const EncoderInputs& in = scope.in;
  return graph::padded_rows(scope.b, in.starts, in.lengths, in.longest);
}

graph::PackedRows packed_tokens(EncoderScope& scope) {
  const EncoderInputs& in = scope.in;
  return graph::packed_rows(scope.b, in.starts, in.lengths, in.tokens);
}

Value distances_of_places(EncoderScope& scope) {
  graph::Builder& b = scope.b;
  const EncoderInputs& in = scope.in;
  const Dims dims = pair_dims(in);
  const Value place = graph::take_rows(b, in.by_place->places, padded_tokens(scope));
  const auto along = [&](std::int64_t axis) {
    return b.broadcast_in_dim({place}, {.dims = dims, .mapping = {0, axis}});
  };
  return b.sub({along(2), along(1)});
}

Value distances_in_order(EncoderScope& scope) {
  graph::Builder& b = scope.b;
  const Dims dims = {2, scope.in.longest};
  const Value place = b.iota({}, {.dtype = DType::i32, .dims = dims, .axis = 1});
  const Value half = b.iota({}, {.dtype = DType::i32, .dims = dims, .axis = 0});
  const Value last = b.reduce_max({place}, {.axes = {0, 1}});
  const Value longest =
      b.broadcast_in_dim({b.add({last, graph::scalar_like(b, 1, last)})}, {.dims = dims, .mapping = {}});
  return b.add({place, b.mul({b.sub({half, graph::scalar_like(b, 1, half)}), longest})});
}

PairsOfPlaces pairs_of_places(EncoderScope& scope) {
  graph::Builder& b = scope.b;
  const Dims dims = pair_dims(scope.in);
  const Value visible = b.broadcast_in_dim({scope.in.key_lengths}, {.dims = dims, .mapping = {0}});
  const auto is_masked = [&](std::int64_t axis) {
    return b.greater_or_equal({b.iota({}, {.dtype = DType::i32, .dims = dims, .axis = axis}), visible});
  };
  return {dims, is_masked(1), is_masked(2)};
}

Value visible_tokens(EncoderScope& scope) {
  graph::Builder& b = scope.b;
  const graph::PackedRows tokens = packed_tokens(scope);
  const Value is_visible = b.less({tokens.place, graph::take_rows(b, scope.in.key_lengths, tokens.sequence)});
  return b.convert({is_visible}, {.dtype = DType::f32});
}

Value window_bias(EncoderScope& scope, std::int64_t left, std::int64_t right) {
  graph::Builder& b = scope.b;
  const EncoderInputs& in = scope.in;
  const Value distance = distances_of_places(scope);
  std::optional<Value> hides;
  const auto add = [&](Value more) { hides = hides ? b.logical_or({*hides, more}) : more; };
  if (left >= 0) add(b.less({distance, graph::scalar_like(b, -static_cast<double>(left), distance)}));
  if (right >= 0) add(b.greater({distance, graph::scalar_like(b, static_cast<double>(right), distance)}));
  const Value zero = graph::scalar_like(b, 0, b.convert({distance}, {.dtype = DType::f32}));
  if (!hides) return b.reshape({zero}, {.dims = {in.sequences, 1, in.longest, in.longest}});
  const Value bias = b.select({*hides, graph::scalar_like(b, -std::numeric_limits<double>::infinity(), zero), zero});
  return b.reshape({bias}, {.dims = {in.sequences, 1, in.longest, in.longest}});
}

}  // namespace alate::models
