// Gradients of window reductions, and of the scatter of max pooling.
#include "graph/gradients/rules.h"
#include "graph/gradients/transposed_window.h"

namespace alate::graph {
namespace {

using Windows = std::vector<WindowAxis>;

template <typename Attribute>
Windows windows_of(const Backward& call) {
  Windows windows;
  for (std::size_t i = 0; i < call.x_shape().rank(); ++i) windows.push_back(window_axis(call.as<Attribute>(), i));
  return windows;
}

// The elements that all windows read at one entry, a value for each entry in row-major order: slices of padded x.
std::vector<Value> entries_of(Backward& call, Value x, Value padding, const Windows& windows, const Dims& results) {
  Builder& b = call.b;
  const Dims dims = b.shape(x).dims;
  Pad pad;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const WindowAxis& window = windows[i];
    pad.low.push_back(window.low);
    pad.high.push_back(window.high);
    pad.interior.push_back(window.base_dilation - 1);
    count *= window.window;
    const bool is_plain = window.window == 1 && window.low == 0 && window.high == 0;
    if (!dims[i].is_number() && !is_plain)
      call.fail("over axis " + std::to_string(i) + ", whose extent has no number, windows must be of one element");
  }
  const Value padded = b.pad({x, padding}, std::move(pad));
  std::vector<Value> entries;
  for (std::int64_t number = 0; number < count; ++number) {
    Slice slice;
    std::int64_t rest = number;
    for (std::size_t i = windows.size(); i-- > 0;) {
      const WindowAxis& window = windows[i];
      const std::int64_t start = rest % window.window * window.window_dilation;
      rest /= window.window;
      slice.starts.insert(slice.starts.begin(), start);
      const Dim limit =
          results[i].is_number() ? Dim(start + WindowAxis::spread(results[i].number(), window.stride)) : results[i];
      slice.limits.insert(slice.limits.begin(), limit);
      slice.strides.insert(slice.strides.begin(), window.stride);
    }
    entries.push_back(b.slice({padded}, std::move(slice)));
  }
  return entries;
}

// The sum of the cotangents of all windows that read an element.
void sum(Backward& call, const Windows& windows) {
  const Shape x = call.x_shape(), y = call.y_shape();
  Window back{.reduction = Reduction::sum};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const WindowAxis window = transposed_window(windows[i], x.dims[i], y.dims[i]);
    back.window_dimensions.push_back(window.window);
    back.strides.push_back(window.stride);
    back.base_dilations.push_back(window.base_dilation);
    back.window_dilations.push_back(window.window_dilation);
    back.padding_low.push_back(window.low);
    back.padding_high.push_back(window.high);
  }
  call.give(0, call.b.reduce_window({call.g()}, std::move(back)));
}

// The whole gradient to the first extreme of a window, as in jax.
void extreme(Backward& call, const Windows& windows, bool is_max) {
  Builder& b = call.b;
  SelectWindow select;
  bool is_dilated = false;
  for (const WindowAxis& window : windows) {
    select.window_dimensions.push_back(window.window);
    select.strides.push_back(window.stride);
    select.padding_low.push_back(window.low);
    select.padding_high.push_back(window.high);
    is_dilated = is_dilated || window.base_dilation != 1 || window.window_dilation != 1;
  }
  if (!is_dilated) {
    const Op op = is_max ? Op::select_and_scatter_max : Op::select_and_scatter_min;
    call.give(0, b.emit(op, {call.x(), call.g()}, std::move(select)).front());
    return;
  }
  call.differentiate([&] {
    // The reduction of an empty value is its identity: the lowest or highest value.
    const Value nothing = zeros(b, {call.x_shape().dtype, {0}});
    const Value lowest = b.emit(is_max ? Op::reduce_max : Op::reduce_min, {nothing}, Axes{{0}}).front();
    const std::vector<Value> entries = entries_of(call, call.x(), lowest, windows, call.y_shape().dims);
    Value best = entries.front();
    for (std::size_t i = 1; i < entries.size(); ++i) {
      const Value stays = is_max ? b.greater_or_equal({best, entries[i]}) : b.less_or_equal({best, entries[i]});
      best = b.select({stays, best, entries[i]});
    }
    return std::vector{best};
  });
}

void reduce_window(Backward& call) {
  Builder& b = call.b;
  if (is_empty(call.x_shape()) || is_empty(call.y_shape())) return;
  const Windows windows = windows_of<Window>(call);
  const Reduction reduction = call.as<Window>().reduction;
  if (reduction == Reduction::sum) {
    sum(call, windows);
  } else if (reduction == Reduction::product) {
    call.differentiate([&] {
      const Value one = b.scalar(call.x_shape().dtype, 1);
      const std::vector<Value> entries = entries_of(call, call.x(), one, windows, call.y_shape().dims);
      Value product = entries.front();
      for (std::size_t i = 1; i < entries.size(); ++i) product = b.mul({product, entries[i]});
      return std::vector{product};
    });
  } else {
    extreme(call, windows, reduction == Reduction::max);
  }
}

// The op is linear in the values that it scatters: each gets the cotangent of the element that its window selected.
// Small changes of operand 0 do not change the selection.
void select_and_scatter(Backward& call) {
  Builder& b = call.b;
  if (!call.wants(1) || is_empty(call.x_shape(0)) || is_empty(call.x_shape(1))) return;
  const bool is_max = call.node.op == Op::select_and_scatter_max;
  const Windows windows = windows_of<SelectWindow>(call);
  const Shape x = call.x_shape(0), source = call.x_shape(1);
  const Value zero = b.scalar(x.dtype, 0), no = b.constant(Tensor::scalar(false));
  const Value everywhere = broadcast_to(b, b.constant(Tensor::scalar(true)), x.dims);
  const std::vector<Value> values = entries_of(call, call.x(0), zero, windows, source.dims);
  const std::vector<Value> cotangents = entries_of(call, call.g(), zero, windows, source.dims);
  const std::vector<Value> inside = entries_of(call, everywhere, no, windows, source.dims);
  Value best = values[0], found = inside[0], chosen = b.select({inside[0], cotangents[0], zeros(b, source)});
  for (std::size_t i = 1; i < values.size(); ++i) {
    const Value holds = is_max ? b.greater_or_equal({best, values[i]}) : b.less_or_equal({best, values[i]});
    const Value takes = b.logical_and({inside[i], b.logical_not({b.logical_and({found, holds})})});
    best = b.select({takes, values[i], best});
    chosen = b.select({takes, cotangents[i], chosen});
    found = b.logical_or({found, inside[i]});
  }
  call.give(1, chosen);
}

constexpr GradientRule kWindowRules[] = {
    {Op::reduce_window, reduce_window},
    {Op::select_and_scatter_max, select_and_scatter},
    {Op::select_and_scatter_min, select_and_scatter},
};

}  // namespace

std::span<const GradientRule> window_gradients() { return kWindowRules; }

}  // namespace alate::graph
