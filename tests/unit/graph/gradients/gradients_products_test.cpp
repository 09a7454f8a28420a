#include "graph/gradients.h"
#include "tests/unit/graph/gradients/gradients_check.h"

namespace alate::graph {
namespace {

constexpr DType c128 = DType::c128;

TEST(Gradients, OfDotProducts) {
  expect_gradients(Op::dot_general, {scattered({2, 3}, 1), scattered({3, 4}, 2)}, DotGeneral{{}, {}, {1}, {0}});
  expect_gradients(Op::dot_general, {scattered({3}, 1), scattered({3}, 2)}, DotGeneral{{}, {}, {0}, {0}});
  expect_gradients(Op::dot_general, {scattered({2}, 1), scattered({3}, 2)}, DotGeneral{});
  // Two batch axes and two contracted ones, in different orders.
  expect_gradients(Op::dot_general, {scattered({2, 3, 4, 2, 2}, 1), scattered({4, 2, 3, 2, 3}, 2)},
                   DotGeneral{{1, 3}, {4, 1}, {2, 0}, {0, 3}});
  expect_gradients(Op::dot_general, {scattered({2, 0}, 1), scattered({0, 4}, 2)}, DotGeneral{{}, {}, {1}, {0}});
  expect_gradients(Op::dot_general, {scattered({2, 3}, 1, -1, 1, c128), scattered({4, 3}, 2, -1, 1, c128)},
                   DotGeneral{{}, {}, {1}, {1}});
}

TEST(Gradients, OfDotProductsOverNamedDims) {
  Builder b("named");
  const Dim n = b.dim("n"), m = b.dim("m");
  const Value x = b.parameter("x", {DType::f64, {2, n, m}}), y = b.parameter("y", {DType::f64, {2, m, 3}});
  b.output("y", b.dot_general({x, y}, {{0}, {0}, {2}, {1}}));
  expect_gradients(b.finish(), {scattered({2, 2, 3}, 1), scattered({2, 3, 3}, 2)});
}

void expect_convolution(const Numbers& x, const Numbers& kernel, const Convolution& conv, DType dtype = DType::f64) {
  expect_gradients(Op::conv_general, {scattered(x, 1, -1, 1, dtype), scattered(kernel, 2, -1, 1, dtype)}, conv);
}

TEST(Gradients, OfConvolutionsWithEveryAttribute) {
  const Convolution nchw{.input_spatial = {2, 3}, .kernel_spatial = {2, 3}, .output_spatial = {2, 3}};
  expect_convolution({2, 3, 4, 4}, {2, 3, 3, 2}, nchw);
  Convolution strided = nchw;
  strided.strides = {2, 3};
  strided.padding_low = {1, 2};
  strided.padding_high = {0, 1};
  expect_convolution({1, 2, 5, 5}, {3, 2, 3, 2}, strided);
  Convolution dilated = nchw;
  dilated.lhs_dilation = {2, 1};
  dilated.rhs_dilation = {1, 2};
  dilated.padding_low = {-1, 3};
  dilated.padding_high = {2, -1};
  dilated.strides = {1, 2};
  expect_convolution({1, 2, 4, 5}, {2, 2, 2, 2}, dilated);
  expect_convolution({1, 1, 3, 4}, {2, 1, 2, 2}, dilated, c128);
  // The last elements of x are not seen.
  Convolution cut = nchw;
  cut.strides = {3, 2};
  expect_convolution({1, 1, 6, 6}, {1, 1, 2, 3}, cut);
  const Convolution nhwc{.input_batch = 0,
                         .input_feature = 3,
                         .input_spatial = {1, 2},
                         .kernel_input = 2,
                         .kernel_output = 3,
                         .kernel_spatial = {0, 1},
                         .output_batch = 2,
                         .output_feature = 0,
                         .output_spatial = {3, 1}};
  expect_convolution({2, 4, 3, 2}, {2, 2, 2, 3}, nhwc);
}

TEST(Gradients, OfConvolutionsInGroups) {
  Convolution conv{.input_spatial = {2}, .kernel_spatial = {2}, .output_spatial = {2}};
  conv.strides = {2};
  conv.padding_low = {1};
  conv.feature_groups = 2;
  expect_convolution({2, 4, 5}, {6, 2, 2}, conv);
  conv.feature_groups = 4;
  expect_convolution({1, 4, 5}, {4, 1, 3}, conv);
  conv.feature_groups = 1;
  conv.batch_groups = 2;
  expect_convolution({4, 3, 5}, {4, 3, 2}, conv);
  const Convolution last{.input_batch = 1,
                         .input_feature = 2,
                         .input_spatial = {0},
                         .kernel_input = 1,
                         .kernel_output = 2,
                         .kernel_spatial = {0},
                         .output_batch = 1,
                         .output_feature = 2,
                         .output_spatial = {0},
                         .feature_groups = 3};
  expect_convolution({4, 2, 6}, {2, 2, 3}, last);
  Convolution batches = last;
  batches.feature_groups = 1;
  batches.batch_groups = 2;
  expect_convolution({4, 4, 3}, {2, 3, 2}, batches);
}

TEST(Gradients, OfConvolutionsWithoutWindowsOrElements) {
  const Convolution plain{};
  expect_convolution({2, 3}, {4, 3}, plain);
  const Convolution conv{.input_spatial = {2}, .kernel_spatial = {2}, .output_spatial = {2}};
  expect_convolution({2, 3, 2}, {4, 3, 3}, conv);
  expect_convolution({0, 3, 4}, {4, 3, 2}, conv);
  expect_convolution({2, 0, 4}, {4, 0, 2}, conv);
}

TEST(Gradients, OfConvolutionsOfANamedBatch) {
  Builder b("named");
  const Dim n = b.dim("n");
  const Value x = b.parameter("x", {DType::f64, {n, 2, 4}}), kernel = b.parameter("kernel", {DType::f64, {3, 2, 2}});
  b.output("y", b.conv_general({x, kernel}, {.input_spatial = {2}, .kernel_spatial = {2}, .output_spatial = {2}}));
  expect_gradients(b.finish(), {scattered({2, 2, 4}, 1), scattered({3, 2, 2}, 2)});
}

TEST(Gradients, OfKernelsNeedSpatialExtentsThatAreNumbers) {
  Builder b("named");
  const Dim n = b.dim("n");
  const Value x = b.parameter("x", {DType::f64, {2, 2, n}}), kernel = b.parameter("kernel", {DType::f64, {3, 2, 3}});
  b.output("y", b.conv_general({x, kernel}, {.padding_low = {1},
                                             .padding_high = {1},
                                             .input_spatial = {2},
                                             .kernel_spatial = {2},
                                             .output_spatial = {2}}));
  const Graph graph = b.finish();
  const std::size_t first = 0, second = 1;
  EXPECT_NO_THROW(vector_jacobian_product(graph, std::span(&first, 1), std::span(&first, 1)));
  EXPECT_EQ(
      refusal([&] { vector_jacobian_product(graph, std::span(&first, 1), std::span(&second, 1)); }),
      "unsupported: no gradient of conv_general(f64[2,2,n], f64[3,2,3]): the gradient of the kernel needs spatial "
      "extents that are numbers");
}

TEST(Gradients, OfWindowReductions) {
  for (const Reduction reduction : {Reduction::sum, Reduction::product, Reduction::max, Reduction::min}) {
    SCOPED_TRACE(to_string(reduction));
    const auto expect_window = [&](const Numbers& x, Window window) {
      window.reduction = reduction;
      expect_gradients(Op::reduce_window, {scattered(x, 1)}, window);
    };
    expect_window({4, 5}, {.window_dimensions = {2, 3}});
    expect_window({4, 5},
                  {.window_dimensions = {2, 3}, .strides = {2, 2}, .padding_low = {1, 0}, .padding_high = {0, 2}});
    expect_window({4, 5}, {.window_dimensions = {3, 2}, .padding_low = {-1, 0}, .padding_high = {0, -2}});
    expect_window({4, 5}, {.window_dimensions = {2, 2}, .strides = {3, 1}, .window_dilations = {2, 3}});
    expect_window({3, 3},
                  {.window_dimensions = {3, 3}, .strides = {1, 2}, .base_dilations = {2, 2}, .padding_low = {0, 1}});
    expect_window({}, Window{});
    expect_window({0, 3}, {.window_dimensions = {2, 1}});
    expect_window({2}, {.window_dimensions = {3}});
  }
  expect_gradients(Op::reduce_window, {scattered({4}, 1, -1, 1, c128)},
                   Window{.reduction = Reduction::product, .window_dimensions = {3}});
  expect_gradients(Op::reduce_window, {Tensor::from<double>({4}, {0, 2, 0, 3})},
                   Window{.reduction = Reduction::product, .window_dimensions = {3}});
}

TEST(Gradients, OfWindowsOverNamedDims) {
  Builder b("named");
  const Dim n = b.dim("n");
  const Value x = b.parameter("x", {DType::f64, {n, 4}});
  b.output("sum", b.reduce_window({x}, {.window_dimensions = {3, 2}, .padding_low = {2, 0}, .padding_high = {0, 0}}));
  b.output("max", b.reduce_window({x}, {.reduction = Reduction::max, .window_dimensions = {1, 2}}));
  b.output("dilated", b.reduce_window(
                          {x}, {.reduction = Reduction::max, .window_dimensions = {1, 2}, .window_dilations = {1, 2}}));
  expect_gradients(b.finish(), {scattered({3, 4}, 1)});
}

TEST(Gradients, OfSelectAndScatterGoToTheScatteredValues) {
  for (const Op op : {Op::select_and_scatter_max, Op::select_and_scatter_min}) {
    expect_gradients(op, {scattered({4, 5}, 1), scattered({2, 2}, 2)}, SelectWindow{{2, 3}, {2, 2}, {}, {}});
    expect_gradients(op, {scattered({4, 5}, 1), scattered({3, 3}, 2)}, SelectWindow{{2, 3}, {2, 2}, {1, 1}, {1, 1}});
    expect_gradients(op, {scattered({3}, 1), scattered({2}, 2)}, SelectWindow{{2}, {1}, {-1}, {1}});
  }
}

TEST(Gradients, OfFourierTransforms) {
  for (const FftKind kind : {FftKind::fft, FftKind::ifft}) {
    expect_gradients(Op::fft, {scattered({2, 5}, 1, -1, 1, c128)}, Fft{kind, {5}});
    expect_gradients(Op::fft, {scattered({2, 3}, 1, -1, 1, c128)}, Fft{kind, {2, 3}});
  }
  for (const std::int64_t length : {1, 4, 5}) {
    expect_gradients(Op::fft, {scattered({2, length}, 1)}, Fft{FftKind::rfft, {length}});
    expect_gradients(Op::fft, {scattered({3, length}, 1)}, Fft{FftKind::rfft, {3, length}});
    const std::int64_t half = length / 2 + 1;
    expect_gradients(Op::fft, {scattered({2, half}, 1, -1, 1, c128)}, Fft{FftKind::irfft, {length}});
    expect_gradients(Op::fft, {scattered({3, half}, 1, -1, 1, c128)}, Fft{FftKind::irfft, {3, length}});
  }
  expect_gradients(Op::fft, {scattered({2, 0}, 1)}, Fft{FftKind::rfft, {0}});
  expect_gradients(Op::fft, {scattered({2, 0}, 1, -1, 1, c128)}, Fft{FftKind::irfft, {0}});
}

TEST(Gradients, OfBatchNorms) {
  for (const BatchNorm norm : {BatchNorm{0.1, 1}, BatchNorm{0.01, 0}}) {
    const std::int64_t rows = norm.axis == 1 ? 3 : 2;
    const Tensor x = scattered({2, 3, 2}, 1), scale = scattered({rows}, 2, 0.5, 2), shift = scattered({rows}, 3),
                 mean = scattered({rows}, 4), variance = scattered({rows}, 5, 0.2, 2), g = scattered({2, 3, 2}, 6);
    expect_gradients(Op::batch_norm_inference, {x, scale, shift, mean, variance}, norm);
    expect_gradients(Op::batch_norm_training, {x, scale, shift}, norm, 1e-6);
    Builder b("only the values");
    const Value values = b.parameter("x", x.shape()), scales = b.parameter("scale", scale.shape()),
                shifts = b.parameter("shift", shift.shape());
    b.output("y", b.batch_norm_training({values, scales, shifts}, norm)[0]);
    expect_gradients(b.finish(), {x, scale, shift}, 1e-6);
    expect_gradients(Op::batch_norm_gradient, {x, scale, mean, variance, g}, norm, 1e-6);
  }
}

}  // namespace
}  // namespace alate::graph
