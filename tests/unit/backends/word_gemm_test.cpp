// Products of words that hold several values: bf16 and small integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/gemm.h"
#include "tensor/half.h"

namespace alate::cpu {
namespace {

// Every set of this processor, with and without its extensions.
std::vector<Kernels> all_kernels() {
  using base::InstructionSet;
  std::vector<Kernels> all;
  for (const InstructionSet set : {InstructionSet::scalar, InstructionSet::avx2, InstructionSet::avx512}) {
    if (set > base::cpu_facts().best) break;
    all.push_back(kernels_for(set));
    all.push_back(kernels_without_extensions(set));
  }
  return all;
}

std::string name_of(const Kernels& kernels, const GemmKernel& kernel) {
  return std::string(base::to_string(kernels.set)) + ", kind " + std::to_string(static_cast<int>(kernel.kind)) + ", " +
         std::to_string(kernel.rows_per_tile) + " rows";
}

struct Sizes {
  std::size_t m, n, k;
};

constexpr Sizes kSizes[] = {{1, 1, 1},    {1, 40, 7},   {2, 33, 64},   {3, 100, 130}, {14, 32, 12},
                            {15, 65, 33}, {29, 96, 50}, {64, 70, 384}, {5, 17, 2500}};

class Words {
 public:
  // Rows of `count` values each as whole words; what the last word has beyond them is zero.
  template <typename T>
  Words(const std::vector<T>& values, std::size_t rows, std::size_t count)
      : stride_((count * sizeof(T) + 3) / 4), bytes_(rows * stride_ * 4) {
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(bytes_.data() + i * stride_ * 4, values.data() + i * count, count * sizeof(T));
  }
  const std::byte* data() const { return bytes_.data(); }
  std::size_t stride() const { return stride_; }

 private:
  std::size_t stride_;
  std::vector<std::byte> bytes_;
};

// Panels for the weight's rows, aligned as kernels want them.
class Packed {
 public:
  template <typename T>
  Packed(const std::vector<T>& w, const Sizes& sizes, const GemmKernel& kernel, base::ThreadPool* pool = nullptr) {
    const std::size_t row_bytes = sizes.k * sizeof(T);
    storage_.resize(packed_word_count(sizes.n, (row_bytes + 3) / 4, kernel) * 4 + 64, std::byte{0xee});
    auto* end =
        reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(storage_.data()) + 63) & ~std::uintptr_t{63});
    data_ = end;
    pack_words(reinterpret_cast<const std::byte*>(w.data()), row_bytes, sizes.n, row_bytes, data_, pool, kernel);
  }
  const std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> storage_;
  std::byte* data_;
};

GemmArguments arguments_of(const Sizes& sizes, const Words& a, const Packed& w, std::vector<float>& c) {
  GemmArguments arguments;
  arguments.a = a.data();
  arguments.a_stride = arguments.k = a.stride();
  arguments.packed = w.data();
  c.assign(sizes.m * sizes.n, -777.0f);
  arguments.c = c.data();
  arguments.c_stride = sizes.n;
  arguments.m = sizes.m;
  arguments.n = sizes.n;
  return arguments;
}

struct IntegerProblem {
  Sizes sizes;
  std::size_t runs;  // divides k
  std::vector<std::uint8_t> a;
  std::vector<std::int8_t> w;
  std::vector<float> row_scales, row_offsets, column_scales, bias, column_sums;

  explicit IntegerProblem(const Sizes& of, std::size_t runs_of_row = 1, bool is_extreme = false)
      : sizes(of),
        runs(runs_of_row),
        a(of.m * of.k),
        w(of.n * of.k),
        row_scales(of.m * runs),
        row_offsets(of.m * runs),
        column_scales(of.n),
        bias(of.n),
        column_sums(runs * of.n) {
    std::minstd_rand random(static_cast<unsigned>(of.m * 131 + of.n * 17 + of.k));
    for (auto& x : a) x = is_extreme ? std::uint8_t{255} : static_cast<std::uint8_t>(random() % 256);
    for (auto& x : w)
      x = is_extreme ? std::int8_t{-128} : static_cast<std::int8_t>(static_cast<int>(random() % 256) - 128);
    for (auto* values : {&row_scales, &column_scales, &bias, &row_offsets}) {
      for (float& x : *values) x = static_cast<float>(random() % 1000) / 512.0f + 0.01f;
    }
    for (float& x : row_offsets) x = -90 * x;
    for (std::size_t j = 0; j < sizes.n; ++j) {
      for (std::size_t i = 0; i < sizes.k; ++i) column_sums[i / length() * sizes.n + j] += w[j * sizes.k + i];
    }
  }
  std::size_t length() const { return sizes.k / runs; }

  // The result without bias, and how large what was added to it is.
  struct Wanted {
    double value = 0, magnitude = 0;
  };
  Wanted wanted(std::size_t row, std::size_t column) const {
    Wanted wanted;
    for (std::size_t run = 0; run < runs; ++run) {
      std::int64_t sum = 0;
      for (std::size_t i = run * length(); i < (run + 1) * length(); ++i)
        sum += std::int64_t{a[row * sizes.k + i]} * w[column * sizes.k + i];
      const double product = static_cast<double>(sum) * row_scales[row * runs + run],
                   offset = double{row_offsets[row * runs + run]} * column_sums[run * sizes.n + column];
      wanted.value += column_scales[column] * (product + offset);
      wanted.magnitude += column_scales[column] * (std::abs(product) + std::abs(offset));
    }
    return wanted;
  }

  // Runs begin with a word of their own.
  template <typename T, typename From>
  std::vector<T> in_runs(const std::vector<From>& values, std::size_t rows) const {
    const std::size_t per_word = 4 / sizeof(T), padded = (length() + per_word - 1) / per_word * per_word;
    std::vector<T> result(rows * runs * padded);
    for (std::size_t i = 0; i < values.size(); ++i) result[i / length() * padded + i % length()] = values[i];
    return result;
  }
  Words a_words(WordKind kind) const {
    if (kind == WordKind::bytes) return words_of(in_runs<std::uint8_t>(a, sizes.m));
    return words_of(in_runs<std::int16_t>(a, sizes.m));
  }
  Packed packed(const GemmKernel& kernel, base::ThreadPool* pool = nullptr) const {
    if (kernel.kind == WordKind::bytes) return packed_of(in_runs<std::int8_t>(w, sizes.n), kernel, pool);
    return packed_of(in_runs<std::int16_t>(w, sizes.n), kernel, pool);
  }
  IntegerScales scales() const {
    return {row_scales.data(), row_offsets.data(), column_scales.data(), column_sums.data(), runs};
  }

 private:
  template <typename T>
  Words words_of(const std::vector<T>& values) const {
    return Words(values, sizes.m, values.size() / sizes.m);
  }
  template <typename T>
  Packed packed_of(const std::vector<T>& values, const GemmKernel& kernel, base::ThreadPool* pool) const {
    return Packed(values, {sizes.m, sizes.n, values.size() / sizes.n}, kernel, pool);
  }
};

TEST(WordGemm, SumsOfIntegersAreExact) {
  base::ThreadPool pool(2);
  for (const Kernels& kernels : all_kernels()) {
    const GemmKernel& kernel = kernels.integers;
    SCOPED_TRACE(name_of(kernels, kernel));
    for (const Sizes& sizes : kSizes) {
      for (const std::size_t runs : {1, 2, 5}) {
        if (sizes.k % runs != 0) continue;
        const IntegerProblem problem(sizes, runs);
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
            const double bound = (wanted.magnitude + problem.bias[j]) * 0x1p-23 * static_cast<double>(runs + 1);
            ASSERT_NEAR(c[i * sizes.n + j], wanted.value + problem.bias[j], bound)
                << i << ", " << j << " of " << sizes.m << " x " << sizes.n << " x " << sizes.k << " in " << runs;
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

TEST(WordGemm, Bf16IsNearTheExactProduct) {
  base::ThreadPool pool(2);
  for (const Kernels& kernels : all_kernels()) {
    const GemmKernel& kernel = kernels.bf16;
    SCOPED_TRACE(name_of(kernels, kernel));
    for (const Sizes& sizes : kSizes) {
      std::minstd_rand random(static_cast<unsigned>(sizes.n + sizes.k));
      std::uniform_real_distribution<float> uniform(-1, 1);
      std::vector<std::uint16_t> a(sizes.m * sizes.k), w(sizes.n * sizes.k);
      for (auto* values : {&a, &w}) {
        for (std::uint16_t& x : *values) x = tensor::float_to_bf16(uniform(random));
      }
      std::vector<float> c;
      const Words words(a, sizes.m, sizes.k);
      const Packed packed(w, sizes, kernel);
      gemm(arguments_of(sizes, words, packed, c), pool, 2, kernel);
      for (std::size_t i = 0; i < sizes.m; ++i) {
        for (std::size_t j = 0; j < sizes.n; ++j) {
          double wanted = 0, magnitude = 0;
          for (std::size_t l = 0; l < sizes.k; ++l) {
            const double product =
                double{tensor::bf16_to_float(a[i * sizes.k + l])} * tensor::bf16_to_float(w[j * sizes.k + l]);
            wanted += product;
            magnitude += std::abs(product);
          }
          ASSERT_NEAR(c[i * sizes.n + j], wanted, 0x1p-24 * static_cast<double>(sizes.k + 2) * magnitude)
              << i << ", " << j << " of " << sizes.m << " x " << sizes.n << " x " << sizes.k;
        }
      }
    }
  }
}

TEST(WordGemm, ARowHasTheSameBitsAloneAndOnAnyNumberOfThreads) {
  base::ThreadPool pool(3);
  const Sizes sizes{61, 200, 700};
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
        alone.scales.row_scales += row * problem.runs;
        alone.scales.row_offsets += row * problem.runs;
        alone.activation = arguments.activation;
        gemm(alone, pool, 1, kernel);
        ASSERT_EQ(std::memcmp(some.data(), all.data() + row * sizes.n, sizes.n * sizeof(float)), 0) << "row " << row;
      }
    }
  }
}

}  // namespace
}  // namespace alate::cpu
