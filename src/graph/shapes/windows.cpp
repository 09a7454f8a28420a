#include "graph/shapes/windows.h"

#include <limits>

#include "graph/op.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

// Sums of a few lengths up to this cannot overflow.
constexpr std::int64_t kLongest = std::int64_t{1} << 60;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

bool spreads_too_far(std::int64_t count, std::int64_t dilation) {
  return count > kLongest || (count > 1 && dilation > (kLongest - 1) / (count - 1));
}

template <typename Attribute>
Shape windows_of(const InferenceInput& input, const Attribute& attribute) {
  const Shape& x = input.operands[0];
  const std::size_t rank = x.rank();
  input.require(attribute.window_dimensions.size() == rank, "window_dimensions must have an entry for each axis");
  require_entries(input, attribute.window_dimensions, rank, 1, "window_dimensions");
  require_entries(input, attribute.strides, rank, 1, "strides");
  require_entries(input, attribute.padding_low, rank, kLowest, "padding_low");
  require_entries(input, attribute.padding_high, rank, kLowest, "padding_high");
  Shape result{x.dtype, {}};
  for (std::size_t i = 0; i < rank; ++i)
    result.dims.push_back(window_count(input, "axis " + std::to_string(i), x.dims[i], window_axis(attribute, i)));
  return result;
}

}  // namespace

void require_entries(const InferenceInput& input, const Numbers& list, std::size_t count, std::int64_t lowest,
                     std::string_view name) {
  const std::string what(name);
  input.require(list.empty() || list.size() == count,
                what + " must be empty or have " + std::to_string(count) + " entries");
  for (const std::int64_t entry : list)
    input.require(entry >= lowest, what + " must not be below " + std::to_string(lowest));
}

Dim window_count(const InferenceInput& input, std::string_view axis, Dim extent, const WindowAxis& window) {
  const std::string where = std::string(axis) + ": ";
  input.require(window.low >= -kLongest && window.low <= kLongest && window.high >= -kLongest &&
                    window.high <= kLongest && !spreads_too_far(window.window, window.window_dilation) &&
                    (!extent.is_number() || !spreads_too_far(extent.number(), window.base_dilation)),
                where + "padding or dilation makes it too long");
  if (extent.is_number()) return window.count(extent.number());
  DimTable& dims = input.dims;
  const std::int64_t seen = WindowAxis::spread(window.window, window.window_dilation);
  const DimForm elements = dims.form(extent);
  const DimForm spread = window.base_dilation == 1
                             ? elements
                             : dims.larger((elements - 1) * window.base_dilation + 1, 0);  // 0 elements spread over 0
  const DimForm room = spread + (window.low + window.high - seen);
  return dims.of(dims.larger(dims.quotient(room, window.stride) + 1, 0));
}

std::vector<Shape> infer_reduce_window(const InferenceInput& input) {
  const Window& window = input.as<Window>();
  const Shape& x = input.operands[0];
  const bool is_ordered = window.reduction == Reduction::max || window.reduction == Reduction::min;
  input.require(!is_ordered || !is_complex(x.dtype), "complex numbers are only summed and multiplied");
  input.require(window.reduction <= Reduction::min, "reduction must be sum, product, max or min");
  require_entries(input, window.base_dilations, x.rank(), 1, "base_dilations");
  require_entries(input, window.window_dilations, x.rank(), 1, "window_dilations");
  return {windows_of(input, window)};
}

std::vector<Shape> infer_select_and_scatter(const InferenceInput& input) {
  const Shape windows = windows_of(input, input.as<SelectWindow>());
  input.require(input.operands[1] == windows,
                "operand 1 must have a value for each window: " + input.dims.to_string(windows));
  return {input.operands[0]};
}

}  // namespace alate::graph
