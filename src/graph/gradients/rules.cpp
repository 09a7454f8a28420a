#include "graph/gradients/rules.h"

#include <algorithm>

namespace alate::graph {

const GradientRule* find_gradient_rule(Op op) {
  static const auto table = [] {
    std::vector<const GradientRule*> rows(all_ops().size(), nullptr);
    for (const auto family :
         {unary_gradients(), binary_gradients(), select_gradients(), movement_gradients(), dynamic_gradients(),
          gather_gradients(), scatter_gradients(), reduction_gradients(), cumulative_gradients(), sort_gradients(),
          dot_gradients(), convolution_gradients(), window_gradients(), fft_gradients(), batch_norm_gradients(),
          attention_gradients(), region_gradients(), loop_gradients(), device_gradients()}) {
      for (const GradientRule& row : family) rows.at(static_cast<std::size_t>(row.op)) = &row;
    }
    return rows;
  }();
  return table.at(static_cast<std::size_t>(op));
}

OpGradient op_gradient(Op op) {
  if (op_info(op).kind == OpKind::fused) return {OpGradient::Kind::rule, ""};
  if (op_info(op).kind == OpKind::leaf) return {OpGradient::Kind::zero, "it has no operands"};
  const GradientRule* row = find_gradient_rule(op);
  if (row == nullptr) return {OpGradient::Kind::none, "nobody has written its rule"};
  return {row->kind, row->reason};
}

bool is_empty(const Shape& shape) {
  return std::any_of(shape.dims.begin(), shape.dims.end(), [](Dim dim) { return dim == Dim(0); });
}

Value extent_of(Builder& b, Value x, std::size_t axis, DType dtype) {
  const Dim dim = b.shape(x).dims[axis];
  if (dim.is_number()) return b.scalar(dtype, static_cast<double>(dim.number()));
  return b.convert({b.dimension_size({x}, {.axis = static_cast<std::int64_t>(axis)})}, {.dtype = dtype});
}

Value restore_axes(Builder& b, Value reduced, const Dims& dims, const Numbers& axes) {
  Numbers kept;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) kept.push_back(axis);
  }
  return b.broadcast_in_dim({reduced}, {.dims = dims, .mapping = std::move(kept)});
}

Value scatter_along(Builder& b, const Shape& shape, std::size_t axis, Value places, Value g) {
  Numbers others;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (i != axis) others.push_back(static_cast<std::int64_t>(i));
  }
  const auto along = static_cast<std::int64_t>(axis);
  return b.scatter_sum({zeros(b, shape), places, g}, {.update_window_dims = {},
                                                      .inserted_window_dims = {along},
                                                      .input_batching_dims = others,
                                                      .scatter_indices_batching_dims = others,
                                                      .scatter_dims_to_operand_dims = {along},
                                                      .index_vector_dim = static_cast<std::int64_t>(shape.rank()),
                                                      .unique_indices = false});
}

}  // namespace alate::graph
