// Products with weights of bf16 and f16, and the rounding of activations before them.
#include "backends/cpu/kernels/gemm/half_product.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/gemm/product_rates.h"
#include "backends/cpu/kernels/rows/bf16_rows.h"
#include "tensor/half.h"
#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu {
namespace {

using kernel_testing::all_kernels;

// Numbers of all sizes, with those at which rounding is decided.
std::vector<float> floats_to_round(std::size_t count) {
  std::mt19937 random(11);
  std::vector<float> values = {0.0F,
                               -0.0F,
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN(),
                               std::bit_cast<float>(0x7f800001U),
                               std::numeric_limits<float>::max(),
                               0x1p-140F,
                               1 + 0x1p-8F,
                               1 + 3 * 0x1p-8F,
                               -1 - 0x1.0002p-8F};
  while (values.size() < count) {
    const auto bits = static_cast<std::uint32_t>(random());
    if ((bits & 0x7f800000U) != 0x7f800000U) values.push_back(std::bit_cast<float>(bits));
  }
  values.resize(count);
  return values;
}

TEST(Bf16Rows, AreRoundedAsOneNumberIs) {
  base::ThreadPool pool(2);
  for (const Kernels& set : all_kernels()) {
    for (const std::size_t width : {1U, 2U, 15U, 16U, 33U, 384U}) {
      constexpr std::size_t kRows = 5;
      const std::size_t stride = width + 3, words = (width + 1) / 2;
      const std::vector<float> x = floats_to_round(kRows * stride);
      std::vector<std::uint16_t> halves(kRows * words * 2, 0xffff);
      std::vector<float> floats(kRows * width, -7);
      Bf16RowArguments arguments{.x = x.data(), .x_stride = stride, .rows = kRows, .width = width};
      arguments.words = halves.data();
      arguments.words_stride = words;
      round_rows_to_bf16(arguments, pool, 2, set);
      arguments.words = floats.data();
      arguments.words_stride = width;
      arguments.kind = WordKind::f32;
      round_rows_to_bf16(arguments, pool, 2, set);
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t i = 0; i < width; ++i) {
          const std::uint16_t wanted = tensor::float_to_bf16(x[row * stride + i]);
          ASSERT_EQ(halves[row * words * 2 + i], wanted) << x[row * stride + i] << " at " << i << " of " << width;
          ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[row * width + i]), static_cast<std::uint32_t>(wanted) << 16);
        }
        if (width % 2 != 0) {
          ASSERT_EQ(halves[row * words * 2 + width], 0);
        }
      }
    }
  }
}

struct Problem {
  std::size_t m, n, k;
};

// One product with everything around it: weights packed, activations rounded as the kernel wants them.
class Product {
 public:
  Product(const Problem& problem, DType weight) : problem_(problem), weight_(weight) {
    std::mt19937 random(static_cast<unsigned>(problem.n + problem.k));
    std::uniform_real_distribution<float> uniform(-1, 1);
    x_.resize(problem.m * problem.k);
    for (float& value : x_) value = uniform(random);
    for (std::size_t i = 0; i < problem.n * problem.k; ++i) {
      const float value = uniform(random);
      w_.push_back(weight == DType::bf16 ? tensor::float_to_bf16(value) : tensor::float_to_f16(value));
    }
    bias_.assign(problem.n, 0.25F);
  }

  std::vector<float> run(const Kernels& set, const GemmKernel& kernel, std::size_t threads, std::size_t first_row,
                         std::size_t rows) const {
    base::ThreadPool pool(threads);
    const auto& [m, n, k] = problem_;
    Tensor packed = Tensor::uninitialized({DType::u8, {static_cast<std::int64_t>(packed_half_bytes(n, k, kernel))}});
    pack_half_weights(w_.data(), n, k, packed.mutable_bytes().data(), threads > 1 ? &pool : nullptr, kernel);
    Tensor scratch =
        Tensor::uninitialized({DType::u8, {static_cast<std::int64_t>(half_product_scratch(weight_, rows, k, kernel))}});
    std::vector<float> c(rows * n);
    GemmArguments arguments;
    arguments.a = x_.data() + first_row * k;
    arguments.a_stride = arguments.k = k;
    arguments.packed = packed.bytes().data();
    arguments.bias = bias_.data();
    arguments.c = c.data();
    arguments.m = rows;
    arguments.n = arguments.c_stride = n;
    multiply_half(weight_, arguments, scratch.mutable_bytes().data(), pool, threads, kernel, set);
    return c;
  }

  // The exact sum, and how large what is added up is.
  std::pair<double, double> wanted(std::size_t row, std::size_t column) const {
    double sum = bias_[column], magnitude = std::abs(sum);
    for (std::size_t i = 0; i < problem_.k; ++i) {
      const float x = x_[row * problem_.k + i];
      const std::uint16_t w = w_[column * problem_.k + i];
      const double product = weight_ == DType::bf16
                                 ? double{tensor::bf16_to_float(tensor::float_to_bf16(x))} * tensor::bf16_to_float(w)
                                 : double{x} * tensor::f16_to_float(w);
      sum += product;
      magnitude += std::abs(product);
    }
    return {sum, magnitude};
  }

  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
  DType weight_;
  std::vector<float> x_, bias_;
  std::vector<std::uint16_t> w_;
};

template <typename Check>
void for_each_kernel(const Check& check) {
  for (const Kernels& set : all_kernels()) {
    for (const DType weight : {DType::bf16, DType::f16}) {
      check(set, weight == DType::bf16 ? set.f32_by_bf16 : set.f32_by_f16, weight);
      if (weight == DType::bf16) check(set, set.bf16, weight);
    }
  }
}

TEST(HalfProduct, IsNearTheExactProductOfWhatWasRounded) {
  for_each_kernel([](const Kernels& set, const GemmKernel& kernel, DType weight) {
    for (const Problem& sizes : {Problem{1, 1, 1}, {3, 40, 7}, {15, 65, 33}, {29, 96, 130}, {4, 70, 2500}}) {
      const Product product(sizes, weight);
      const std::vector<float> c = product.run(set, kernel, 2, 0, sizes.m);
      for (std::size_t i = 0; i < c.size(); ++i) {
        const auto [sum, magnitude] = product.wanted(i / sizes.n, i % sizes.n);
        ASSERT_NEAR(c[i], sum, 0x1p-24 * static_cast<double>(sizes.k + 3) * magnitude)
            << base::to_string(set.set) << ", " << to_string(weight) << ", place " << i;
      }
    }
  });
}

TEST(HalfProduct, HasTheSameBitsForARowAloneAndOnAnyNumberOfThreads) {
  for_each_kernel([](const Kernels& set, const GemmKernel& kernel, DType weight) {
    const Product product({61, 200, 301}, weight);
    const std::size_t n = product.problem().n;
    const std::vector<float> one = product.run(set, kernel, 1, 0, 61), two = product.run(set, kernel, 2, 0, 61);
    ASSERT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(float)), 0);
    for (const std::size_t row : {0U, 13U, 60U}) {
      const std::vector<float> alone = product.run(set, kernel, 1, row, 1);
      ASSERT_EQ(std::memcmp(alone.data(), one.data() + row * n, n * sizeof(float)), 0) << "row " << row;
    }
  });
}

TEST(HalfProduct, RunsTheKernelOfBf16OnlyWhereItIsClearlyFaster) {
  const GemmKernel& chosen = half_product_kernel(DType::bf16);
  EXPECT_EQ(chosen.run, half_product_kernel(DType::bf16).run);
  const bool is_faster = product_rates().is_clearly_above_f32(product_rates().bf16);
  EXPECT_EQ(chosen.run, is_faster ? kernels().bf16.run : kernels().f32_by_bf16.run);
  EXPECT_EQ(half_product_kernel(DType::f16).run, kernels().f32_by_f16.run);
}

TEST(ProductRates, AreMeasuredForEachTypeAndComparedWithF32) {
  const backends::ProductRates rates = measure_product_rates(kernels_for(base::InstructionSet::scalar));
  EXPECT_GT(rates.f32, 0);
  EXPECT_GT(rates.bf16, 0);
  EXPECT_GT(rates.integers, 0);
  const backends::ProductRates made_up{.f32 = 100, .bf16 = 195, .integers = 104};
  EXPECT_TRUE(made_up.is_clearly_above_f32(made_up.bf16));
  EXPECT_FALSE(made_up.is_clearly_above_f32(made_up.integers));
}

}  // namespace
}  // namespace alate::cpu
