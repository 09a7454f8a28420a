// Gradients of convolutions: those of x and of the kernel are convolutions too.
#include "graph/gradients/rules.h"
#include "graph/gradients/transposed_window.h"

namespace alate::graph {
namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// Moves the groups from the outer part of axis `from` to the outer part of axis `to`.
Value move_groups(Builder& b, Value value, std::int64_t from, std::int64_t to, std::int64_t groups) {
  if (groups == 1) return value;
  Dims split = b.shape(value).dims;
  split[at(from)] = split[at(from)].number() / groups;
  Dims merged = split;
  merged[at(to)] = merged[at(to)].number() * groups;
  split.insert(split.begin() + from, groups);
  Numbers permutation;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(merged.size()); ++axis) {
    if (axis == to) permutation.push_back(from);  // the groups
    permutation.push_back(axis < from ? axis : axis + 1);
  }
  const Value moved = b.transpose({b.reshape({value}, {.dims = std::move(split)})}, {.permutation = permutation});
  return b.reshape({moved}, {.dims = std::move(merged)});
}

// Appends a spatial axis with this window.
void add_axis(Convolution& conv, const WindowAxis& window) {
  conv.strides.push_back(window.stride);
  conv.padding_low.push_back(window.low);
  conv.padding_high.push_back(window.high);
  conv.lhs_dilation.push_back(window.base_dilation);
  conv.rhs_dilation.push_back(window.window_dilation);
}

Value gradient_of_x(Backward& call, const Convolution& conv) {
  Builder& b = call.b;
  const Shape x = call.x_shape(0), kernel = call.x_shape(1), y = call.y_shape();
  const std::int64_t groups = conv.feature_groups * conv.batch_groups;
  Convolution back{.input_batch = conv.output_batch,
                   .input_feature = conv.output_feature,
                   .input_spatial = conv.output_spatial,
                   .kernel_input = conv.kernel_output,
                   .kernel_output = conv.kernel_input,
                   .kernel_spatial = conv.kernel_spatial,
                   .output_batch = conv.input_batch,
                   .output_feature = conv.input_feature,
                   .output_spatial = conv.input_spatial,
                   .feature_groups = groups};
  for (std::size_t i = 0; i < conv.input_spatial.size(); ++i) {
    const WindowAxis window = transposed_window(window_axis(conv, i, kernel.dims[at(conv.kernel_spatial[i])].number()),
                                                x.dims[at(conv.input_spatial[i])], y.dims[at(conv.output_spatial[i])]);
    add_axis(back, window);
  }
  const Value by_input = move_groups(b, call.x(1), conv.kernel_output, conv.kernel_input, groups);
  const Value turned = b.reverse({by_input}, {.axes = conv.kernel_spatial});
  const Value result = b.conv_general({call.g(), turned}, std::move(back));
  return move_groups(b, result, conv.input_feature, conv.input_batch, conv.batch_groups);
}

// Convolves x with the cotangent, batch and features swapped: the result's spatial axes are the kernel's.
Value gradient_of_kernel(Backward& call, const Convolution& conv) {
  const Shape x = call.x_shape(0), kernel = call.x_shape(1), y = call.y_shape();
  Convolution back{.input_batch = conv.input_feature,
                   .input_feature = conv.input_batch,
                   .input_spatial = conv.input_spatial,
                   .kernel_input = conv.output_batch,
                   .kernel_output = conv.output_feature,
                   .kernel_spatial = conv.output_spatial,
                   .output_batch = conv.kernel_input,
                   .output_feature = conv.kernel_output,
                   .output_spatial = conv.kernel_spatial,
                   .feature_groups = conv.batch_groups,
                   .batch_groups = conv.feature_groups};
  for (std::size_t i = 0; i < conv.input_spatial.size(); ++i) {
    const Dim extent = x.dims[at(conv.input_spatial[i])], results = y.dims[at(conv.output_spatial[i])];
    if (!extent.is_number() || !results.is_number())
      call.fail("the gradient of the kernel needs spatial extents that are numbers");
    const WindowAxis window = window_axis(conv, i, kernel.dims[at(conv.kernel_spatial[i])].number());
    const std::int64_t high = WindowAxis::spread(results.number(), window.stride) +
                              WindowAxis::spread(window.window, window.window_dilation) - 1 -
                              WindowAxis::spread(extent.number(), window.base_dilation) - window.low;
    add_axis(back, {.window = results.number(),
                    .stride = window.window_dilation,
                    .low = window.low,
                    .high = high,
                    .base_dilation = window.base_dilation,
                    .window_dilation = window.stride});
  }
  return call.b.conv_general({call.x(0), call.g()}, std::move(back));
}

void conv_general(Backward& call) {
  const Convolution conv = call.as<Convolution>();
  const bool is_nothing = is_empty(call.x_shape(0)) || is_empty(call.x_shape(1)) || is_empty(call.y_shape());
  if (is_nothing) return;
  if (call.wants(0)) call.give(0, gradient_of_x(call, conv));
  if (call.wants(1)) call.give(1, gradient_of_kernel(call, conv));
}

constexpr GradientRule kConvolutionRules[] = {{Op::conv_general, conv_general}};

}  // namespace

std::span<const GradientRule> convolution_gradients() { return kConvolutionRules; }

}  // namespace alate::graph
