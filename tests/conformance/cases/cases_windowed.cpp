// Convolutions and windows.
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {
namespace {

using graph::Convolution;
using graph::Dims;
using graph::Numbers;

// NCHW, OIHW, NCHW of any rank, of no padding and stride 1.
Convolution plain(std::size_t spatial) {
  Convolution conv;
  for (std::size_t i = 0; i < spatial; ++i) {
    for (Numbers* axes : {&conv.input_spatial, &conv.kernel_spatial, &conv.output_spatial})
      axes->push_back(static_cast<std::int64_t>(i) + 2);
    for (Numbers* ones : {&conv.strides, &conv.lhs_dilation, &conv.rhs_dilation}) ones->push_back(1);
    for (Numbers* zeros : {&conv.padding_low, &conv.padding_high}) zeros->push_back(0);
  }
  return conv;
}

// NHWC, HWIO, NHWC.
Convolution channels_last() {
  Convolution conv = plain(2);
  conv.input_feature = conv.output_feature = 3;
  conv.input_spatial = conv.output_spatial = {1, 2};
  conv.kernel_spatial = {0, 1};
  conv.kernel_input = 2;
  conv.kernel_output = 3;
  return conv;
}

}  // namespace

Cases conv_general_cases(const Form& form) {
  Cases cases;
  const auto add = [&](Dims x, Dims kernel, const Convolution& conv, const char* values = "numbers") {
    cases.push_back({.op = form.op.op,
                     .operands = operands_of(form.dtype, {std::move(x), std::move(kernel)}, {values}),
                     .attributes = conv});
  };
  add({2, 3, 5, 6}, {4, 3, 3, 2}, plain(2));
  add({2, 5, 6, 3}, {3, 2, 3, 4}, channels_last());
  add({2, 3, 9}, {4, 3, 3}, plain(1), "exact");
  add({2, 3}, {4, 3}, plain(0));
  add({1, 2, 4, 5, 3}, {2, 2, 2, 3, 1}, plain(3), "exact");
  Convolution conv = plain(2);
  conv.strides = {2, 3};
  conv.padding_low = {1, 2};
  conv.padding_high = {2, 0};
  add({2, 3, 7, 8}, {4, 3, 3, 3}, conv);
  conv.padding_low = {-1, 1};
  conv.padding_high = {1, -2};
  add({2, 3, 7, 8}, {4, 3, 3, 3}, conv, "exact");
  conv = plain(2);
  conv.lhs_dilation = {2, 1};
  conv.rhs_dilation = {1, 2};
  conv.padding_low = conv.padding_high = {2, 2};
  add({1, 3, 5, 6}, {2, 3, 3, 3}, conv);
  conv = plain(2);
  conv.feature_groups = 3;
  add({2, 6, 5, 5}, {9, 2, 3, 3}, conv);
  conv.feature_groups = 4;  // depthwise
  conv.padding_low = conv.padding_high = {1, 1};
  add({2, 4, 9, 9}, {4, 1, 3, 3}, conv);
  add({1, 4, 9, 9}, {8, 1, 3, 3}, conv, "exact");
  conv = plain(2);
  conv.batch_groups = 2;
  add({4, 3, 5, 5}, {6, 3, 2, 2}, conv);
  add({2, 16, 9, 7}, {24, 16, 1, 1}, plain(2));
  add({0, 3, 5, 5}, {2, 3, 3, 3}, plain(2));
  add({1, 0, 5, 5}, {2, 0, 3, 3}, plain(2));
  add({1, 3, 2, 2}, {2, 3, 3, 3}, plain(2));  // no window fits
  add({1, 3, 5, 5}, {0, 3, 3, 3}, plain(2));
  add({2, 3, 6, 6}, {4, 3, 3, 3}, plain(2), "specials");
  // Long lines.
  add({2, 3, 7, 40}, {5, 3, 3, 3}, plain(2));
  add({2, 3, 40}, {4, 3, 5}, plain(1));
  conv = channels_last();
  conv.strides = {2, 3};
  conv.padding_low = {1, 2};
  conv.padding_high = {2, 0};
  add({2, 9, 43, 3}, {3, 4, 3, 35}, conv);
  conv.rhs_dilation = {2, 1};
  conv.padding_low = {3, -1};
  conv.padding_high = {-2, 4};
  add({1, 11, 41, 4}, {3, 3, 4, 6}, conv);
  conv.rhs_dilation = {1, 3};
  add({2, 9, 43, 3}, {2, 3, 3, 6}, conv);
  add({1, 3, 50, 130}, {3, 5, 130, 9}, channels_last());  // more terms than are summed at once
  conv = plain(3);
  conv.padding_low = conv.padding_high = {1, 0, 2};
  add({1, 2, 3, 4, 17}, {3, 2, 2, 3, 3}, conv);
  conv = plain(2);
  conv.feature_groups = 40;
  conv.padding_low = conv.padding_high = {1, 1};
  add({1, 40, 5, 15}, {40, 1, 3, 3}, conv);
  add({3, 5, 24, 30}, {33, 5, 1, 1}, plain(2));  // places in several blocks
  const bool is_large = form.is_for_speed();
  const std::int64_t channels = is_large ? 64 : 8, side = is_large ? 56 : 28;
  conv = plain(2);
  conv.padding_low = conv.padding_high = {1, 1};
  add({1, channels, side, side}, {channels, channels, 3, 3}, conv);
  conv = channels_last();
  add({1, side, side, channels}, {1, 1, channels, 2 * channels}, conv);
  conv.padding_low = conv.padding_high = {1, 1};
  add({1, side, side, channels}, {3, 3, channels, channels}, conv);
  conv.feature_groups = channels;
  add({1, side, side, channels}, {3, 3, 1, channels}, conv);
  return cases;
}

Cases reduce_window_cases(const Form& form) {
  Cases cases;
  for (const auto reduction :
       {graph::Reduction::sum, graph::Reduction::product, graph::Reduction::max, graph::Reduction::min}) {
    const auto add = [&](Dims dims, graph::Window window, const char* values = "numbers") {
      window.reduction = reduction;
      cases.push_back({.op = form.op.op,
                       .operands = operands_of(form.dtype, {std::move(dims)}, {values}),
                       .attributes = std::move(window)});
    };
    graph::Window window;
    window.window_dimensions = {2, 3};
    add({5, 7}, window);
    window.strides = {2, 1};
    window.padding_low = {1, 0};
    window.padding_high = {0, 2};
    add({5, 7}, window);
    window.padding_low = {-1, 1};
    add({5, 7}, window);
    window.base_dilations = {2, 1};
    window.window_dilations = {1, 2};
    add({5, 7}, window);
    add({5, 7}, window, "specials");
    graph::Window pooling;
    pooling.window_dimensions = {1, 1, 3, 3};
    pooling.strides = {1, 1, 2, 2};
    pooling.padding_low = pooling.padding_high = {0, 0, 1, 1};
    add({2, 3, 9, 8}, pooling);
    add({2, 8, 33, 33}, pooling, "exact");
    if (form.is_for_speed()) add({8, 64, 112, 112}, pooling);
    graph::Window one;
    one.window_dimensions = {3};
    add({2}, one);
    add({0}, one);
    add({}, {});
  }
  return cases;
}

// Small integers: which value a window selects depends on signs, so that no bound by magnitudes fits.
Cases select_and_scatter_cases(const Form& form) {
  Cases cases;
  const auto add = [&](Dims x, Dims windows, graph::SelectWindow window) {
    cases.push_back({.op = form.op.op,
                     .operands = operands_of(form.dtype, {std::move(x), std::move(windows)}, {"exact"}),
                     .attributes = std::move(window)});
  };
  add({5, 7}, {4, 5}, {{2, 3}, {}, {}, {}});
  add({6, 8}, {3, 4}, {{2, 2}, {2, 2}, {}, {}});
  add({2, 3, 9, 9}, {2, 3, 5, 5}, {{1, 1, 3, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}, {0, 0, 1, 1}});
  add({3}, {4}, {{2}, {}, {1}, {1}});
  add({0}, {0}, {{2}, {}, {}, {}});
  add({}, {}, {{}, {}, {}, {}});
  return cases;
}

}  // namespace alate::conformance
