// Shape rules of windows, convolutions, transforms, norms and quantized ops: what they accept, and what they say.
#include "graph/infer.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using tensor::EncodingKind;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

Shape f32(Dims dims) { return {DType::f32, std::move(dims)}; }

std::string refusal_of(Op op, const std::vector<Shape>& shapes, Attributes attributes) {
  return refusal([&] { graph_of(op, shapes, std::move(attributes)); });
}

void expect_refusal(Op op, const std::vector<Shape>& shapes, Attributes attributes, const std::string& words) {
  const std::string said = refusal_of(op, shapes, std::move(attributes));
  EXPECT_NE(said.find(words), std::string::npos) << said;
}

Shape result_of(Op op, const std::vector<Shape>& shapes, Attributes attributes) {
  const Graph graph = graph_of(op, shapes, std::move(attributes));
  return graph.shape(graph.outputs()[0].value);
}

Convolution one_axis() { return {.input_spatial = {2}, .kernel_spatial = {2}, .output_spatial = {2}}; }

TEST(InferShapes, ConvolutionNamesWhatDoesNotFit) {
  const Shape x = f32({2, 4, 9}), kernel = f32({6, 4, 3});
  EXPECT_EQ(result_of(Op::conv_general, {x, kernel}, one_axis()), f32({2, 6, 7}));
  expect_refusal(Op::conv_general, {x, f32({6, 3, 3})}, one_axis(),
                 "conv_general(f32[2,4,9], f32[6,3,3]): the kernel's input features are 3, x's in each group 4");
  Convolution conv = one_axis();
  conv.feature_groups = 3;
  expect_refusal(Op::conv_general, {x, kernel}, conv, "x's features must be a multiple of the 3 groups, not 4");
  conv.feature_groups = 4;
  expect_refusal(Op::conv_general, {x, f32({6, 1, 3})}, conv,
                 "the kernel's output features must be a multiple of the 4");
  conv.batch_groups = 2;
  expect_refusal(Op::conv_general, {x, kernel}, conv, "cannot both be above 1");
  conv = one_axis();
  conv.input_feature = 0;
  expect_refusal(Op::conv_general, {x, kernel}, conv, "input_spatial must name each axis of x once");
  conv = one_axis();
  conv.strides = {0};
  expect_refusal(Op::conv_general, {x, kernel}, conv, "strides must not be below 1");
  conv.strides = {1, 1};
  expect_refusal(Op::conv_general, {x, kernel}, conv, "strides must be empty or have 1 entries");
  expect_refusal(Op::conv_general, {x, {DType::f64, kernel.dims}}, one_axis(), "one dtype");
  expect_refusal(Op::conv_general, {{DType::boolean, x.dims}, {DType::boolean, kernel.dims}}, one_axis(),
                 "has dtype bool");
}

TEST(InferShapes, ConvolutionKeepsNamedDims) {
  Builder b("g");
  const Dim batch = b.dim("batch"), length = b.dim("length");
  const Value x = b.parameter("x", f32({batch, 4, length})), kernel = b.parameter("kernel", f32({6, 4, 3}));
  Convolution conv = one_axis();
  conv.padding_low = {1};
  conv.padding_high = {1};
  EXPECT_EQ(b.shape(b.conv_general({x, kernel}, conv)), f32({batch, 6, length}));
  const Value shorter = b.conv_general({x, kernel}, one_axis());
  EXPECT_EQ(b.dims()->to_string(b.shape(shorter)), "f32[batch,6,max(0,length-2)]");
  Convolution strided = one_axis();
  strided.strides = {2};
  strided.padding_low = {3};
  EXPECT_EQ(b.dims()->to_string(b.shape(b.conv_general({x, kernel}, strided))), "f32[batch,6,length/2+1]");
  conv.batch_groups = 2;
  EXPECT_NE(refusal([&] {
              b.conv_general({x, kernel}, conv);
            }).find("x's batch must be a multiple"),
            std::string::npos);
}

TEST(InferShapes, WindowsDoNotOverflow) {
  const auto window = [](Numbers sizes, Numbers base, Numbers dilations, Numbers low, Numbers high) {
    return Window{Reduction::sum, std::move(sizes), {}, std::move(base), std::move(dilations),
                  std::move(low), std::move(high)};
  };
  for (const Window& hostile :
       {window({kHuge}, {}, {}, {}, {}), window({9}, {}, {kHuge}, {}, {}), window({1}, {kHuge}, {}, {}, {}),
        window({1}, {}, {}, {kHuge}, {}), window({1}, {}, {}, {}, {-kHuge})}) {
    expect_refusal(Op::reduce_window, {f32({5})}, hostile, "axis 0: padding or dilation makes it too long");
  }
  EXPECT_EQ(result_of(Op::reduce_window, {f32({5})}, window({1}, {}, {}, {-9}, {})), f32({0}));
  EXPECT_EQ(result_of(Op::reduce_window, {f32({5})}, window({9}, {}, {}, {}, {})), f32({0}));
  expect_refusal(Op::reduce_window, {f32({5})}, window({0}, {}, {}, {}, {}), "window_dimensions must not be below 1");
  expect_refusal(Op::reduce_window, {f32({5})}, window({1, 1}, {}, {}, {}, {}), "an entry for each axis");
  Window largest = window({1}, {}, {}, {}, {});
  largest.reduction = Reduction::max;
  expect_refusal(Op::reduce_window, {{DType::c64, {5}}}, largest, "complex numbers are only summed and multiplied");
  expect_refusal(Op::select_and_scatter_max, {f32({4}), f32({3})}, SelectWindow{{2}, {2}, {}, {}},
                 "operand 1 must have a value for each window: f32[2]");
}

TEST(InferShapes, TransformsHalveTheLastAxis) {
  EXPECT_EQ(result_of(Op::fft, {f32({3, 8})}, Fft{FftKind::rfft, {8}}), (Shape{DType::c64, {3, 5}}));
  EXPECT_EQ(result_of(Op::fft, {{DType::c128, {3, 5}}}, Fft{FftKind::irfft, {3, 9}}), (Shape{DType::f64, {3, 9}}));
  expect_refusal(Op::fft, {{DType::c64, {6}}}, Fft{FftKind::irfft, {9}}, "axis 0 must be 5 for lengths[0] = 9");
  expect_refusal(Op::fft, {f32({8})}, Fft{FftKind::fft, {8}}, "takes complex numbers");
  expect_refusal(Op::fft, {f32({8})}, Fft{FftKind::rfft, {8, 8}}, "lengths must have 1 to rank entries");
  expect_refusal(Op::fft, {f32({8})}, Fft{FftKind::rfft, {-8}}, "must not be negative");
}

TEST(InferShapes, RandomBitsNeedTheirState) {
  const auto bits = [](RngAlgorithm algorithm, DType dtype, Dims dims) {
    return RngBitGenerator{algorithm, dtype, dims};
  };
  const Shape two{DType::u64, {2}}, three{DType::u64, {3}};
  EXPECT_EQ(result_of(Op::rng_bit_generator, {three}, bits(RngAlgorithm::philox, DType::u8, {4})), three);
  expect_refusal(Op::rng_bit_generator, {three}, bits(RngAlgorithm::threefry, DType::u8, {4}), "must be u64[2]");
  expect_refusal(Op::rng_bit_generator, {two}, bits(RngAlgorithm::threefry, DType::i32, {4}), "dtype must be u8");
  expect_refusal(Op::rng_bit_generator, {two}, bits(RngAlgorithm::philox, DType::u8, {kHuge, kHuge}),
                 "resource_exhausted");
}

TEST(InferShapes, NormsNeedARowOfTheirAxis) {
  expect_refusal(Op::batch_norm_training, {f32({2, 3}), f32({2}), f32({2})}, BatchNorm{1e-5, 1},
                 "operand 1 must be f32[3]: one number for each place of the axis");
  expect_refusal(Op::batch_norm_training, {f32({2, 3}), f32({2}), f32({2})}, BatchNorm{1e-5, 2}, "axis is outside");
  expect_refusal(Op::group_norm, {f32({2, 3}), f32({3}), f32({3})}, GroupNorm{2, 1e-5, 1}, "a multiple of groups");
  expect_refusal(Op::group_norm, {f32({2, 3}), f32({2}), f32({2})}, GroupNorm{1, 1e-5, 0}, "which is the batch");
  expect_refusal(Op::rms_norm, {f32({2, 0}), f32({0})}, Norm{}, "a number above 0");
}

TEST(InferShapes, RopeNamesWhatDoesNotFit) {
  const Shape x = f32({7, 2, 8}), positions{DType::i32, {7}}, table = f32({99, 4});
  EXPECT_EQ(result_of(Op::rope, {x, positions, table, table}, Rope{true, false}), x);
  EXPECT_EQ(result_of(Op::rope, {{DType::f16, x.dims}, positions, table, table}, Rope{true, false}).dtype, DType::f16);
  expect_refusal(Op::rope, {x, positions, table, f32({99, 3})}, Rope{true, false}, "must have one shape");
  expect_refusal(Op::rope, {x, positions, f32({99, 5}), f32({99, 5})}, Rope{true, false}, "at most half of x's width");
  expect_refusal(Op::rope, {x, f32({7}), table, table}, Rope{true, false}, "positions must be integers");
  expect_refusal(Op::rope, {x, positions, f32({0, 4}), f32({0, 4})}, Rope{true, false}, "1 or more places");
  expect_refusal(Op::rope, {x, table, table}, Rope{false, false}, "[..., half width]");
  expect_refusal(Op::rope, {x, table, table}, Rope{true, false}, "operands must be x, positions, cosines and sines");
}

TEST(InferShapes, QuantizedOpsNameWhatDoesNotFit) {
  const Shape bytes{DType::u8, {6, 36}}, integers{DType::i8, {6, 64}};
  const Dequantize q4{EncodingKind::q4_0, {}, false, DType::f16};
  EXPECT_EQ(result_of(Op::dequantize, {bytes}, q4), (Shape{DType::f16, {6, 64}}));
  expect_refusal(Op::dequantize, {{DType::u8, {6, 35}}}, q4, "whole blocks of 18 bytes");
  expect_refusal(Op::dequantize, {integers}, q4, "must be bytes (u8)");
  const Dequantize q2{EncodingKind::q2_k, {}, false, DType::f16};
  // The builder takes no parameter of so many elements; the rule must not count on that.
  const std::vector<Shape> huge = {{DType::u8, {84 * (INT64_MAX / 256 + 1)}}};
  const Attributes attributes = q2;
  DimTable no_dims;
  const std::string said = refusal([&] {
    infer_shapes({.op = Op::dequantize,
                  .attributes = attributes,
                  .operands = huge,
                  .regions = {},
                  .dims = no_dims,
                  .source = ""});
  });
  EXPECT_NE(said.find("stores too many numbers"), std::string::npos) << said;
  expect_refusal(Op::dequantize, {bytes, f32({1})}, q4, "operands must be what is stored");
  const Dequantize linear{EncodingKind::linear, {1, 32}, false, DType::f32};
  EXPECT_EQ(result_of(Op::dequantize, {integers, f32({6, 2})}, linear), f32({6, 64}));
  expect_refusal(Op::dequantize, {integers, f32({6, 3})}, linear, "a scale for each block: f32[6,2]");
  expect_refusal(Op::dequantize, {{DType::i64, {6, 64}}, f32({6, 2})}, linear,
                 "operand 0 has dtype i64, which this op does not take");
  const Dequantize nf4{EncodingKind::nf4, {1, 64}, true, DType::f32};
  expect_refusal(Op::dequantize, {{DType::u8, {6, 32}}, f32({6, 1}), {DType::u8, {6, 1}}}, nf4,
                 "nf4 has no zero points");
  expect_refusal(Op::quantized_dense, {f32({3, 63}), bytes}, QuantizedDense{EncodingKind::q4_0, {}, false, false},
                 "the weight must be [out, in]");
  const Shape bytes_of_rows{DType::i8, {6, 4}};
  QuantizedDense rounded{EncodingKind::linear, {1, 0}, false, false, true, 2};
  EXPECT_EQ(result_of(Op::quantized_dense, {f32({3, 4}), f32({4}), bytes_of_rows, f32({6, 1})}, rounded), f32({3, 6}));
  expect_refusal(Op::quantized_dense, {f32({3, 4}), f32({3}), bytes_of_rows, f32({6, 1})}, rounded,
                 "smoothing must be [in]");
  rounded.activation_groups = 3;
  expect_refusal(Op::quantized_dense, {f32({3, 4}), f32({4}), bytes_of_rows, f32({6, 1})}, rounded,
                 "activation_groups must divide");
  rounded.activation_groups = -1;
  expect_refusal(Op::quantized_dense, {f32({3, 4}), f32({4}), bytes_of_rows, f32({6, 1})}, rounded,
                 "activation_groups must not be negative");
  rounded.activation_groups = 2;
  rounded.rotation = 2;
  EXPECT_EQ(result_of(Op::quantized_dense, {f32({3, 4}), f32({4}), bytes_of_rows, f32({6, 1})}, rounded), f32({3, 6}));
  rounded.rotation = 4;
  expect_refusal(Op::quantized_dense, {f32({3, 4}), f32({4}), bytes_of_rows, f32({6, 1})}, rounded,
                 "rotation must divide");
  for (const std::int64_t rotation : {std::int64_t{3}, std::int64_t{-2}, INT64_MIN}) {
    rounded.rotation = rotation;
    expect_refusal(Op::quantized_dense, {f32({3, 4}), f32({4}), bytes_of_rows, f32({6, 1})}, rounded,
                   "rotation must be 0 or a power of two");
  }
  expect_refusal(Op::quantized_embedding, {f32({3}), bytes}, q4, "operand 0 has dtype f32");
  EXPECT_EQ(result_of(Op::quantized_embedding, {{DType::i32, {3, 2}}, bytes}, q4), (Shape{DType::f16, {3, 2, 64}}));
}

}  // namespace
}  // namespace alate::graph
