// Gather and scatter.
#include <algorithm>

#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"

namespace alate::exchange {
namespace {

using graph::Op;

// "offset_dims = [1], index_vector_dim = 1": fields that are empty are left out.
struct Field {
  std::string_view name;
  const Numbers& numbers;
};
std::string dimension_numbers(std::initializer_list<Field> fields, std::int64_t index_vector_dim) {
  std::string text;
  for (const Field& field : fields) {
    if (!field.numbers.empty()) text += std::string(field.name) + " = " + list(field.numbers) + ", ";
  }
  return text + "index_vector_dim = " + std::to_string(index_vector_dim);
}

// The region that combines an update with an element; f16 and bf16 are summed in f32.
std::string update_region(HloWriter& w, Op op, DType dtype) {
  if (op == Op::scatter_sum) return combining_region(w, graph::Reduction::sum, dtype);
  if (op == Op::scatter_max) return combining_region(w, graph::Reduction::max, dtype);
  if (op == Op::scatter_min) return combining_region(w, graph::Reduction::min, dtype);
  const Shape scalar{dtype, {}};
  return w.region({scalar, scalar}, [](const HloValues& pair) { return HloValues{pair[1]}; });
}

HloValue scatter(HloWriter& w, Op op, const HloValues& operands, const graph::Scatter& s) {
  const std::string numbers = dimension_numbers({{"update_window_dims", s.update_window_dims},
                                                 {"inserted_window_dims", s.inserted_window_dims},
                                                 {"input_batching_dims", s.input_batching_dims},
                                                 {"scatter_indices_batching_dims", s.scatter_indices_batching_dims},
                                                 {"scatter_dims_to_operand_dims", s.scatter_dims_to_operand_dims}},
                                                s.index_vector_dim);
  const Shape& shape = operands[0].shape;
  return w.ops("scatter", operands, {shape},
               "scatter_dimension_numbers = #stablehlo.scatter<" + numbers +
                   ">, unique_indices = " + (s.unique_indices ? "true" : "false"),
               {update_region(w, op, shape.dtype)})[0];
}

// The extents of a window along the axes of operand 0.
Numbers window_of(const graph::Scatter& s, const HloValue& x, const HloValue& updates) {
  Numbers window(x.shape.rank(), 1);
  for (std::size_t i = 0, next = 0; i < window.size(); ++i) {
    if (names(s.inserted_window_dims, i) || names(s.input_batching_dims, i)) continue;
    window[i] = updates.shape.dims[static_cast<std::size_t>(s.update_window_dims[next++])].number();
  }
  return window;
}

// XLA skips a whole window that is partly out of bounds. Where a window has several elements along an indexed axis, the
// operand is padded so that all windows are in bounds, and the padding is dropped afterwards.
HloValue scatter_into_padded(HloWriter& w, Op op, HloValues operands, graph::Scatter s) {
  const Numbers window = window_of(s, operands[0], operands[2]), extents = extents_of(operands[0].shape);
  Numbers margin(window.size(), 0), lowest, highest;
  for (const std::int64_t axis : s.scatter_dims_to_operand_dims) {
    const auto at = static_cast<std::size_t>(axis);
    margin[at] = window[at];
    lowest.push_back(-window[at]);
    highest.push_back(extents[at]);
  }
  HloValue& indices = operands[1];
  indices = convert(w, as_indices(w, indices), DType::i64);
  const auto row = [&](const Numbers& numbers) {
    const HloValue vector = w.constant(Tensor::from<std::int64_t>({static_cast<std::int64_t>(numbers.size())},
                                                                  std::span<const std::int64_t>(numbers)));
    const bool has_axis = s.index_vector_dim < static_cast<std::int64_t>(indices.shape.rank());
    return has_axis ? broadcast(w, vector, extents_of(indices.shape), {s.index_vector_dim})
                    : broadcast(w, reshape(w, vector, {}), extents_of(indices.shape), {});
  };
  const HloValue low = row(lowest);
  indices = like_first(w, "minimum", {like_first(w, "maximum", {indices, low}), row(highest)});
  indices = like_first(w, "subtract", {indices, low});
  operands[0] = pad(w, operands[0], splat(w, {operands[0].shape.dtype, {}}, 0), margin, margin);
  s.unique_indices = false;  // indices in the padding need not be unique
  HloValue result = scatter(w, op, operands, s);
  for (std::size_t i = 0; i < margin.size(); ++i) result = slice(w, result, i, margin[i], margin[i] + extents[i]);
  return result;
}

// Every update of a scalar lands on it: written as an axis of one element, which XLA can compile.
HloValue scatter_into_scalar(HloWriter& w, Op op, const HloValues& operands) {
  const std::int64_t count = operands[2].shape.element_count();
  const graph::Scatter rows{{}, {0}, {}, {}, {0}, 1, false};
  const HloValue places = splat(w, shape_of(DType::i32, Numbers{count, 1}), 0);
  return reshape(w, scatter(w, op, {reshape(w, operands[0], {1}), places, reshape(w, operands[2], {count})}, rows), {});
}

}  // namespace

HloValues write_gather(HloWriter& w, const HloCall& call) {
  const graph::Gather& g = call.as<graph::Gather>();
  const std::string numbers = dimension_numbers({{"offset_dims", g.offset_dims},
                                                 {"collapsed_slice_dims", g.collapsed_slice_dims},
                                                 {"operand_batching_dims", g.operand_batching_dims},
                                                 {"start_indices_batching_dims", g.start_indices_batching_dims},
                                                 {"start_index_map", g.start_index_map}},
                                                g.index_vector_dim);
  return {w.op("gather", {call.operand(0), as_indices(w, call.operand(1))}, call.shape(),
               "dimension_numbers = #stablehlo.gather<" + numbers +
                   ">, slice_sizes = " + array_attribute(call.dims(g.slice_sizes)) + ", indices_are_sorted = false")};
}

HloValues write_scatter(HloWriter& w, const HloCall& call) {
  const graph::Scatter& s = call.as<graph::Scatter>();
  const Op op = call.node.op;
  const DType dtype = call.shape().dtype;
  if (call.operand(2).shape.element_count() == 0) return {call.operand(0)};
  HloValues operands = call.operands;
  if (op == Op::scatter_sum) {
    operands[0] = convert(w, operands[0], computing_dtype(dtype));
    operands[2] = convert(w, operands[2], computing_dtype(dtype));
  }
  operands[1] = as_indices(w, operands[1]);
  const Numbers window = window_of(s, operands[0], operands[2]);
  const bool may_be_partly_outside = std::ranges::any_of(
      s.scatter_dims_to_operand_dims, [&](std::int64_t axis) { return window[static_cast<std::size_t>(axis)] != 1; });
  if (operands[0].shape.rank() == 0) return {convert(w, scatter_into_scalar(w, op, operands), dtype)};
  if (may_be_partly_outside) return {convert(w, scatter_into_padded(w, op, operands, s), dtype)};
  return {convert(w, scatter(w, op, operands, s), dtype)};
}

}  // namespace alate::exchange
