// Products of words that hold several values: bf16 and small integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "tensor/half.h"
#include "tests/unit/backends/cpu/word_problems.h"

namespace alate::cpu {
namespace {

using namespace word_testing;

// Every set of this processor, with and without its extensions.
std::vector<Kernels> all_kernels() {
  std::vector<Kernels> all;
  for (const base::InstructionSet set : base::runnable_instruction_sets()) {
    all.push_back(kernels_for(set));
    all.push_back(kernels_without_extensions(set));
  }
  return all;
}

std::string name_of(const Kernels& kernels, const GemmKernel& kernel) {
  return std::string(base::to_string(kernels.set)) + ", kind " + std::to_string(static_cast<int>(kernel.kind)) + ", " +
         std::to_string(kernel.rows_per_tile) + " rows";
}

TEST(WordGemm, SumsOfIntegersAreExact) {
  base::ThreadPool pool(2);
  for (const Kernels& kernels : all_kernels()) {
    const GemmKernel& kernel = kernels.integers;
    SCOPED_TRACE(name_of(kernels, kernel));
    for (const Sizes& sizes : kSizes) {
      for (const auto& [groups, scales_groups] :
           {std::pair<std::size_t, bool>{1, false}, {2, false}, {2, true}, {5, true}}) {
        if (sizes.k % groups != 0) continue;
        const IntegerProblem problem(sizes, groups, false, scales_groups);
        std::vector<float> c;
        const Words a = problem.a_words(kernel.kind);
        const Packed w = problem.packed(kernel, &pool);
        GemmArguments arguments = arguments_of(sizes, a, w, c);
        arguments.scales = problem.scales();
        arguments.bias = problem.bias.data();
        gemm(arguments, pool, 2, kernel);
        for (std::size_t i = 0; i < sizes.m; ++i) {
          for (std::size_t j = 0; j < sizes.n; ++j) {
            const IntegerProblem::Wanted wanted = problem.wanted(i, j);
            const double bound = (wanted.magnitude + problem.bias[j]) * 0x1p-23 * static_cast<double>(groups + 1);
            ASSERT_NEAR(c[i * sizes.n + j], wanted.value + problem.bias[j], bound)
                << i << ", " << j << " of " << sizes.m << " x " << sizes.n << " x " << sizes.k << " in " << groups;
          }
        }
      }
    }
  }
}

TEST(WordGemm, SumsOfTheLargestIntegersDoNotSaturate) {
  base::ThreadPool pool(1);
  for (const Kernels& kernels : all_kernels()) {
    const GemmKernel& kernel = kernels.integers;
    IntegerProblem problem({3, 20, 8192}, 1, true);
    std::fill(problem.row_scales.begin(), problem.row_scales.end(), 1.0f);
    std::fill(problem.row_offsets.begin(), problem.row_offsets.end(), 0.0f);
    std::fill(problem.column_scales.begin(), problem.column_scales.end(), 1.0f);
    std::vector<float> c;
    const Words a = problem.a_words(kernel.kind);
    const Packed w = problem.packed(kernel);
    GemmArguments arguments = arguments_of(problem.sizes, a, w, c);
    arguments.scales = problem.scales();
    gemm(arguments, pool, 1, kernel);
    for (const float x : c) ASSERT_EQ(x, -255.0f * 128 * 8192) << name_of(kernels, kernel);
  }
}

TEST(WordGemm, BytesAreMultipliedWhereAnExtensionMayBeUsed) {
  using base::InstructionSet;
  for (const InstructionSet set : base::runnable_instruction_sets()) {
    const bool has_bytes = (set == InstructionSet::avx2 && base::uses_extension("avx_vnni")) ||
                           (set == InstructionSet::avx512 && base::uses_extension("avx512_vnni")) ||
                           (set == InstructionSet::avx512 && base::uses_extension("amx_int8")) ||
                           (set == InstructionSet::neon && base::uses_extension("asimddp")) ||
                           (set == InstructionSet::neon && base::uses_extension("i8mm"));
    EXPECT_EQ(kernels_for(set).integers.kind, has_bytes ? WordKind::bytes : WordKind::shorts) << base::to_string(set);
    EXPECT_EQ(kernels_without_extensions(set).integers.kind, WordKind::shorts) << base::to_string(set);
  }
}

TEST(WordGemm, ExtensionsMultiplyIntegersToTheSameBits) {
  base::ThreadPool pool(1);
  for (const base::InstructionSet set : base::runnable_instruction_sets()) {
    const Kernels with = kernels_for(set), without = kernels_without_extensions(set);
    for (const Sizes& sizes : kSizes) {
      const IntegerProblem problem(sizes, sizes.k % 5 == 0 ? 5 : 1, false, sizes.n % 2 == 0);
      std::vector<float> results[2];
      for (const bool is_with : {false, true}) {
        const GemmKernel& kernel = is_with ? with.integers : without.integers;
        const Words a = problem.a_words(kernel.kind);
        const Packed w = problem.packed(kernel);
        GemmArguments arguments = arguments_of(sizes, a, w, results[is_with]);
        arguments.scales = problem.scales();
        arguments.bias = problem.bias.data();
        arguments.activation = Activation::silu;
        gemm(arguments, pool, 1, kernel);
      }
      ASSERT_EQ(std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(float)), 0)
          << name_of(with, with.integers) << " " << sizes.m << " x " << sizes.n << " x " << sizes.k;
    }
  }
}

// The bits of the product in f32 of the weights widened.
TEST(WordGemm, NarrowWeightsChangeNoBits) {
  base::ThreadPool pool(3);
  for (const base::InstructionSet set : base::runnable_instruction_sets()) {
    const Kernels& kernels = kernels_for(set);
    for (const Sizes& sizes : kSizes) {
      std::minstd_rand random(static_cast<unsigned>(sizes.n + sizes.k));
      std::uniform_real_distribution<float> uniform(-1, 1);
      std::vector<float> a(sizes.m * sizes.k);
      for (float& x : a) x = uniform(random);
      const Words words(a, sizes.m, sizes.k);
      for (const bool is_bf16 : {false, true}) {
        const GemmKernel& kernel = is_bf16 ? kernels.f32_by_bf16 : kernels.f32_by_f16;
        // All finite halves, subnormal ones too.
        std::vector<std::uint16_t> narrow(sizes.n * sizes.k);
        for (std::uint16_t& x : narrow) {
          x = static_cast<std::uint16_t>(random());
          if (!is_bf16 && (x & 0x7c00) == 0x7c00) x ^= 0x4000;
          if (is_bf16 && (x & 0x7000) == 0x7000) x ^= 0x4000;  // whose products are no infinities
        }
        std::vector<float> wide(narrow.size()), wanted, found;
        for (std::size_t i = 0; i < wide.size(); ++i)
          wide[i] = is_bf16 ? tensor::bf16_to_float(narrow[i]) : tensor::f16_to_float(narrow[i]);
        gemm(arguments_of(sizes, words, Packed(wide, sizes, kernels.f32), wanted), pool, 3, kernels.f32);
        gemm(arguments_of(sizes, words, Packed(narrow, sizes, kernel, &pool), found), pool, 3, kernel);
        ASSERT_EQ(std::memcmp(wanted.data(), found.data(), wanted.size() * sizeof(float)), 0)
            << base::to_string(set) << (is_bf16 ? " bf16 " : " f16 ") << sizes.m << " x " << sizes.n << " x "
            << sizes.k;
        EXPECT_LE(packed_word_count(sizes.n, sizes.k, kernel) * 2, packed_word_count(sizes.n, sizes.k, kernels.f32));
      }
    }
  }
}

TEST(WordGemm, Bf16IsNearTheExactProduct) {
  base::ThreadPool pool(2);
  for (const Kernels& kernels : all_kernels()) {
    const GemmKernel& kernel = kernels.bf16;
    SCOPED_TRACE(name_of(kernels, kernel));
    for (const Sizes& sizes : kSizes) {
      const std::vector<std::uint16_t> a = random_bf16(sizes.m * sizes.k, 1), w = random_bf16(sizes.n * sizes.k, 2);
      std::vector<float> c;
      const Words words(a, sizes.m, sizes.k);
      const Packed packed(w, sizes, kernel);
      gemm(arguments_of(sizes, words, packed, c), pool, 2, kernel);
      expect_near_exact_bf16(c, a, w, sizes);
    }
  }
}

// Products of bf16 and of integers may use coarser activations than others. Sums go through all that these meet.
TEST(WordGemm, ActivationsStayWithinTheirStatedErrors) {
  constexpr std::size_t kRows = 4000;
  base::ThreadPool pool(1);
  struct Case {
    Activation activation;
    double (*exact)(double);
  };
  const Case cases[] = {
      {Activation::relu, [](double x) { return std::max(x, 0.0); }},
      {Activation::gelu_erf, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {Activation::gelu_tanh,
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
      {Activation::silu, [](double x) { return x / (1 + std::exp(-x)); }},
      {Activation::tanh, [](double x) { return std::tanh(x); }},
      {Activation::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {Activation::quick_gelu, [](double x) { return x / (1 + std::exp(-1.702 * x)); }},
  };
  for (const Kernels& kernels : all_kernels()) {
    for (const GemmKernel& kernel : {kernels.bf16, kernels.integers}) {
      SCOPED_TRACE(name_of(kernels, kernel));
      const Sizes sizes{kRows, 33, 4};
      const IntegerProblem problem(sizes);
      std::vector<std::uint16_t> halves(problem.a.size()), weights(problem.w.size());
      for (std::size_t i = 0; i < halves.size(); ++i)
        halves[i] = tensor::float_to_bf16((problem.a[i] - 128.0f) * std::ldexp(1.0f, -static_cast<int>(i % 11)) / 30);
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = tensor::float_to_bf16(problem.w[i] / 99.0f);
      const bool is_bf16 = kernel.kind == WordKind::bf16;
      const Words a = is_bf16 ? Words(halves, sizes.m, sizes.k) : problem.a_words(kernel.kind);
      const Packed w = is_bf16 ? Packed(weights, sizes, kernel) : problem.packed(kernel);
      std::vector<float> scales(kRows), offsets(kRows), sums, found;
      for (std::size_t i = 0; i < kRows; ++i) scales[i] = std::ldexp(1e-5f, static_cast<int>(i % 12));
      GemmArguments product = arguments_of(sizes, a, w, sums);
      product.scales = problem.scales();
      product.scales.row_scales = scales.data();
      product.scales.row_offsets = offsets.data();
      gemm(product, pool, 1, kernel);
      for (const Case& c : cases) {
        GemmArguments activated = arguments_of(sizes, a, w, found);
        activated.scales = product.scales;
        activated.activation = c.activation;
        gemm(activated, pool, 1, kernel);
        double greatest = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
          const double error = std::abs(found[i] - c.exact(sums[i]));
          greatest = std::max(greatest, error / std::max(1.0, std::abs(double{sums[i]})));
        }
        const bool is_gelu = c.activation == Activation::gelu_erf || c.activation == Activation::gelu_tanh;
        EXPECT_LE(greatest, is_gelu ? 1e-5 : 2e-7) << "activation " << static_cast<int>(c.activation);
      }
      const auto [least, greatest] = std::minmax_element(sums.begin(), sums.end());
      EXPECT_LT(*least, -6) << "all that activations meet";
      EXPECT_GT(*greatest, 6);
    }
  }
}

TEST(WordGemm, ARowHasTheSameBitsAloneAndOnAnyNumberOfThreads) {
  base::ThreadPool pool(3);
  // The second one's rows, of words or bytes, collide in the cache: they are copied, the one alone is not.
  for (const Sizes& sizes : {Sizes{61, 200, 700}, {61, 120, 4096}}) {
    for (const Kernels& kernels : all_kernels()) {
      for (const GemmKernel& kernel : {kernels.bf16, kernels.integers}) {
        SCOPED_TRACE(name_of(kernels, kernel));
        const IntegerProblem problem(sizes, 2);
        std::vector<std::uint16_t> halves(problem.a.size()), weights(problem.w.size());
        for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = tensor::float_to_bf16(problem.a[i] / 77.0f);
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = tensor::float_to_bf16(problem.w[i] / 99.0f);
        const bool is_bf16 = kernel.kind == WordKind::bf16;
        const Words a = is_bf16 ? Words(halves, sizes.m, sizes.k) : problem.a_words(kernel.kind);
        const Packed w = is_bf16 ? Packed(weights, sizes, kernel) : problem.packed(kernel);
        std::vector<float> all, some;
        GemmArguments arguments = arguments_of(sizes, a, w, all);
        arguments.scales = problem.scales();
        arguments.activation = Activation::gelu_erf;
        gemm(arguments, pool, 3, kernel);
        for (const std::size_t row : {std::size_t{0}, std::size_t{13}, std::size_t{60}}) {
          GemmArguments alone = arguments_of({1, sizes.n, sizes.k}, a, w, some);
          alone.a = a.data() + row * a.stride() * 4;
          alone.scales = arguments.scales;
          alone.scales.row_scales += row * problem.groups;
          alone.scales.row_offsets += row * problem.groups;
          alone.activation = arguments.activation;
          gemm(alone, pool, 1, kernel);
          ASSERT_EQ(std::memcmp(some.data(), all.data() + row * sizes.n, sizes.n * sizeof(float)), 0) << "row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace alate::cpu
