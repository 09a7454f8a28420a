#include "graph/decompose.h"
#include "graph/decompose/widening.h"
#include "graph/operands.h"

namespace alate::graph {
namespace {

// Elements from start to limit of the last axis.
Value part(Builder& b, Value x, std::int64_t start, std::int64_t limit, std::int64_t stride = 1) {
  const Dims dims = b.shape(x).dims;
  Slice slice{.starts = Dims(dims.size(), 0), .limits = dims, .strides = Numbers(dims.size(), 1)};
  slice.starts.back() = start;
  slice.limits.back() = limit;
  slice.strides.back() = stride;
  return b.slice({x}, std::move(slice));
}

}  // namespace

Value decompose_rope(Builder& b, std::span<const Value> operands, const Rope& attributes) {
  const auto given = RopeOperands<>::of(attributes, operands);
  const Value x = widen(b, given.x);
  const Shape shape = b.shape(x);
  const auto last = static_cast<std::int64_t>(shape.rank()) - 1;
  const std::int64_t half = b.shape(given.cosines).dims.back().number(), width = shape.dims.back().number();
  if (half == 0) return given.x;

  Dims turned = shape.dims;  // dims of one element of each pair
  turned.back() = half;
  const auto factors = [&](Value table) {  // broadcast to all heads of a token
    const Value rows = given.positions ? take_rows(b, table, *given.positions) : table;
    Numbers mapping;
    for (std::int64_t axis = 0; axis + 1 < last; ++axis) mapping.push_back(axis);
    mapping.push_back(last);
    return b.broadcast_in_dim({narrow(b, rows, shape.dtype)}, {.dims = turned, .mapping = std::move(mapping)});
  };
  const Value cosine = factors(given.cosines), sine = factors(given.sines);
  const Value left = attributes.interleaved ? part(b, x, 0, 2 * half, 2) : part(b, x, 0, half);
  const Value right = attributes.interleaved ? part(b, x, 1, 2 * half, 2) : part(b, x, half, 2 * half);
  std::vector<Value> results = {b.sub({b.mul({left, cosine}), b.mul({right, sine})}),
                                b.add({b.mul({right, cosine}), b.mul({left, sine})})};
  if (attributes.interleaved) {
    Dims column = turned;
    column.emplace_back(1);
    for (Value& result : results) result = b.reshape({result}, {.dims = column});
    const Value pairs = b.concatenate(results, {.axis = last + 1});
    turned.back() = 2 * half;
    results = {b.reshape({pairs}, {.dims = turned})};
  }
  if (2 * half < width) results.push_back(part(b, x, 2 * half, width));
  const Value whole = results.size() == 1 ? results[0] : b.concatenate(results, {.axis = last});
  return narrow(b, whole, b.shape(given.x).dtype);
}

}  // namespace alate::graph
