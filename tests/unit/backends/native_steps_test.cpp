// The cpu backend's products, convolutions, windows, transforms, attention and quantized weights against the reference,
// in forms that the conformance suite does not make: constant kernels, sizes past one block, and any number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "backends/cpu/cpu_backend.h"
#include "graph/builder.h"
#include "graph/interpreter.h"
#include "tensor/element.h"
#include "tests/unit/graph/example_graphs.h"

namespace alate::cpu {
namespace {

using backends::Buffer;
using graph::Builder;
using graph::Convolution;
using graph::Graph;
using graph::Op;

Tensor random_tensor(DType dtype, const std::vector<std::int64_t>& extents, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> between(-1, 1);
  Shape shape{dtype, {}};
  for (const std::int64_t extent : extents) shape.dims.emplace_back(extent);
  Tensor tensor = Tensor::zeros(shape);
  const DType part = dtype == DType::c64 ? DType::f32 : (dtype == DType::c128 ? DType::f64 : dtype);
  const std::size_t bytes = bits_of(part) / 8;
  const double scale = is_integer(dtype) ? 100 : 1;
  for (std::size_t i = 0; i < tensor.byte_count(); i += bytes)
    tensor::store_double(part, std::trunc(between(generator) * 64) / 64 * scale, tensor.mutable_bytes().data() + i);
  return tensor;
}

std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs, std::size_t workers = 0) {
  backends::CompileOptions options;
  options.max_workers = workers;
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(graph, options);
  const std::vector<Buffer> buffers(inputs.begin(), inputs.end());
  std::vector<Buffer> outputs(graph.outputs().size());
  executable->run(buffers, outputs, {});
  std::vector<Tensor> results;
  for (const Buffer& output : outputs) results.push_back(*output.host());
  return results;
}

// Within `allowed` of the largest element, and of the same bits however many threads there are.
void expect_as_reference(const Graph& graph, const std::vector<Tensor>& inputs, double allowed,
                         const std::string& what) {
  const std::vector<Tensor> wanted = graph::interpret(graph, inputs), found = run(graph, inputs),
                            alone = run(graph, inputs, 1);
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t result = 0; result < wanted.size(); ++result) {
    ASSERT_EQ(found[result].shape(), wanted[result].shape()) << what;
    const std::size_t bytes = wanted[result].byte_count();
    if (bytes == 0) continue;
    EXPECT_EQ(std::memcmp(found[result].bytes().data(), alone[result].bytes().data(), bytes), 0)
        << what << ": other bits with one thread";
    const DType dtype = wanted[result].dtype();
    const DType part = dtype == DType::c64 ? DType::f32 : (dtype == DType::c128 ? DType::f64 : dtype);
    double largest = 1, farthest = 0;
    for (std::size_t i = 0; i < bytes; i += bits_of(part) / 8) {
      const double x = tensor::load_double(part, found[result].bytes().data() + i),
                   y = tensor::load_double(part, wanted[result].bytes().data() + i);
      largest = std::max(largest, std::abs(y));
      farthest = std::max(farthest, std::abs(x - y));
    }
    EXPECT_LE(farthest, allowed * largest) << what;
  }
}

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

TEST(CpuAttention, OverPaddedBatchesIsTheReferences) {
  constexpr std::int64_t kBatch = 3, kQueries = 70, kKeys = 300, kHeads = 4;
  const Tensor lengths = Tensor::from<std::int32_t>({kBatch}, {300, 0, 129});
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Tensor query = random_tensor(dtype, {kBatch, kQueries, kHeads, 24}, 20),
                 key = random_tensor(dtype, {kBatch, kKeys, 2, 24}, 21),
                 value = random_tensor(dtype, {kBatch, kKeys, 2, 20}, 22);
    for (const bool is_repeated : {false, true}) {
      const Tensor bias = is_repeated ? random_tensor(dtype, {1, kHeads, kQueries, kKeys}, 23)
                                      : random_tensor(dtype, {kBatch, 1, kQueries, kKeys}, 24);
      const Tensor sinks = random_tensor(dtype, {kHeads}, 25);
      for (graph::Attention attention :
           {graph::Attention{.scale = 0.3}, graph::Attention{.scale = 0.3, .causal = true},
            graph::Attention{.scale = 0.3, .window_left = 9, .window_right = 140, .soft_cap = 2.5}}) {
        Builder b("attention");
        const auto given = [&](const Tensor& tensor) {
          return b.parameter("input " + std::to_string(b.so_far().parameters().size()), tensor.shape());
        };
        std::vector<graph::Value> operands = {given(query), given(key), given(value)};
        b.output("plain", b.attention(operands, attention));
        attention.has_lengths = attention.has_bias = true;
        operands.push_back(given(lengths));
        operands.push_back(given(bias));
        b.output("masked", b.attention(operands, attention));
        attention.has_sinks = true;
        operands.push_back(given(sinks));
        b.output("with sinks", b.attention(operands, attention));
        expect_as_reference(std::move(b).finish(), {query, key, value, lengths, bias, sinks},
                            dtype == DType::f32 ? 2e-6 : 1.0 / 128, "attention of " + std::string(to_string(dtype)));
      }
    }
  }
}

TEST(CpuAttention, OfRowsThatAreHiddenByTheLowestNumberIsAMean) {
  const float lowest = std::numeric_limits<float>::lowest();
  const Tensor query = random_tensor(DType::f32, {1, 2, 1, 4}, 26), key = random_tensor(DType::f32, {1, 3, 1, 4}, 27),
               value = random_tensor(DType::f32, {1, 3, 1, 4}, 28),
               bias = Tensor::from<float>({1, 1, 2, 3}, {lowest, lowest, lowest, lowest, 0, lowest});
  Builder b("attention");
  const auto q = b.parameter("q", query.shape()), k = b.parameter("k", key.shape()),
             v = b.parameter("v", value.shape()), hidden = b.parameter("bias", bias.shape());
  b.output("y", b.attention({q, k, v, hidden}, {.has_bias = true}));
  expect_as_reference(std::move(b).finish(), {query, key, value, bias}, 1e-6, "attention");
}

TEST(CpuRope, TurnsHeadsThatLieApartAtPlacesOutsideOfItsTables) {
  const Tensor x = random_tensor(DType::f32, {5, 24}, 29), cosines = random_tensor(DType::f32, {4, 3}, 30),
               sines = random_tensor(DType::f32, {4, 3}, 31),
               places = Tensor::from<std::int64_t>({5}, {0, 3, -1, INT64_MAX, 2});
  Builder b("rope");
  const auto in = b.parameter("x", x.shape()), c = b.parameter("cosines", cosines.shape()),
             s = b.parameter("sines", sines.shape()), at = b.parameter("places", places.shape());
  const auto part = b.slice({in}, {.starts = {0, 3}, .limits = {5, 19}, .strides = {1, 1}});
  const auto heads = b.reshape({part}, {.dims = {5, 2, 8}});
  b.output("halves", b.rope({heads, at, c, s}, {}));
  b.output("neighbours", b.rope({heads, at, c, s}, {.interleaved = true}));
  const auto grouped = b.reshape({part}, {.dims = {5, 1, 2, 8}}), pair = b.reshape({at}, {.dims = {5, 1}});
  b.output("of more axes", b.rope({grouped, pair, c, s}, {}));
  expect_as_reference(std::move(b).finish(), {x, cosines, sines, places}, 1e-6, "rope");
}

TEST(CpuRows, OfMoreAxesMayBePartsOfAMatrix) {
  const Tensor x = random_tensor(DType::f32, {4, 12}, 32), row = random_tensor(DType::f32, {3}, 33),
               weight = random_tensor(DType::f32, {5, 3}, 34);
  Builder b("rows");
  const auto in = b.parameter("x", x.shape()), scale = b.parameter("scale", row.shape());
  const auto part = b.slice({in}, {.starts = {0, 2}, .limits = {4, 8}, .strides = {1, 1}});
  const auto rows = b.reshape({part}, {.dims = {4, 2, 3}});
  b.output("norm", b.layer_norm({rows, scale, scale}, {}));
  b.output("product", b.dense({rows, b.constant(weight)}, {}));
  expect_as_reference(std::move(b).finish(), {x, row}, 1e-5, "rows");
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
        case Op::quantized_dense:
        case Op::quantized_embedding: break;
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
