// Window reductions, and the scatter that is max pooling's gradient.
#include <limits>

#include "graph/reference/call.h"
#include "graph/reference/extremes.h"
#include "graph/reference/index.h"
#include "graph/reference/numbers.h"
#include "graph/window_axis.h"

namespace alate::graph {
namespace {

template <typename Attribute>
std::vector<WindowAxis> axes_of(const Attribute& attribute) {
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < attribute.window_dimensions.size(); ++i) axes.push_back(window_axis(attribute, i));
  return axes;
}

// Calls `visit` with the offset of every element in the window at `place`, in order.
template <typename Visit>
void for_each_seen(const std::vector<WindowAxis>& axes, std::span<const std::int64_t> extents, const Place& place,
                   Visit visit) {
  Place window;
  for (const WindowAxis& axis : axes) window.push_back(axis.window);
  Place source(axes.size());
  for_each_index(window, [&](const Place& step) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto found = axes[i].source(place[i], step[i], extents[i]);
      if (!found) return;
      source[i] = *found;
    }
    visit(offset_of(source, extents));
  });
}

// The identity of a reduction: 0, 1, or a bound of the dtype.
template <typename Number>
Number identity(Reduction reduction, DType dtype) {
  if (reduction == Reduction::sum) return Number(0);
  if (reduction == Reduction::product) return Number(1);
  const bool is_lowest = reduction == Reduction::max;
  if constexpr (std::is_same_v<Number, double>) {
    const double infinity = std::numeric_limits<double>::infinity();
    return is_lowest ? -infinity : infinity;
  } else if constexpr (std::is_same_v<Number, std::int64_t>) {
    const std::int64_t highest = std::numeric_limits<std::int64_t>::max() >> (64 - bits_of(dtype));
    return is_lowest ? -highest - 1 : highest;
  } else if constexpr (std::is_same_v<Number, std::uint64_t>) {
    return is_lowest ? 0 : std::numeric_limits<std::uint64_t>::max() >> (64 - bits_of(dtype));
  } else {
    return Number(0);  // complex numbers are not compared
  }
}

template <typename Number>
Number combine(Reduction reduction, Number a, Number b) {
  if (reduction == Reduction::sum) return wrapped_sum(a, b);
  if (reduction == Reduction::product) return wrapped_product(a, b);
  if constexpr (std::is_same_v<Number, std::complex<double>>) {
    return a;
  } else {
    return reduction == Reduction::max ? larger(a, b) : smaller(a, b);
  }
}

// The first extreme element of each window receives the window's source.
template <typename Number>
Tensor select_and_scatter(const ReferenceCall& call, bool is_max) {
  const std::vector<Number> x = load_numbers<Number>(call.operand(0)), source = load_numbers<Number>(call.operand(1));
  const std::vector<std::int64_t> extents = extents_of(call.shape());
  const std::vector<WindowAxis> axes = axes_of(call.as<SelectWindow>());
  std::vector<Number> sums(x.size(), Number(0));
  std::size_t next = 0;
  for_each_index(extents_of(call.operand(1).shape()), [&](const Place& place) {
    std::optional<std::size_t> selected;
    for_each_seen(axes, extents, place, [&](std::size_t seen) {
      const bool stays = selected && (is_max ? x[*selected] >= x[seen] : x[*selected] <= x[seen]);
      if (!stays) selected = seen;
    });
    const Number value = source[next++];
    if (selected) sums[*selected] = wrapped_sum(sums[*selected], value);
  });
  return store_numbers(call.shape(), sums);
}

Tensor select_and_scatter(const ReferenceCall& call, bool is_max) {
  const DType dtype = call.shape().dtype;
  if (is_float(dtype)) return select_and_scatter<double>(call, is_max);
  if (is_signed_integer(dtype)) return select_and_scatter<std::int64_t>(call, is_max);
  return select_and_scatter<std::uint64_t>(call, is_max);
}

}  // namespace

Tensor reference_reduce_window(const ReferenceCall& call) {
  const Window& window = call.as<Window>();
  return with_number_type(call.shape().dtype, [&]<typename Number>() {
    const std::vector<Number> x = load_numbers<Number>(call.operand(0));
    const std::vector<std::int64_t> extents = extents_of(call.operand(0).shape());
    const std::vector<WindowAxis> axes = axes_of(window);
    std::vector<Number> results;
    for_each_index(extents_of(call.shape()), [&](const Place& place) {
      Number result = identity<Number>(window.reduction, call.shape().dtype);
      for_each_seen(axes, extents, place,
                    [&](std::size_t seen) { result = combine(window.reduction, result, x[seen]); });
      results.push_back(result);
    });
    return store_numbers(call.shape(), results);
  });
}

Tensor reference_select_and_scatter_max(const ReferenceCall& call) { return select_and_scatter(call, true); }
Tensor reference_select_and_scatter_min(const ReferenceCall& call) { return select_and_scatter(call, false); }

}  // namespace alate::graph
