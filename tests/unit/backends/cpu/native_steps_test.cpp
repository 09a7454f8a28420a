// The cpu backend's products, convolutions, windows, transforms and quantized weights against the reference, in forms
// that the conformance suite does not make: constant kernels, sizes past one block, and any number of threads.
#include "tests/unit/backends/cpu/step_testing.h"
#include "tests/unit/graph/example_graphs.h"

namespace alate::cpu {
namespace {

using graph::Builder;
using graph::Convolution;
using graph::Dims;
using graph::Graph;
using graph::Op;

Convolution convolution(std::size_t spatial, bool channels_last, bool output_first) {
  Convolution conv;
  const auto last = static_cast<std::int64_t>(spatial) + 1;
  conv.input_feature = conv.output_feature = channels_last ? last : 1;
  conv.kernel_output = output_first ? 0 : last;
  conv.kernel_input = output_first ? 1 : last - 1;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(spatial); ++i) {
    conv.input_spatial.push_back(channels_last ? i + 1 : i + 2);
    conv.output_spatial.push_back(channels_last ? i + 1 : i + 2);
    conv.kernel_spatial.push_back(output_first ? i + 2 : i);
  }
  return conv;
}

Graph convolve(const Tensor& x, const Tensor& kernel, const Convolution& conv, bool is_constant) {
  Builder b("conv");
  const auto left = b.parameter("x", x.shape());
  const auto right = is_constant ? b.constant(kernel) : b.parameter("kernel", kernel.shape());
  b.output("y", b.conv_general({left, right}, conv));
  return std::move(b).finish();
}

void expect_convolution(const Tensor& x, const Tensor& kernel, const Convolution& conv, double allowed,
                        const std::string& what) {
  expect_as_reference(convolve(x, kernel, conv, true), {x}, allowed, what + ", constant kernel");
  expect_as_reference(convolve(x, kernel, conv, false), {x, kernel}, allowed, what);
}

TEST(CpuDense, OfF32WithAWeightOfHalvesIsTheReferences) {
  for (const DType half : {DType::bf16, DType::f16}) {
    for (const bool is_matrix : {true, false}) {
      Builder b("dense");
      const Dims rows = is_matrix ? Dims{21} : Dims{3, 7};
      Dims wide = rows, narrow = rows;
      wide.emplace_back(70);
      narrow.emplace_back(33);
      const auto x = b.parameter("x", {DType::f32, wide});
      const auto product =
          b.dense({x, b.constant(random_tensor(half, {65, 70}, 1)), b.constant(random_tensor(DType::f32, {65}, 2))},
                  {.has_bias = true, .activation = graph::Activation::gelu_erf});
      // Columns of the first product are rows that lie apart.
      graph::Slice columns{.starts = Dims(wide.size(), 0), .limits = b.shape(product).dims, .strides = {}};
      columns.starts.back() = 20;
      columns.limits.back() = 53;
      const auto middle = b.slice({product}, columns);
      b.output("y", b.dense({middle, b.constant(random_tensor(half, {33, 33}, 3)), middle}, {.has_residual = true}));
      const Graph graph = std::move(b).finish();
      for (const graph::Node& node : graph.nodes()) {
        if (node.op == Op::dense) {
          EXPECT_TRUE(cpu_backend().supports(graph, node, {}).native);
        }
      }
      std::vector<std::int64_t> extents;
      for (const Dim dim : wide) extents.push_back(dim.number());
      // The middle is rounded to bf16 after errors of f32: now and then to the neighbour.
      expect_as_reference(graph, {random_tensor(DType::f32, extents, 4)}, half == DType::bf16 ? 1e-3 : 2e-6,
                          std::string(to_string(half)));
    }
  }
}

TEST(CpuConvolution, OfConstantKernelsInBothLayoutsIsTheReferences) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const double allowed = dtype == DType::f32 ? 1e-6 : 1.0 / 128;
    for (const std::int64_t window : {1, 3}) {
      for (const bool channels_last : {false, true}) {
        const auto x = random_tensor(
            dtype, channels_last ? std::vector<std::int64_t>{2, 17, 13, 5} : std::vector<std::int64_t>{2, 5, 17, 13},
            1);
        Convolution conv = convolution(2, channels_last, true);
        conv.strides = {window, 1};
        conv.padding_low = conv.padding_high = {window / 2, window / 2};
        expect_convolution(x, random_tensor(dtype, {33, 5, window, window}, 2), conv, allowed, "output first");
        Convolution other = convolution(2, channels_last, false);
        other.strides = conv.strides;
        other.padding_low = other.padding_high = conv.padding_low;
        expect_convolution(x, random_tensor(dtype, {window, window, 5, 33}, 3), other, allowed, "output last");
      }
    }
  }
}

TEST(CpuConvolution, OfMorePatchesThanFitAtOnceIsTheReferences) {
  // 3 · 3 · 96 numbers a patch: over a hundred patches are more than a block.
  const Tensor x = random_tensor(DType::f32, {1, 28, 29, 96}, 4);
  Convolution conv = convolution(2, true, false);
  conv.padding_low = {1, 1};
  conv.padding_high = {1, 0};
  expect_convolution(x, random_tensor(DType::f32, {3, 3, 96, 7}, 5), conv, 1e-6, "many patches");
}

TEST(CpuConvolution, OfDepthwiseKernelsWithHolesAndCutEdgesIsTheReferences) {
  for (const std::int64_t channels : {3, 16, 67}) {
    Convolution conv = convolution(2, false, true);
    conv.feature_groups = channels;
    conv.strides = {2, 1};
    conv.padding_low = {2, -1};
    conv.padding_high = {1, 3};
    conv.rhs_dilation = {1, 2};
    const Tensor x = random_tensor(DType::f32, {2, channels, 9, 11}, 6);
    expect_convolution(x, random_tensor(DType::f32, {channels, 1, 3, 3}, 7), conv, 1e-6, "depthwise");
    expect_convolution(x, random_tensor(DType::f32, {2 * channels, 1, 3, 3}, 8), conv, 1e-6, "two of each channel");
    conv.lhs_dilation = {3, 2};
    expect_convolution(x, random_tensor(DType::f32, {channels, 1, 3, 3}, 9), conv, 1e-6, "dilated");
  }
}

TEST(CpuConvolution, OfSinglePlacesWithChannelsFirstIsTheReferences) {
  for (const DType dtype : {DType::f32, DType::f16, DType::f64, DType::i8}) {
    const double allowed = is_integer(dtype) ? 0 : (dtype == DType::f16 ? 2e-3 : 1e-6);
    Convolution conv = convolution(2, false, true);
    const Tensor x = random_tensor(dtype, {4, 6, 11, 13}, 20);
    expect_convolution(x, random_tensor(dtype, {10, 6, 1, 1}, 21), conv, allowed, "one group");
    conv.feature_groups = 2;
    expect_convolution(x, random_tensor(dtype, {10, 3, 1, 1}, 22), conv, allowed, "groups of features");
    conv.feature_groups = 1;
    conv.batch_groups = 2;
    expect_convolution(x, random_tensor(dtype, {10, 6, 1, 1}, 23), conv, allowed, "groups of the batch");
  }
}

TEST(CpuConvolution, OfSpatialAxesInAnotherOrderIsTheReferences) {
  Convolution conv = convolution(2, false, true);
  conv.output_spatial = {3, 1};
  conv.output_feature = 2;
  conv.strides = {2, 1};
  conv.padding_low = {1, 0};
  conv.padding_high = {0, 2};
  expect_convolution(random_tensor(DType::f32, {2, 4, 7, 9}, 10), random_tensor(DType::f32, {6, 4, 3, 2}, 11), conv,
                     1e-6, "turned");
}

TEST(CpuProducts, PastOneTileAreTheReferencesForEveryType) {
  for (const DType dtype :
       {DType::f64, DType::f16, DType::i8, DType::u16, DType::i32, DType::i64, DType::c64, DType::c128}) {
    const Tensor x = random_tensor(dtype, {3, 61, 45}, 12), y = random_tensor(dtype, {45, 3, 70}, 13);
    Builder b("dot");
    const auto left = b.parameter("x", x.shape()), right = b.parameter("y", y.shape());
    b.output("z", b.dot_general({left, right}, graph::DotGeneral{{0}, {1}, {2}, {0}}));
    const double allowed = dtype == DType::f64 || dtype == DType::c128 ? 1e-14 : (dtype == DType::f16 ? 1e-3 : 1e-6);
    expect_as_reference(std::move(b).finish(), {x, y}, is_integer(dtype) ? 0 : allowed, std::string(to_string(dtype)));
  }
}

TEST(CpuTransforms, OfLengthsWithLargePrimesAndManyRowsAreTheReferences) {
  for (const std::int64_t length : {1, 2, 31, 37, 211, 720, 1024}) {
    for (const DType dtype : {DType::c64, DType::c128}) {
      const Tensor x = random_tensor(dtype, {3, length, 11}, 14);
      Builder b("fft");
      b.output("y", b.fft({b.parameter("x", x.shape())}, graph::Fft{graph::FftKind::ifft, {length, 11}}));
      expect_as_reference(std::move(b).finish(), {x}, dtype == DType::c64 ? 1e-6 : 1e-14,
                          std::to_string(length) + " of " + std::string(to_string(dtype)));
    }
  }
}

TEST(CpuWindows, OverLongAxesAreTheReferences) {
  for (const auto reduction : {graph::Reduction::sum, graph::Reduction::max}) {
    const Tensor x = random_tensor(DType::f32, {2, 35, 37, 9}, 15);
    Builder b("window");
    const auto in = b.parameter("x", x.shape());
    graph::Window window{.reduction = reduction, .window_dimensions = {1, 3, 3, 1}, .strides = {1, 2, 2, 1}};
    window.padding_low = window.padding_high = {0, 1, 1, 0};
    b.output("y", b.reduce_window({in}, window));
    window.window_dilations = {1, 4, 1, 2};
    window.base_dilations = {1, 1, 3, 2};
    b.output("z", b.reduce_window({in}, window));
    expect_as_reference(std::move(b).finish(), {x}, 1e-6, "window");
  }
}

TEST(CpuQuantized, ProductsByBlocksOfTheWeightAreTheReferences) {
  // More rows than are expanded at a time: 2^20 numbers are 1024 rows of 1024.
  const Tensor x = random_tensor(DType::f32, {2, 1024}, 16), weight = random_tensor(DType::i8, {1100, 1024}, 17),
               scales = random_tensor(DType::f32, {1100, 32}, 18), bias = random_tensor(DType::f32, {1100}, 19);
  Builder b("quantized");
  const auto in = b.parameter("x", x.shape());
  b.output("y", b.quantized_dense({in, b.constant(weight), b.constant(scales), b.constant(bias)},
                                  graph::QuantizedDense{tensor::EncodingKind::linear, {1, 32}, false, true}));
  expect_as_reference(std::move(b).finish(), {x}, 1e-6, "quantized_dense");
}

// Activations are rounded to the same integers as in the reference, so that results differ by rounding alone.
TEST(CpuQuantized, ProductsOfIntegersAreTheReferences) {
  const auto linear = tensor::EncodingKind::linear;
  const Tensor x = random_tensor(DType::f32, {3, 37, 96}, 21), smoothing = random_tensor(DType::f32, {96}, 22),
               weight = random_tensor(DType::i8, {150, 96}, 23), bias = random_tensor(DType::f32, {150}, 25),
               residual = random_tensor(DType::f32, {3, 37, 150}, 26);
  struct Form {
    std::int64_t groups, scales;  // of a row of x and of the weight
  };
  for (const auto [groups, scale_count] : {Form{1, 1}, {4, 1}, {4, 4}, {32, 1}, {6, 6}}) {
    const Tensor scales = random_tensor(DType::f32, {150, scale_count}, 24);
    const std::int64_t block = scale_count == 1 ? 0 : 96 / scale_count;
    for (const bool is_whole : {false, true}) {
      Builder b("quantized");
      const auto in = b.parameter("x", x.shape()), added = b.parameter("residual", residual.shape());
      std::vector<graph::Value> operands = {in};
      if (is_whole) operands.push_back(b.constant(smoothing));
      operands.push_back(b.constant(weight));
      operands.push_back(b.constant(scales));
      if (is_whole) operands.insert(operands.end(), {b.constant(bias), added});
      const graph::QuantizedDense dense{
          linear,   {1, block}, false,    is_whole,
          is_whole, groups,     is_whole, is_whole ? graph::Activation::gelu_erf : graph::Activation::none};
      b.output("y", b.quantized_dense(operands, dense));
      const Graph graph = std::move(b).finish();
      const graph::Node& product = graph.node(graph.outputs()[0].value.node);
      EXPECT_EQ(cpu_backend().supports(graph, product, cpu_backend().devices().front()).spelling, "integer_gemm");
      expect_as_reference(graph, {x, residual}, 2e-6, "quantized_dense");
    }
  }
}

TEST(CpuOperations, OfThisFamilyHaveKernelsOfTheirOwn) {
  std::size_t seen = 0;
  for (const Graph& graph : graph::example_graphs()) {
    for (const graph::Node& node : graph.nodes()) {
      switch (node.op) {
        case Op::dot_general:
        case Op::conv_general:
        case Op::reduce_window:
        case Op::select_and_scatter_max:
        case Op::select_and_scatter_min:
        case Op::fft:
        case Op::batch_norm_inference:
        case Op::batch_norm_training:
        case Op::batch_norm_gradient:
        case Op::rng_bit_generator:
        case Op::dequantize:
        case Op::quantized_embedding: break;
        case Op::quantized_dense:
          // Rounded activations have a kernel where the weight is constant; other such products are decomposed.
          if (std::get<graph::QuantizedDense>(node.attributes).activation_groups > 0) continue;
          break;
        default: continue;
      }
      const backends::Support support = cpu_backend().supports(graph, node, cpu_backend().devices().front());
      EXPECT_TRUE(support.native && support.spelling != "interpreted") << graph.name() << ": " << support.spelling;
      ++seen;
    }
  }
  EXPECT_GT(seen, 20u);
}

}  // namespace
}  // namespace alate::cpu
