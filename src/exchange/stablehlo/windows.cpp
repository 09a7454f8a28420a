// Convolutions, window reductions, and the scatter that is max pooling's gradient.
#include "graph/window_axis.h"

#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"
#include "tensor/packed.h"

namespace alate::exchange {
namespace {

using graph::Op;
using graph::Reduction;
using graph::WindowAxis;

// "[b, f, 0, 1]": the two names and the spatial axes' numbers, in axis order.
std::string layout(char first, std::int64_t first_axis, char second, std::int64_t second_axis, const Numbers& spatial) {
  std::vector<std::string> labels(spatial.size() + 2);
  labels.at(static_cast<std::size_t>(first_axis)) = first;
  labels.at(static_cast<std::size_t>(second_axis)) = second;
  for (std::size_t i = 0; i < spatial.size(); ++i) labels.at(static_cast<std::size_t>(spatial[i])) = std::to_string(i);
  std::string text;
  for (const std::string& label : labels) text += (text.empty() ? "" : ", ") + label;
  return "[" + text + "]";
}

struct WindowNumbers {
  Numbers window, strides, low, high, base_dilations, window_dilations;

  void add(const WindowAxis& axis) {
    window.push_back(axis.window);
    strides.push_back(axis.stride);
    low.push_back(axis.low);
    high.push_back(axis.high);
    base_dilations.push_back(axis.base_dilation);
    window_dilations.push_back(axis.window_dilation);
  }
  std::string text() const {
    return "window_dimensions = " + array_attribute(window) + ", window_strides = " + array_attribute(strides) +
           ", base_dilations = " + array_attribute(base_dilations) +
           ", window_dilations = " + array_attribute(window_dilations) + ", padding = " + pairs_attribute(low, high);
  }
};

}  // namespace

HloValues write_conv_general(HloWriter& w, const HloCall& call) {
  const graph::Convolution& c = call.as<graph::Convolution>();
  const DType dtype = call.shape().dtype, taken = computing_dtype(dtype);
  WindowNumbers numbers;
  for (std::size_t i = 0; i < c.input_spatial.size(); ++i) numbers.add(window_axis(c, i, 1));
  const std::string attributes =
      "window_strides = " + array_attribute(numbers.strides) +
      ", padding = " + pairs_attribute(numbers.low, numbers.high) +
      ", lhs_dilation = " + array_attribute(numbers.base_dilations) +
      ", rhs_dilation = " + array_attribute(numbers.window_dilations) + ", dimension_numbers = #stablehlo.conv<" +
      layout('b', c.input_batch, 'f', c.input_feature, c.input_spatial) + "x" +
      layout('i', c.kernel_input, 'o', c.kernel_output, c.kernel_spatial) + "->" +
      layout('b', c.output_batch, 'f', c.output_feature, c.output_spatial) +
      ">, feature_group_count = " + std::to_string(c.feature_groups) +
      " : i64, batch_group_count = " + std::to_string(c.batch_groups) + " : i64, " + std::string(kFullPrecision);
  const HloValue result = w.op("convolution", {convert(w, call.operand(0), taken), convert(w, call.operand(1), taken)},
                               {taken, call.shape().dims}, attributes);
  return {convert(w, result, dtype)};
}

HloValues write_reduce_window(HloWriter& w, const HloCall& call) {
  const graph::Window& window = call.as<graph::Window>();
  const bool is_ring = window.reduction == Reduction::sum || window.reduction == Reduction::product;
  const DType dtype = call.shape().dtype;
  const HloValue x = is_ring ? convert(w, call.operand(0), computing_dtype(dtype)) : call.operand(0);
  const HloValue start = identity_of(w, window.reduction, {x.shape.dtype, {}});
  if (x.shape.rank() == 0)
    return {convert(w, like_first(w, op_of(window.reduction, x.shape.dtype), {start, x}), dtype)};
  WindowNumbers numbers;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) numbers.add(window_axis(window, i));
  const HloValue result = w.ops("reduce_window", {x, start}, {{x.shape.dtype, call.shape().dims}}, numbers.text(),
                                {combining_region(w, window.reduction, x.shape.dtype)})[0];
  return {convert(w, result, dtype)};
}

// Finds each window's selected value with its index, and adds sources at the indices: StableHLO's op of that name
// leaves open which of equal values is selected. Padding, and a window of only padding, has index -1: out of bounds.
HloValues write_select_and_scatter(HloWriter& w, const HloCall& call) {
  const DType dtype = call.shape().dtype, wide = computing_dtype(dtype);
  const HloValue x = convert(w, call.operand(0), tensor::carrier_of(dtype)), source = convert(w, call.operand(1), wide);
  if (x.shape.rank() == 0) return {call.operand(1)};
  const std::int64_t count = x.shape.element_count(), windows = source.shape.element_count();
  const DType place_dtype = count <= INT32_MAX ? DType::i32 : DType::i64;
  const HloValue places = reshape(w, iota(w, shape_of(place_dtype, Numbers{count}), 0), extents_of(x.shape));
  const Shape value{x.shape.dtype, {}}, place{place_dtype, {}};
  const std::string_view stays = call.node.op == Op::select_and_scatter_max ? "GE" : "LE";
  const std::string region = w.region({value, place, value, place}, [&](const HloValues& v) {
    const HloValue nothing = splat(w, place, 0);
    const HloValue has_left = compare(w, "GE", v[1], nothing), has_right = compare(w, "GE", v[3], nothing);
    const HloValue is_earlier = compare(w, "LT", v[1], v[3]);
    // In any order: the earlier of equal values wins.
    const HloValue wins = like_first(
        w, "and", {compare(w, stays, v[0], v[2]), like_first(w, "or", {compare(w, "NE", v[0], v[2]), is_earlier})});
    const HloValue is_left =
        like_first(w, "and", {has_left, like_first(w, "or", {like_first(w, "not", {has_right}), wins})});
    return HloValues{select(w, is_left, v[0], v[2]), select(w, is_left, v[1], v[3])};
  });
  WindowNumbers numbers;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) numbers.add(window_axis(call.as<graph::SelectWindow>(), i));
  const HloValues start = {splat(w, value, 0), splat(w, place, -1)};
  const HloValues found =
      w.ops("reduce_window", {x, places, start[0], start[1]},
            {{value.dtype, source.shape.dims}, {place_dtype, source.shape.dims}}, numbers.text(), {region});
  const HloValue sums = w.ops(
      "scatter",
      {splat(w, shape_of(wide, Numbers{count}), 0), reshape(w, found[1], {windows, 1}), reshape(w, source, {windows})},
      {shape_of(wide, Numbers{count})},
      "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
      "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false",
      {combining_region(w, Reduction::sum, wide)})[0];
  return {convert(w, reshape(w, sums, extents_of(x.shape)), dtype)};
}

}  // namespace alate::exchange
