// Fourier transforms against numpy.
#include <cmath>
#include <numbers>

#include "tests/unit/graph/golden_ops.h"

namespace alate::graph {
namespace {

TEST(Interpreter, TransformsLikeNumpy) {
  for (const GoldenOp& golden : golden_ops("fft")) {
    const auto kind = static_cast<FftKind>(golden.number("kind"));
    const Tensor x = golden_operand(0, golden.numbers("x"), kind == FftKind::rfft ? DType::f64 : DType::c128);
    expect_golden(run_op(Op::fft, {x}, Fft{kind, golden.numbers("lengths")}), golden.values("values"), golden.line);
  }
}

TEST(Interpreter, TransformsNothing) {
  const Tensor none = Tensor::zeros({DType::f32, {2, 0}});
  const Tensor spectrum = run_op(Op::fft, {none}, Fft{FftKind::rfft, {0}});
  EXPECT_EQ(to_string(spectrum.shape()), "c64[2,0]");
  EXPECT_EQ(to_string(run_op(Op::fft, {spectrum}, Fft{FftKind::irfft, {0}}).shape()), "f32[2,0]");
}

// A cosine that fits 5 times is two lines, at 5 and at the mirror of 5.
TEST(Interpreter, TransformsPrimeLengthsExactly) {
  constexpr std::size_t kLength = 1009;
  std::vector<double> wave(kLength);
  for (std::size_t i = 0; i < kLength; ++i)
    wave[i] = std::cos(2 * std::numbers::pi * 5 * static_cast<double>(i) / kLength);
  const Tensor x = Tensor::from<double>({kLength}, std::span<const double>(wave));
  const Tensor spectrum = run_op(Op::fft, {x}, Fft{FftKind::rfft, {kLength}});
  std::vector<double> expected(2 * (kLength / 2 + 1), 0);
  expected[10] = kLength / 2.0;
  ASSERT_EQ(spectrum.byte_count(), expected.size() * sizeof(double));
  const auto* found = reinterpret_cast<const double*>(spectrum.bytes().data());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-10) << i;
}

}  // namespace
}  // namespace alate::graph
