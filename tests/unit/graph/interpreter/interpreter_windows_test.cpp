// Convolutions and windows against jax, and properties checked without it.
#include <cmath>
#include <limits>

#include "tests/unit/graph/golden_ops.h"

namespace alate::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Numbers rest(const Numbers& numbers) { return {numbers.begin() + 2, numbers.end()}; }

Convolution convolution_of(const GoldenOp& golden) {
  const Numbers input = golden.numbers("input"), weights = golden.numbers("weights"), output = golden.numbers("output");
  return {.strides = golden.numbers("strides"),
          .padding_low = golden.numbers("low"),
          .padding_high = golden.numbers("high"),
          .lhs_dilation = golden.numbers("lhs_dilation"),
          .rhs_dilation = golden.numbers("rhs_dilation"),
          .input_batch = input[0],
          .input_feature = input[1],
          .input_spatial = rest(input),
          .kernel_input = weights[1],
          .kernel_output = weights[0],
          .kernel_spatial = rest(weights),
          .output_batch = output[0],
          .output_feature = output[1],
          .output_spatial = rest(output),
          .feature_groups = golden.number("feature_groups"),
          .batch_groups = golden.number("batch_groups")};
}

TEST(Interpreter, ConvolvesLikeJax) {
  for (const DType dtype : {DType::f64, DType::c128}) {
    for (const GoldenOp& golden : golden_ops(dtype == DType::f64 ? "convolution" : "complex_convolution")) {
      const Tensor found =
          run_op(Op::conv_general,
                 {golden_operand(0, golden.numbers("x"), dtype), golden_operand(1, golden.numbers("kernel"), dtype)},
                 convolution_of(golden));
      EXPECT_EQ(found.shape(), detail::shape_of(dtype, golden.numbers("dims"))) << golden.line;
      expect_golden(found, golden.values("values"), golden.line);
    }
  }
}

// 100 · 3 + 100 · 2 = 500 = 256 + 244, and 244 is -12 in eight bits.
TEST(Interpreter, ConvolutionsOfIntegersWrap) {
  const Convolution conv{.input_spatial = {2}, .kernel_spatial = {2}, .output_spatial = {2}};
  const Tensor x = Tensor::from<std::int8_t>({1, 1, 2}, {100, 100}),
               kernel = Tensor::from<std::int8_t>({1, 1, 2}, {3, 2});
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::conv_general, {x, kernel}, conv)), (std::vector<std::int8_t>{-12}));
  const Tensor y = Tensor::from<std::uint64_t>({1, 1, 2}, {1ULL << 63, 5}),
               z = Tensor::from<std::uint64_t>({1, 1, 2}, {3, 1});
  EXPECT_EQ(values_of<std::uint64_t>(run_op(Op::conv_general, {y, z}, conv)),
            (std::vector<std::uint64_t>{(1ULL << 63) + 5}));
}

// 7 · 3 = 21 = 16 + 5 in four bits; a window that sees nothing has the lowest of them.
TEST(Interpreter, WindowsTakePackedIntegers) {
  Tensor x = Tensor::zeros({DType::i4, {1, 1, 2}}), kernel = Tensor::zeros({DType::i4, {1, 1, 1}});
  x.mutable_bytes()[0] = std::byte{0xe7};  // 7, then -2
  kernel.mutable_bytes()[0] = std::byte{3};
  const Convolution conv{.input_spatial = {2}, .kernel_spatial = {2}, .output_spatial = {2}};
  EXPECT_EQ(run_op(Op::conv_general, {x, kernel}, conv).bytes()[0], std::byte{0xa5});  // 5, then -6
  const Window padded{.reduction = Reduction::max, .window_dimensions = {1, 1, 1}, .padding_low = {0, 0, 1}};
  const Tensor largest = run_op(Op::reduce_window, {x}, padded);
  EXPECT_EQ(largest.bytes()[0], std::byte{0x78});
  EXPECT_EQ(largest.bytes()[1], std::byte{0x0e});
}

TEST(Interpreter, ReducesWindowsLikeJax) {
  for (const GoldenOp& golden : golden_ops("reduce_window")) {
    const Window window{.reduction = static_cast<Reduction>(golden.number("reduction")),
                        .window_dimensions = golden.numbers("window"),
                        .strides = golden.numbers("strides"),
                        .base_dilations = golden.numbers("base_dilations"),
                        .window_dilations = golden.numbers("window_dilations"),
                        .padding_low = golden.numbers("low"),
                        .padding_high = golden.numbers("high")};
    const Tensor found = run_op(Op::reduce_window, {golden_operand(0, golden.numbers("x"))}, window);
    EXPECT_EQ(found.shape(), detail::shape_of(DType::f64, golden.numbers("dims"))) << golden.line;
    expect_golden(found, golden.values("values"), golden.line);
  }
}

TEST(Interpreter, WindowsOfIntegersStartAtTheEndsOfTheirDtype) {
  const Window all_padding{.reduction = Reduction::max, .window_dimensions = {1}, .strides = {2}, .padding_low = {1}};
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::reduce_window, {row<std::int8_t>({5})}, all_padding)),
            (std::vector<std::int8_t>{-128}));
  EXPECT_EQ(values_of<std::uint16_t>(run_op(Op::reduce_window, {row<std::uint16_t>({5})}, all_padding)),
            (std::vector<std::uint16_t>{0}));
  Window lowest = all_padding;
  lowest.reduction = Reduction::min;
  EXPECT_EQ(values_of<std::int64_t>(run_op(Op::reduce_window, {row<std::int64_t>({5})}, lowest)),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()}));
  EXPECT_EQ(values_of<std::uint32_t>(run_op(Op::reduce_window, {row<std::uint32_t>({5})}, lowest)),
            (std::vector<std::uint32_t>{0xffffffffU}));
  const Window pairs{.reduction = Reduction::product, .window_dimensions = {2}};
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::reduce_window, {row<std::int8_t>({100, 3, -2})}, pairs)),
            (std::vector<std::int8_t>{44, -6}));
}

TEST(Interpreter, LargestOfAWindowWithNanIsNan) {
  const Window pairs{.reduction = Reduction::max, .window_dimensions = {2}};
  const std::vector<double> found =
      values_of<double>(run_op(Op::reduce_window, {row<double>({kNan, 1, -0.0, 0.0, -kInfinity})}, pairs));
  EXPECT_TRUE(std::isnan(found[0]));
  EXPECT_EQ(found[1], 1);
  EXPECT_FALSE(std::signbit(found[2]));
  EXPECT_FALSE(std::signbit(found[3]));
}

TEST(Interpreter, SelectsAndScattersLikeJax) {
  for (const Op op : {Op::select_and_scatter_max, Op::select_and_scatter_min}) {
    for (const GoldenOp& golden : golden_ops(std::string(to_string(op)))) {
      const SelectWindow window{.window_dimensions = golden.numbers("window"),
                                .strides = golden.numbers("strides"),
                                .padding_low = golden.numbers("low"),
                                .padding_high = golden.numbers("high")};
      const Tensor found =
          run_op(op, {golden_operand(0, golden.numbers("x")), golden_operand(1, golden.numbers("source"))}, window);
      expect_golden(found, golden.values("values"), golden.line);
    }
  }
}

// A window keeps what it has while that is >= the next; nothing is >= NaN, and NaN is >= nothing.
TEST(Interpreter, SelectAndScatterTakesTheFirstOfEquals) {
  const auto scatter = [](const Tensor& x, const SelectWindow& window) {
    return values_of<double>(run_op(Op::select_and_scatter_max, {x, row<double>({10, 20})}, window));
  };
  const SelectWindow pairs{.window_dimensions = {2}, .strides = {2}};
  EXPECT_EQ(scatter(row<double>({3, 3, 1, 2}), pairs), (std::vector<double>{10, 0, 0, 20}));
  EXPECT_EQ(scatter(row<double>({kNan, 3, 1, kNan}), pairs), (std::vector<double>{0, 10, 0, 20}));
  const SelectWindow outside{.window_dimensions = {1}, .strides = {2}, .padding_low = {1}, .padding_high = {1}};
  EXPECT_EQ(scatter(row<double>({3, 4}), outside), (std::vector<double>{0, 20}));
}

}  // namespace
}  // namespace alate::graph
