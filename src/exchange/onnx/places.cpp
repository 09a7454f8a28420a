// gather and scatter, by each element's index in the flattened operand, which covers all their forms.
#include <algorithm>
#include <limits>

#include "exchange/onnx/layout.h"
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

bool contains(const Numbers& list, std::size_t axis) {
  return std::ranges::find(list, static_cast<std::int64_t>(axis)) != list.end();
}

Numbers range(std::size_t from, std::size_t to) {
  Numbers axes;
  for (std::size_t i = from; i < to; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

// The entries of the index vectors, each with the batch axes.
Terms index_parts(const Call& c, std::int64_t vector_dim, std::size_t length) {
  const Term indices = as_indices(c[1]);
  if (at(vector_dim) == c.shape(1).rank()) return {indices};
  Terms parts;
  for (std::size_t i = 0; i < length; ++i)
    parts.push_back(entry(indices, c.e.integer(DType::i64, static_cast<std::int64_t>(i)), vector_dim));
  return parts;
}

Dims batch_dims(const Call& c, std::int64_t vector_dim) {
  Dims dims = c.shape(1).dims;
  if (at(vector_dim) < dims.size()) dims.erase(dims.begin() + vector_dim);
  return dims;
}

// The batch axis that corresponds to axis `axis` of the indices.
std::size_t batch_axis(std::int64_t axis, std::int64_t vector_dim) { return at(axis < vector_dim ? axis : axis - 1); }

Term stride(const Call& c, std::size_t axis) {
  const Dims& dims = c.shape().dims;
  return scalar_product_of(c.e, Dims(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end()));
}

Term extent(const Call& c, Dim dim) { return squeeze(c.e.extent(dim), {0}); }

// Whether every index takes a whole row of one axis, which is ONNX's Gather.
bool takes_whole_rows(const Call& c, const graph::Gather& gather) {
  if (gather.collapsed_slice_dims.size() != 1 || gather.start_index_map != gather.collapsed_slice_dims) return false;
  if (!gather.operand_batching_dims.empty()) return false;
  const Dims& dims = c.shape().dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!contains(gather.collapsed_slice_dims, i) && gather.slice_sizes[i] != dims[i]) return false;
  }
  return true;
}

// Moves batch axes from before the slice axes to their positions in the result.
Term in_result_order(const Term& x, const graph::Gather& gather, std::size_t rank) {
  const std::size_t batch_rank = rank - gather.offset_dims.size();
  Numbers permutation;
  std::size_t batch = 0, offset = 0;
  for (std::size_t i = 0; i < rank; ++i)
    permutation.push_back(static_cast<std::int64_t>(contains(gather.offset_dims, i) ? batch_rank + offset++ : batch++));
  return transpose(x, permutation);
}

Terms gathered_rows(const Call& c, const graph::Gather& gather) {
  const std::size_t axis = at(gather.collapsed_slice_dims[0]), batch_rank = c.result().rank() - c.shape().rank() + 1;
  const Term last = extent(c, c.shape().dims[axis]) - 1;
  const Term zero = c.e.integer(DType::i64, 0);
  const Term index = larger(smaller(index_parts(c, gather.index_vector_dim, 1)[0], last), zero);
  Numbers batch_first = range(axis, axis + batch_rank);
  for (const std::int64_t other : other_axes(c.result().rank(), batch_first)) batch_first.push_back(other);
  const Term rows = transpose(entry(c[0], index, static_cast<std::int64_t>(axis)), batch_first);
  return {in_result_order(rows, gather, c.result().rank())};
}

Terms gather(const Call& c) {
  const auto& gather = c.as<graph::Gather>();
  if (takes_whole_rows(c, gather)) return gathered_rows(c, gather);
  const Dims& dims = c.shape().dims;
  const Dims batch = batch_dims(c, gather.index_vector_dim);
  const std::size_t rank = c.result().rank();
  const Term zero = c.e.integer(DType::i64, 0);
  Term place = zero;
  const Terms starts = index_parts(c, gather.index_vector_dim, gather.start_index_map.size());
  for (std::size_t i = 0; i < gather.start_index_map.size(); ++i) {
    const std::size_t axis = at(gather.start_index_map[i]);
    const Term last = extent(c, dims[axis]) - extent(c, gather.slice_sizes[axis]);
    const Term start = larger(smaller(starts[i], last), zero);
    place = place + unsqueeze(start * stride(c, axis), range(batch.size(), rank));
  }
  for (std::size_t i = 0; i < gather.operand_batching_dims.size(); ++i) {
    const std::size_t axis = batch_axis(gather.start_indices_batching_dims[i], gather.index_vector_dim);
    const Term count = count_to(c.e.extent(batch[axis])) * stride(c, at(gather.operand_batching_dims[i]));
    place = place + along_axis(count, rank, axis);
  }
  Dims all = batch;
  for (std::size_t i = 0, next = 0; i < dims.size(); ++i) {
    if (contains(gather.collapsed_slice_dims, i) || contains(gather.operand_batching_dims, i)) continue;
    place = place + along_axis(count_to(c.e.extent(gather.slice_sizes[i])) * stride(c, i), rank, batch.size() + next++);
    all.push_back(gather.slice_sizes[i]);
  }
  return {in_result_order(entry(flatten(c[0]), expand(place, all)), gather, rank)};
}

// The index where each update lands in the flattened operand 0, or its end if out of range; and the updates with batch
// axes first, flattened.
struct Landing {
  Term places, updates;
};

Landing landing(const Call& c) {
  const auto& scatter = c.as<graph::Scatter>();
  const Dims &dims = c.shape().dims, &update_dims = c.shape(2).dims;
  const Dims batch = batch_dims(c, scatter.index_vector_dim);
  const std::size_t rank = update_dims.size();
  Numbers order = other_axes(rank, scatter.update_window_dims);
  order.insert(order.end(), scatter.update_window_dims.begin(), scatter.update_window_dims.end());
  const Term zero = c.e.integer(DType::i64, 0);
  std::vector<Term> at_axis(dims.size(), zero);
  std::vector<Dim> window(dims.size(), Dim(1));
  for (std::size_t i = 0, next = 0; i < dims.size(); ++i) {
    if (contains(scatter.inserted_window_dims, i) || contains(scatter.input_batching_dims, i)) continue;
    window[i] = update_dims[at(scatter.update_window_dims[next])];
    at_axis[i] = along_axis(count_to(c.e.extent(window[i])), rank, batch.size() + next++);
  }
  const Terms starts = index_parts(c, scatter.index_vector_dim, scatter.scatter_dims_to_operand_dims.size());
  for (std::size_t i = 0; i < scatter.scatter_dims_to_operand_dims.size(); ++i) {
    const std::size_t axis = at(scatter.scatter_dims_to_operand_dims[i]);
    // Clamped so that sums cannot overflow, but out-of-range starts stay out of range.
    const Term start = larger(smaller(starts[i], extent(c, dims[axis])), -extent(c, window[axis]));
    at_axis[axis] = at_axis[axis] + unsqueeze(start, range(batch.size(), rank));
  }
  for (std::size_t i = 0; i < scatter.input_batching_dims.size(); ++i) {
    const std::size_t axis = batch_axis(scatter.scatter_indices_batching_dims[i], scatter.index_vector_dim);
    at_axis[at(scatter.input_batching_dims[i])] = along_axis(count_to(c.e.extent(batch[axis])), rank, axis);
  }
  Term place = zero, is_outside = zero < 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    is_outside = is_outside | (at_axis[i] < 0) | !(at_axis[i] < extent(c, dims[i]));
    place = place + at_axis[i] * stride(c, i);
  }
  place = where(is_outside, scalar_product_of(c.e, dims), place);
  return {flatten(expand(place, picked(update_dims, order))), flatten(transpose(c[2], order))};
}

// `x` of operand 0's dims with updates combined into it.
Term scattered(const Call& c, const Term& x, const Term& places, const Term& updates, std::string_view reduction) {
  const Term rest = expand(to(c.e.integer(DType::i64, 0), x.dtype), {1});
  const Term all = c.e.node("ScatterElements", x.dtype, {concatenate({flatten(x), rest}, 0), places, updates},
                            {attribute("axis", 0), attribute("reduction", reduction)});
  const Term kept = slice(all, {0}, c.e.integers({0}), product_of(c.e, c.shape().dims), {1});
  return reshape(kept, c.shape().dims);
}

Terms scatter_set(const Call& c) {
  const Landing to = landing(c);
  return {scattered(c, c[0], to.places, to.updates, "none")};
}

Terms scatter_sum(const Call& c) {
  const Landing land = landing(c);
  if (c[0].dtype != DType::boolean) return {scattered(c, c[0], land.places, land.updates, "add")};
  return {to(scattered(c, to(c[0], DType::i32), land.places, to(land.updates, DType::i32), "max"), DType::boolean)};
}

// The runtime's comparisons lose NaN: elements with a NaN are found separately.
Terms scatter_extreme(const Call& c) {
  const std::string_view reduction = c.node.op == Op::scatter_max ? "max" : "min";
  const Landing land = landing(c);
  const Term &x = c[0], &updates = land.updates;
  if (!is_float(x.dtype)) return {scattered(c, x, land.places, updates, reduction)};
  const double beaten = (c.node.op == Op::scatter_max ? -1 : 1) * std::numeric_limits<double>::infinity();
  const Term x_nan = is_nan(x), update_nan = is_nan(updates);
  const Term extreme =
      scattered(c, where(x_nan, beaten, x), land.places, where(update_nan, beaten, updates), reduction);
  const Term nan = scattered(c, to(x_nan, DType::i32), land.places, to(update_nan, DType::i32), "max");
  return {where(nan > 0, std::numeric_limits<double>::quiet_NaN(), extreme)};
}

constexpr graph::DTypeSet kReduced = kMoved & ~(graph::kBool | graph::set_of(DType::f16));

constexpr Spelling kPlaceRows[] = {
    {Op::gather, kMoved, "Gather", gather},
    {Op::scatter_set, kMoved, "ScatterElements", scatter_set},
    {Op::scatter_sum, kReduced | graph::kBool, "ScatterElements", scatter_sum},
    {Op::scatter_max, kReduced, "ScatterElements", scatter_extreme},
    {Op::scatter_min, kReduced, "ScatterElements", scatter_extreme},
};

}  // namespace

std::span<const Spelling> place_spellings() { return kPlaceRows; }

}  // namespace alate::exchange::onnx
