#include "backends/cpu/kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {
namespace {

constexpr Activation kActivations[] = {Activation::none,      Activation::relu,      Activation::gelu_erf,
                                       Activation::gelu_tanh, Activation::silu,      Activation::tanh,
                                       Activation::sigmoid,   Activation::quick_gelu};

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return std::max(x, 0.0);
    case Activation::gelu_erf: return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh: return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::quick_gelu: return x / (1 + std::exp(-1.702 * x));
  }
  return x;
}

struct AlignedDelete {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using AlignedFloats = std::unique_ptr<float[], AlignedDelete>;

AlignedFloats aligned_floats(std::size_t count) {
  return AlignedFloats(static_cast<float*>(::operator new[](count * sizeof(float), std::align_val_t{64})));
}

std::vector<float> random_floats(std::size_t count, unsigned seed, float scale = 1.0f) {
  std::minstd_rand generator(seed);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

// A product with rows that are further apart than they are long, and everything it reads and writes.
struct Problem {
  std::size_t m, n, k, gap;
  std::vector<float> a, w, bias, residual, c;
  AlignedFloats packed;
  GemmArguments arguments;

  Problem(const Kernels& kernels, std::size_t rows, std::size_t columns, std::size_t depth, std::size_t stride_gap = 0)
      : m(rows), n(columns), k(depth), gap(stride_gap) {
    const auto seed = static_cast<unsigned>(m * 7919 + n * 104729 + k + 1);
    a = random_floats(m * (k + gap), seed);
    w = random_floats(n * (k + gap), seed + 1);
    bias = random_floats(n, seed + 2);
    residual = random_floats(m * (n + gap), seed + 3, 4.0f);
    c.assign(m * (n + gap), kUntouched);
    packed = aligned_floats(packed_word_count(n, k, kernels.f32) + 1);
    pack_weights(w.data(), k + gap, n, k, packed.get(), nullptr, kernels.f32);
    arguments = {.a = a.data(),
                 .a_stride = k + gap,
                 .packed = packed.get(),
                 .bias = bias.data(),
                 .residual = residual.data(),
                 .residual_stride = n + gap,
                 .c = c.data(),
                 .c_stride = n + gap,
                 .m = m,
                 .n = n,
                 .k = k};
  }

  void expect_near_exact(const std::string& what) const {
    constexpr double kRounding = 0x1p-24;
    double worst = 0;
    std::string where;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = arguments.bias != nullptr ? bias[j] : 0.0, magnitude = std::abs(sum);
        for (std::size_t l = 0; l < k; ++l) {
          const double product = double{a[i * (k + gap) + l]} * w[j * (k + gap) + l];
          sum += product;
          magnitude += std::abs(product);
        }
        double expected = activated(arguments.activation, sum);
        if (arguments.residual != nullptr) expected += residual[i * (n + gap) + j];
        // A product and a sum at each k are rounded; no activation here grows faster than 1.2 x, and their own errors
        // are at most 3e-7 max(1, |x|).
        const double allowed = 1.2 * kRounding * static_cast<double>(2 * k + 2) * magnitude +
                               kRounding * std::abs(expected) +
                               (arguments.activation == Activation::none ? 0.0 : 3e-7 * std::max(1.0, std::abs(sum)));
        const double off = std::abs(c[i * (n + gap) + j] - expected) / allowed;
        if (!(off <= worst)) {
          worst = off;
          where = "row " + std::to_string(i) + ", column " + std::to_string(j);
        }
      }
      for (std::size_t j = n; j < n + gap; ++j)
        ASSERT_EQ(c[i * (n + gap) + j], kUntouched) << what << ": wrote between rows";
    }
    EXPECT_LE(worst, 1.0) << what << " at " << where;
  }

  static constexpr float kUntouched = -12345.0f;
};

std::string size_text(const Problem& p) {
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
}

class Gemm : public testing::TestWithParam<base::InstructionSet> {
 protected:
  const Kernels& kernels_ = kernels_for(GetParam());
  base::ThreadPool pool_{3};
};

INSTANTIATE_TEST_SUITE_P(EverySet, Gemm, testing::ValuesIn(base::runnable_instruction_sets()),
                         [](const auto& set) { return std::string(base::to_string(set.param)); });

TEST_P(Gemm, MatchesDoublePrecisionForEverySmallSize) {
  // Every m meets every n and every k of these ranges, though not all three together.
  for (std::size_t m = 1; m <= 40; ++m) {
    for (std::size_t i = 1; i <= 70; ++i) {
      Problem problem(kernels_, m, i, 1 + (i * 29 + m * 13) % 70);
      gemm(problem.arguments, pool_, 1, kernels_.f32);
      problem.expect_near_exact(size_text(problem));
    }
  }
}

TEST_P(Gemm, MatchesDoublePrecisionForSizesOfModels) {
  for (const auto& [m, n, k] :
       {std::array<std::size_t, 3>{32, 384, 384}, {33, 129, 1536}, {1, 1536, 384}, {130, 96, 768}}) {
    Problem problem(kernels_, m, n, k);
    gemm(problem.arguments, pool_, 0, kernels_.f32);
    problem.expect_near_exact(size_text(problem));
  }
}

TEST_P(Gemm, AppliesBiasThenActivationThenResidual) {
  for (const Activation activation : kActivations) {
    for (const bool with_bias : {false, true}) {
      for (const bool with_residual : {false, true}) {
        Problem problem(kernels_, 17, 45, 37, 3);
        problem.arguments.activation = activation;
        if (!with_bias) problem.arguments.bias = nullptr;
        if (!with_residual) problem.arguments.residual = nullptr;
        gemm(problem.arguments, pool_, 1, kernels_.f32);
        problem.expect_near_exact("activation " + std::to_string(static_cast<int>(activation)) +
                                  (with_bias ? " with bias" : "") + (with_residual ? " with residual" : ""));
      }
    }
  }
}

TEST_P(Gemm, HonoursStridesAndWritesNothingBetweenRows) {
  for (const std::size_t gap : {1, 2, 7, 16}) {
    for (const std::size_t m : {1, 2, 3, 5, 14, 15, 29}) {
      for (const std::size_t n : {1, 8, 15, 16, 17, 31, 33, 63, 65, 129, 140}) {
        Problem problem(kernels_, m, n, 23, gap);
        gemm(problem.arguments, pool_, 1, kernels_.f32);
        problem.expect_near_exact(size_text(problem) + " gap " + std::to_string(gap));
      }
    }
  }
}

TEST_P(Gemm, AddsTheResidualInPlace) {
  Problem problem(kernels_, 33, 70, 50);
  gemm(problem.arguments, pool_, 1, kernels_.f32);
  std::vector<float> in_place = problem.residual;
  problem.arguments.residual = problem.arguments.c = in_place.data();
  gemm(problem.arguments, pool_, 0, kernels_.f32);
  EXPECT_EQ(in_place, problem.c);
}

TEST_P(Gemm, WithoutKGivesTheActivatedBiasAndTheResidual) {
  Problem problem(kernels_, 3, 5, 0);
  problem.arguments.activation = Activation::relu;
  gemm(problem.arguments, pool_, 1, kernels_.f32);
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_EQ(problem.c[i], std::max(problem.bias[i % 5], 0.0f) + problem.residual[i]);
  }
}

TEST_P(Gemm, WithoutRowsOrColumnsWritesNothing) {
  Problem problem(kernels_, 2, 3, 4);
  problem.arguments.m = 0;
  gemm(problem.arguments, pool_, 0, kernels_.f32);
  problem.arguments.m = 2;
  problem.arguments.n = 0;
  gemm(problem.arguments, pool_, 0, kernels_.f32);
  EXPECT_EQ(problem.c, std::vector<float>(6, Problem::kUntouched));
}

TEST_P(Gemm, KeepsNotANumberInItsRow) {
  Problem problem(kernels_, 16, 40, 20);
  problem.a[5 * 20 + 7] = std::numeric_limits<float>::quiet_NaN();
  problem.a[9 * 20 + 1] = std::numeric_limits<float>::infinity();
  gemm(problem.arguments, pool_, 1, kernels_.f32);
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 40; ++j) {
      const float value = problem.c[i * 40 + j];
      EXPECT_EQ(std::isnan(value), i == 5) << i << ", " << j;
      EXPECT_EQ(std::isinf(value), i == 9) << i << ", " << j;
    }
  }
}

// The rule that all of batching relies on.
TEST_P(Gemm, GivesARowTheSameBitsInEveryBatchAtEveryPlaceOnAnyThreads) {
  for (const auto& [n, k] : {std::array<std::size_t, 2>{1, 70}, {37, 41}, {70, 384}, {200, 1536}, {384, 387}}) {
    for (const Activation activation : {Activation::none, Activation::gelu_erf}) {
      constexpr std::size_t kRows = 40;
      Problem all(kernels_, kRows, n, k);
      all.arguments.activation = activation;
      gemm(all.arguments, pool_, 1, kernels_.f32);
      const auto expect_same_rows = [&](std::size_t first, std::size_t count, std::size_t workers) {
        std::vector<float> part(count * n);
        GemmArguments arguments = all.arguments;
        arguments.a = static_cast<const float*>(arguments.a) + first * k;
        arguments.residual += first * n;
        arguments.c = part.data();
        arguments.m = count;
        gemm(arguments, pool_, workers, kernels_.f32);
        EXPECT_EQ(std::memcmp(part.data(), all.c.data() + first * n, part.size() * sizeof(float)), 0)
            << count << " rows from " << first << " on " << workers << " threads, n " << n << ", k " << k;
      };
      for (std::size_t row = 0; row < kRows; ++row) expect_same_rows(row, 1, 1);
      for (std::size_t count = 2; count <= kRows; ++count) {
        expect_same_rows(kRows - count, count, 1);
        expect_same_rows(0, count, 1 + count % 3);
      }
    }
  }
}

TEST_P(Gemm, GivesTheSameBitsWhenManyRowsAreSplitOverThreads) {
  // With the longer rows, k is taken in parts, and a block of rows in several turns. Rows of 4096 bytes and multiples
  // of it collide in the cache, and are copied; the one alone is not.
  for (const auto& [m, n, k] :
       {std::array<std::size_t, 3>{1000, 70, 384}, {300, 70, 2100}, {300, 70, 2048}, {61, 200, 1024}}) {
    Problem problem(kernels_, m, n, k);
    gemm(problem.arguments, pool_, 1, kernels_.f32);
    for (const std::size_t workers : {2, 3}) {
      std::vector<float> c(problem.c.size());
      GemmArguments arguments = problem.arguments;
      arguments.c = c.data();
      gemm(arguments, pool_, workers, kernels_.f32);
      EXPECT_EQ(std::memcmp(c.data(), problem.c.data(), c.size() * sizeof(float)), 0) << workers << " threads";
    }
    for (const std::size_t row : {std::size_t{0}, m / 3, m - 1}) {
      std::vector<float> alone(n);
      GemmArguments arguments = problem.arguments;
      arguments.a = static_cast<const float*>(arguments.a) + row * k;
      arguments.residual += row * n;
      arguments.c = alone.data();
      arguments.m = 1;
      gemm(arguments, pool_, 1, kernels_.f32);
      EXPECT_EQ(std::memcmp(alone.data(), problem.c.data() + row * n, n * sizeof(float)), 0) << "row " << row;
    }
  }
}

TEST_P(Gemm, SumsEachElementInOneChainOverK) {
  Problem problem(kernels_, 9, 33, 1300);
  problem.arguments.bias = problem.arguments.residual = nullptr;
  gemm(problem.arguments, pool_, 1, kernels_.f32);
  // An instruction set rounds products before adding them or does not, but always the same way.
  std::vector<float> fused, separate;
  for (std::size_t i = 0; i < problem.m; ++i) {
    for (std::size_t j = 0; j < problem.n; ++j) {
      float fused_sum = 0, separate_sum = 0;
      for (std::size_t l = 0; l < problem.k; ++l) {
        const float a = problem.a[i * problem.k + l], w = problem.w[j * problem.k + l];
        fused_sum = std::fma(a, w, fused_sum);
        separate_sum += a * w;
      }
      fused.push_back(fused_sum);
      separate.push_back(separate_sum);
    }
  }
  EXPECT_TRUE(problem.c == fused || problem.c == separate);
}

TEST_P(Gemm, GivesAColumnTheSameBitsInEveryPanel) {
  // All rows of W alike: all columns of C must be.
  Problem problem(kernels_, 19, 150, 100);
  for (std::size_t j = 1; j < 150; ++j) std::copy_n(problem.w.begin(), 100, problem.w.begin() + j * 100);
  pack_weights(problem.w.data(), 100, 150, 100, problem.packed.get(), nullptr, kernels_.f32);
  problem.arguments.bias = problem.arguments.residual = nullptr;
  gemm(problem.arguments, pool_, 1, kernels_.f32);
  for (std::size_t i = 0; i < 19; ++i) {
    for (std::size_t j = 1; j < 150; ++j) ASSERT_EQ(problem.c[i * 150 + j], problem.c[i * 150]) << i << ", " << j;
  }
}

TEST_P(Gemm, PacksPanelsOfColumnsFilledUpWithZeros) {
  const std::size_t width = kernels_.f32.panel_width, n = width + 3, k = 21;
  const std::vector<float> w = random_floats(n * (k + 2), 1);
  ASSERT_EQ(packed_word_count(n, k, kernels_.f32), 2 * width * k);
  const AlignedFloats packed = aligned_floats(2 * width * k), by_threads = aligned_floats(2 * width * k);
  pack_weights(w.data(), k + 2, n, k, packed.get(), nullptr, kernels_.f32);
  pack_weights(w.data(), k + 2, n, k, by_threads.get(), &pool_, kernels_.f32);
  EXPECT_EQ(std::memcmp(packed.get(), by_threads.get(), 2 * width * k * sizeof(float)), 0);
  for (std::size_t column = 0; column < 2 * width; ++column) {
    for (std::size_t i = 0; i < k; ++i) {
      ASSERT_EQ(packed[(column / width * k + i) * width + column % width], column < n ? w[column * (k + 2) + i] : 0.0f);
    }
  }
}

TEST(Kernels, AreThoseOfTheChosenInstructionSet) {
  EXPECT_EQ(kernels().set, base::chosen_instruction_set());
  EXPECT_EQ(&kernels(), &kernels_for(base::chosen_instruction_set()));
}

}  // namespace
}  // namespace alate::cpu
