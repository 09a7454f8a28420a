#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu::kernel_testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class VectorMath : public EveryInstructionSet {
 protected:
  std::vector<float> run(UnaryOp op, const std::vector<float>& x) const {
    std::vector<float> y(x.size());
    set().simd.unary(op, x.data(), y.data(), x.size());
    return y;
  }
  float run(UnaryOp op, float x) const { return run(op, std::vector<float>{x})[0]; }
  std::vector<float> run(Activation activation, std::vector<float> x) const {
    set().simd.apply_activation(activation, x.data(), x.size());
    return x;
  }
  float run(Activation activation, float x) const { return run(activation, std::vector<float>{x})[0]; }
};

// Every 2003rd float of either sign, denormals and infinities included; 2003 being prime, all mantissas take part.
std::vector<float> floats_between(float low, float high) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 2003) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (value >= low && value <= high) values.push_back(value);
  }
  return values;
}

// The distance in units of the last place of an f32 next to `want`.
double ulps(float got, double want) {
  if (got == static_cast<float>(want)) return 0;
  if (!std::isfinite(got) || std::isnan(want)) return std::numeric_limits<double>::infinity();
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

template <typename Reference>
double greatest_ulps(const std::vector<float>& x, const std::vector<float>& y, const Reference& reference) {
  double greatest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    greatest = std::max(greatest, ulps(y[i], reference(static_cast<double>(x[i]))));
  }
  return greatest;
}

// Relative to max(1, |x|): the way activations count.
template <typename Reference>
double greatest_error(const std::vector<float>& x, const std::vector<float>& y, const Reference& reference) {
  double greatest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = std::abs(y[i] - reference(static_cast<double>(x[i])));
    if (!(error >= 0)) return kInfinity;
    greatest = std::max(greatest, error / std::max(1.0, std::abs(static_cast<double>(x[i]))));
  }
  return greatest;
}

TEST_P(VectorMath, StaysWithinItsStatedUlps) {
  const std::vector<float> all = floats_between(-kInfinity, kInfinity);
  const std::vector<float> positive = floats_between(0, kInfinity);
  const std::vector<float> above_minus_one = floats_between(-1, kInfinity);
  const std::vector<float> normal_logistic = floats_between(-87, kInfinity);
  EXPECT_LE(greatest_ulps(all, run(UnaryOp::exp, all), [](double x) { return std::exp(x); }), 2);
  EXPECT_LE(greatest_ulps(all, run(UnaryOp::expm1, all), [](double x) { return std::expm1(x); }), 4);
  EXPECT_LE(greatest_ulps(positive, run(UnaryOp::log, positive), [](double x) { return std::log(x); }), 2);
  EXPECT_LE(
      greatest_ulps(above_minus_one, run(UnaryOp::log1p, above_minus_one), [](double x) { return std::log1p(x); }), 4);
  EXPECT_LE(greatest_ulps(all, run(UnaryOp::erf, all), [](double x) { return std::erf(x); }), 3);
  EXPECT_LE(greatest_ulps(all, run(UnaryOp::tanh, all), [](double x) { return std::tanh(x); }), 4);
  EXPECT_LE(greatest_ulps(normal_logistic, run(UnaryOp::logistic, normal_logistic),
                          [](double x) { return 1 / (1 + std::exp(-x)); }),
            4);
}

TEST_P(VectorMath, ActivationsStayWithinTheirStatedErrors) {
  const std::vector<float> x = floats_between(-1e6f, 1e6f);
  EXPECT_LE(greatest_error(x, run(Activation::gelu_erf, x),
                           [](double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); }),
            2e-7);
  EXPECT_LE(greatest_error(
                x, run(Activation::gelu_tanh, x),
                [](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); }),
            2e-7);
  EXPECT_LE(greatest_error(x, run(Activation::silu, x), [](double v) { return v / (1 + std::exp(-v)); }), 2e-7);
  EXPECT_LE(greatest_error(x, run(Activation::quick_gelu, x), [](double v) { return v / (1 + std::exp(-1.702 * v)); }),
            2e-7);
  EXPECT_EQ(greatest_error(x, run(Activation::relu, x), [](double v) { return std::max(v, 0.0); }), 0);
  EXPECT_EQ(run(Activation::none, x), x);
  EXPECT_EQ(run(Activation::tanh, x), run(UnaryOp::tanh, x));
  EXPECT_EQ(run(Activation::sigmoid, x), run(UnaryOp::logistic, x));
}

TEST_P(VectorMath, HasTheRightLimits) {
  EXPECT_EQ(run(UnaryOp::exp, kInfinity), kInfinity);
  EXPECT_EQ(run(UnaryOp::exp, -kInfinity), 0.0f);
  EXPECT_EQ(run(UnaryOp::exp, 0.0f), 1.0f);
  EXPECT_EQ(run(UnaryOp::expm1, -kInfinity), -1.0f);
  EXPECT_EQ(run(UnaryOp::expm1, kInfinity), kInfinity);
  EXPECT_EQ(run(UnaryOp::log, 0.0f), -kInfinity);
  EXPECT_EQ(run(UnaryOp::log, -0.0f), -kInfinity);
  EXPECT_EQ(run(UnaryOp::log, 1.0f), 0.0f);
  EXPECT_EQ(run(UnaryOp::log, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(run(UnaryOp::log, -1.0f)));
  EXPECT_EQ(run(UnaryOp::log1p, -1.0f), -kInfinity);
  EXPECT_TRUE(std::isnan(run(UnaryOp::log1p, -1.5f)));
  for (const UnaryOp op : {UnaryOp::erf, UnaryOp::tanh}) {
    EXPECT_EQ(run(op, kInfinity), 1.0f);
    EXPECT_EQ(run(op, -kInfinity), -1.0f);
    EXPECT_EQ(run(op, 1e30f), 1.0f);
    EXPECT_TRUE(std::signbit(run(op, -0.0f)));
  }
  EXPECT_EQ(run(UnaryOp::logistic, kInfinity), 1.0f);
  EXPECT_EQ(run(UnaryOp::logistic, -kInfinity), 0.0f);
  EXPECT_EQ(run(UnaryOp::logistic, 0.0f), 0.5f);
  for (const Activation activation :
       {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu, Activation::quick_gelu}) {
    EXPECT_EQ(run(activation, kInfinity), kInfinity);
    const float at_minus_infinity =
        run(activation, -kInfinity);  // -infinity times 0, but for relu: torch has it so too
    EXPECT_TRUE(activation == Activation::relu ? at_minus_infinity == 0 : std::isnan(at_minus_infinity));
    EXPECT_EQ(run(activation, 0.0f), 0.0f);
    EXPECT_EQ(run(activation, 1e30f), 1e30f);
    EXPECT_EQ(run(activation, -1e30f), 0.0f);
  }
}

TEST_P(VectorMath, GivesNanForEveryKindOfNan) {
  for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fc00001u, 0x7f800001u, 0xffffffffu, 0x7fffffffu}) {
    const float nan = std::bit_cast<float>(bits);
    for (const UnaryOp op : {UnaryOp::exp, UnaryOp::expm1, UnaryOp::log, UnaryOp::log1p, UnaryOp::tanh, UnaryOp::erf,
                             UnaryOp::logistic, UnaryOp::sqrt, UnaryOp::floor}) {
      EXPECT_TRUE(std::isnan(run(op, nan))) << static_cast<int>(op) << " of " << bits;
    }
    for (const Activation activation :
         {Activation::none, Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu,
          Activation::tanh, Activation::sigmoid, Activation::quick_gelu}) {
      EXPECT_TRUE(std::isnan(run(activation, nan))) << static_cast<int>(activation) << " of " << bits;
    }
  }
}

TEST_P(VectorMath, GivesTheSameBitsInEveryLaneAndTail) {
  const std::vector<float> x = random_floats(70, 1, 8.0f);
  for (int op = 0; op <= static_cast<int>(UnaryOp::logistic); ++op) {
    const std::vector<float> whole = run(static_cast<UnaryOp>(op), x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float alone = run(static_cast<UnaryOp>(op), x[i]);
      EXPECT_TRUE(same_bits<float>({alone}, {whole[i]}) || (std::isnan(alone) && std::isnan(whole[i])))
          << op << " of " << x[i];
    }
  }
  for (int activation = 0; activation <= static_cast<int>(Activation::quick_gelu); ++activation) {
    const std::vector<float> whole = run(static_cast<Activation>(activation), x);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(run(static_cast<Activation>(activation), x[i]), whole[i]);
  }
}

TEST_P(VectorMath, RoundsAndSignsExactly) {
  EXPECT_EQ(run(UnaryOp::round_nearest_even, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 1e10f}),
            (std::vector<float>{0, 2, 2, -0.0f, -2, 1e10f}));
  EXPECT_EQ(run(UnaryOp::floor, {1.5f, -1.5f, 2, -3e9f}), (std::vector<float>{1, -2, 2, -3e9f}));
  EXPECT_EQ(run(UnaryOp::ceil, {1.5f, -1.5f, 2, -3e9f}), (std::vector<float>{2, -1, 2, -3e9f}));
  EXPECT_EQ(run(UnaryOp::sqrt, {4, 2}), (std::vector<float>{2, std::sqrt(2.0f)}));
  EXPECT_EQ(run(UnaryOp::rsqrt, {4, 0.25f}), (std::vector<float>{0.5f, 2}));
}

INSTANTIATE_TEST_SUITE_P(Sets, VectorMath, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);

}  // namespace
}  // namespace alate::cpu::kernel_testing
