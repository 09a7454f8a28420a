#include "exchange/onnx/windows.h"

#include <algorithm>
#include <limits>

#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {

Term spread_axis(const Term& x, const Dims& dims, std::size_t axis, const graph::WindowAxis& window,
                 const Term& value) {
  return pad_axis(x, dims, axis, value, window.low, window.high, window.base_dilation - 1);
}

Term window_slice(const Term& padded, std::size_t axis, const graph::WindowAxis& window, std::int64_t at, Dim count) {
  Emitter& e = *padded.emitter;
  const std::int64_t start = at * window.window_dilation;
  const Term length = (e.extent(count) - 1) * static_cast<double>(window.stride) + 1;
  const Term limit = larger(length + e.integers({start}), e.integers({0}));  // negative if there are no windows
  return slice(padded, {static_cast<std::int64_t>(axis)}, e.integers({start}), limit, {window.stride});
}

namespace {

using graph::Op;
using graph::Reduction;

constexpr std::int64_t kMostSlices = 4096;

Term times(const Term& a, const Term& b) { return a * b; }
Term plus(const Term& a, const Term& b) { return a + b; }

// A reduction's identity and binary function.
struct Combination {
  Term identity;
  Term (*combine)(const Term&, const Term&);
};

Combination combination(Emitter& e, Reduction reduction, DType dtype) {
  if (reduction == Reduction::sum) return {e.scalar(dtype, 0), plus};
  if (reduction == Reduction::product) return {e.scalar(dtype, 1), times};
  const bool is_max = reduction == Reduction::max;
  const auto combine = is_max ? larger : smaller;
  if (is_float(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {e.scalar(dtype, is_max ? -infinity : infinity), combine};
  }
  const auto above = 64 - bits_of(dtype);
  return {e.integer(dtype, is_max ? INT64_MIN >> above : INT64_MAX >> above), combine};
}

// Reduces one axis at a time, since window reductions are separable.
Terms reduce_window(const Call& c) {
  const auto& window = c.as<graph::Window>();
  const Combination by = combination(c.e, window.reduction, c[0].dtype);
  Term x = c[0];
  for (std::size_t axis = 0; axis < window.window_dimensions.size(); ++axis) {
    const graph::WindowAxis along = graph::window_axis(window, axis);
    const Term padded = spread_axis(x, c.shape().dims, axis, along, by.identity);
    const Dim count = c.result().dims[axis];
    x = window_slice(padded, axis, along, 0, count);
    for (std::int64_t at = 1; at < along.window; ++at) x = by.combine(x, window_slice(padded, axis, along, at, count));
  }
  return {x};
}

std::string refuse_reduce_window(const graph::Graph& /*graph*/, const graph::Node& node, int /*opset*/) {
  const auto& window = std::get<graph::Window>(node.attributes);
  if (window.reduction > Reduction::min) return "windows are reduced by sum, product, max or min";
  for (const std::int64_t extent : window.window_dimensions) {
    if (extent > kMostSlices) return "a window has too many places for slices";
  }
  return "";
}

// The value, and its index in the flattened operand, that each window has selected so far.
struct Selected {
  Term value, place;
};

// As in the reference: selects the first extreme element; padding, whose index is -1, is ignored.
Selected select(const Call& c, const Term& values, const Term& places, bool is_max) {
  const auto& window = c.as<graph::SelectWindow>();
  std::vector<Selected> seen{{values, places}};
  for (std::size_t axis = 0; axis < window.window_dimensions.size(); ++axis) {
    const graph::WindowAxis along = graph::window_axis(window, axis);
    const Dim count = c.shape(1).dims[axis];
    std::vector<Selected> finer;
    for (const Selected& part : seen) {
      for (std::int64_t at = 0; at < along.window; ++at)
        finer.push_back(
            {window_slice(part.value, axis, along, at, count), window_slice(part.place, axis, along, at, count)});
    }
    seen = std::move(finer);
  }
  Selected best = seen[0];
  for (std::size_t i = 1; i < seen.size(); ++i) {
    const Term stays = is_max ? best.value > seen[i].value : best.value < seen[i].value;
    const Term is_kept = (!(best.place < 0)) & (stays | (best.value == seen[i].value));
    const Term is_taken = (!(seen[i].place < 0)) & !is_kept;
    best = {where(is_taken, seen[i].value, best.value), where(is_taken, seen[i].place, best.place)};
  }
  return best;
}

Terms select_and_scatter(const Call& c) {
  const auto& window = c.as<graph::SelectWindow>();
  const Dims& dims = c.shape().dims;
  const Term count = product_of(c.e, dims);
  Term values = c[0], places = reshape(count_to(count), dims);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const graph::WindowAxis along = graph::window_axis(window, axis);
    values = spread_axis(values, dims, axis, along, c.e.scalar(values.dtype, 0));
    places = spread_axis(places, dims, axis, along, c.e.scalar(DType::i64, -1));
  }
  const Term place = select(c, values, places, c.node.op == Op::select_and_scatter_max).place;
  const Term landing = where(place < 0, count, place);  // one past the end for a window of only padding
  const Term zeros = expand(c.e.scalar(values.dtype, 0), {Dim(1)});
  const Term start = c.e.node("Expand", values.dtype, {zeros, count + 1});
  const Term sums = c.e.node("ScatterElements", values.dtype, {start, flatten(landing), flatten(c[1])},
                             {attribute("axis", 0), attribute("reduction", "add")});
  return {reshape(slice(sums, {0}, c.e.integers({0}), count, {1}), dims)};
}

std::string refuse_select_and_scatter(const graph::Graph& /*graph*/, const graph::Node& node, int /*opset*/) {
  std::int64_t places = 1;
  for (const std::int64_t extent : std::get<graph::SelectWindow>(node.attributes).window_dimensions)
    places = std::min(places, kMostSlices + 1) * std::min(extent, kMostSlices + 1);
  return places > kMostSlices ? "a window has too many places for slices" : "";
}

constexpr Spelling kWindowRows[] = {
    {Op::reduce_window, kNumbers, "Slice, Add, Mul, Max, Min", reduce_window, refuse_reduce_window},
    {Op::select_and_scatter_max, kNumbers, "Slice, Where, ScatterElements", select_and_scatter,
     refuse_select_and_scatter},
    {Op::select_and_scatter_min, kNumbers, "Slice, Where, ScatterElements", select_and_scatter,
     refuse_select_and_scatter},
};

}  // namespace

std::span<const Spelling> window_spellings() { return kWindowRows; }

}  // namespace alate::exchange::onnx
