#include <algorithm>

#include "graph/builder_functions.h"
#include "graph/functions/arguments.h"

namespace alate::graph {
namespace {

Dims without_last_two(const Dims& dims) { return {dims.begin(), dims.end() - 2}; }

// The value with these dims in front of its last two.
Value with_batch(Builder& b, Value x, const Dims& batch) {
  Dims dims = batch;
  dims.insert(dims.end(), b.shape(x).dims.end() - 2, b.shape(x).dims.end());
  return broadcast_to(b, x, dims);
}

}  // namespace

Value matmul(Builder& b, Value x, Value y) {
  const Value values[] = {x, y};
  const Arguments arguments{b, "matmul", values};
  arguments.require(b.shape(x).dtype == b.shape(y).dtype, "values must have one dtype");
  arguments.require(b.shape(x).rank() > 0 && b.shape(y).rank() > 0, "values must have an axis");
  const bool is_row = b.shape(x).rank() == 1, is_column = b.shape(y).rank() == 1;
  Value left = is_row ? expand_dims(b, x, {0}) : x, right = is_column ? expand_dims(b, y, {1}) : y;
  const Dims left_dims = b.shape(left).dims, right_dims = b.shape(right).dims;
  arguments.require(left_dims.back() == right_dims[right_dims.size() - 2],
                    "the last axis of the first must be as long as the rows of the second");
  Value product;
  if (right_dims.size() == 2) {  // all rows of the left, across batches, times one matrix
    product = b.dot_general({left, right}, {.lhs_batch = {},
                                            .rhs_batch = {},
                                            .lhs_contracting = {static_cast<std::int64_t>(left_dims.size()) - 1},
                                            .rhs_contracting = {0}});
  } else {
    Dims batch = without_last_two(left_dims), other = without_last_two(right_dims);
    const std::size_t rank = std::max(batch.size(), other.size());
    batch.insert(batch.begin(), rank - batch.size(), 1);
    other.insert(other.begin(), rank - other.size(), 1);
    DotGeneral dot;
    for (std::size_t i = 0; i < rank; ++i) {
      arguments.require(batch[i] == other[i] || batch[i] == Dim(1) || other[i] == Dim(1),
                        "axes before the last two do not broadcast, whose extents must be the same or 1");
      if (batch[i] == Dim(1)) batch[i] = other[i];
      dot.lhs_batch.push_back(static_cast<std::int64_t>(i));
    }
    dot.rhs_batch = dot.lhs_batch;
    dot.lhs_contracting = {static_cast<std::int64_t>(rank) + 1};
    dot.rhs_contracting = {static_cast<std::int64_t>(rank)};
    product = b.dot_general({with_batch(b, left, batch), with_batch(b, right, batch)}, dot);
  }
  Numbers gone;
  if (is_row) gone.push_back(-2);
  if (is_column) gone.push_back(-1);
  return gone.empty() ? product : squeeze(b, product, gone);
}

}  // namespace alate::graph
