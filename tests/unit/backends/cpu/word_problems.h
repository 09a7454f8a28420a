// Products of words for tests: operands as words, packed weights, and integers with what they mean.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "tensor/half.h"

namespace alate::cpu::word_testing {

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
    storage_.resize(
        packed_word_count(sizes.n, (row_bytes + kernel.weight_bytes - 1) / kernel.weight_bytes, kernel) * 4 + 64,
        std::byte{0xee});
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

inline GemmArguments arguments_of(const Sizes& sizes, const Words& a, const Packed& w, std::vector<float>& c) {
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

/// bf16 between -1 and 1.
inline std::vector<std::uint16_t> random_bf16(std::size_t count, unsigned seed) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& x : values) x = tensor::float_to_bf16(uniform(random));
  return values;
}

/// Products of bf16 are exact in double; c is their sum in f32.
inline void expect_near_exact_bf16(const std::vector<float>& c, const std::vector<std::uint16_t>& a,
                                   const std::vector<std::uint16_t>& w, const Sizes& sizes) {
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

struct IntegerProblem {
  Sizes sizes;
  std::size_t groups;  // divides k
  bool scales_groups;  // whether each group of a column has a scale of its own
  std::vector<std::uint8_t> a;
  std::vector<std::int8_t> w;
  std::vector<float> row_scales, row_offsets, column_scales, bias, column_sums;

  explicit IntegerProblem(const Sizes& of, std::size_t groups_of_row = 1, bool is_extreme = false,
                          bool has_scales_of_groups = false)
      : sizes(of),
        groups(groups_of_row),
        scales_groups(has_scales_of_groups),
        a(of.m * of.k),
        w(of.n * of.k),
        row_scales(of.m * groups),
        row_offsets(of.m * groups),
        column_scales(has_scales_of_groups ? groups * of.n : of.n),
        bias(of.n),
        column_sums(groups * of.n) {
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
  std::size_t length() const { return sizes.k / groups; }

  // The result without bias, and how large what was added to it is.
  struct Wanted {
    double value = 0, magnitude = 0;
  };
  Wanted wanted(std::size_t row, std::size_t column) const {
    Wanted wanted;
    for (std::size_t group = 0; group < groups; ++group) {
      std::int64_t sum = 0;
      for (std::size_t i = group * length(); i < (group + 1) * length(); ++i)
        sum += std::int64_t{a[row * sizes.k + i]} * w[column * sizes.k + i];
      const double product = static_cast<double>(sum) * row_scales[row * groups + group],
                   offset = double{row_offsets[row * groups + group]} * column_sums[group * sizes.n + column];
      const double scale = column_scales[(scales_groups ? group * sizes.n : 0) + column];
      wanted.value += scale * (product + offset);
      wanted.magnitude += scale * (std::abs(product) + std::abs(offset));
    }
    return wanted;
  }

  // Runs begin with a word of their own.
  template <typename T, typename From>
  std::vector<T> in_groups(const std::vector<From>& values, std::size_t rows) const {
    const std::size_t per_word = 4 / sizeof(T), padded = (length() + per_word - 1) / per_word * per_word;
    std::vector<T> result(rows * groups * padded);
    for (std::size_t i = 0; i < values.size(); ++i) result[i / length() * padded + i % length()] = values[i];
    return result;
  }
  Words a_words(WordKind kind) const {
    if (kind == WordKind::bytes) return words_of(in_groups<std::uint8_t>(a, sizes.m));
    return words_of(in_groups<std::int16_t>(a, sizes.m));
  }
  Packed packed(const GemmKernel& kernel, base::ThreadPool* pool = nullptr) const {
    if (kernel.kind == WordKind::bytes) return packed_of(in_groups<std::int8_t>(w, sizes.n), kernel, pool);
    return packed_of(in_groups<std::int16_t>(w, sizes.n), kernel, pool);
  }
  IntegerScales scales() const {
    return {row_scales.data(), row_offsets.data(), column_scales.data(), column_sums.data(), groups, scales_groups};
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

/// A product of random numbers for a kernel of any kind; integers have rows in so many groups.
class RandomProduct {
 public:
  RandomProduct(const Sizes& sizes, const GemmKernel& kernel, std::size_t groups = 1, bool scales_groups = false)
      : integers_(sizes, groups, false, scales_groups), a_(rows_of(sizes, kernel)), w_(weights_of(sizes, kernel)) {
    arguments_ = arguments_of(sizes, a_, w_, c_);
    if (is_of_integers(kernel)) arguments_.scales = integers_.scales();
  }
  RandomProduct(const RandomProduct&) = delete;
  RandomProduct& operator=(const RandomProduct&) = delete;

  /// Nothing but the sums, to memory of this.
  const GemmArguments& arguments() const { return arguments_; }

 private:
  static bool is_of_integers(const GemmKernel& kernel) {
    return kernel.kind == WordKind::bytes || kernel.kind == WordKind::shorts;
  }
  static std::vector<float> random_floats(std::size_t count, unsigned seed) {
    std::vector<float> values;
    for (const std::uint16_t half : random_bf16(count, seed)) values.push_back(1.01f * tensor::bf16_to_float(half));
    return values;
  }
  Words rows_of(const Sizes& sizes, const GemmKernel& kernel) const {
    if (is_of_integers(kernel)) return integers_.a_words(kernel.kind);
    if (kernel.kind == WordKind::bf16) return Words(random_bf16(sizes.m * sizes.k, 1), sizes.m, sizes.k);
    return Words(random_floats(sizes.m * sizes.k, 1), sizes.m, sizes.k);
  }
  Packed weights_of(const Sizes& sizes, const GemmKernel& kernel) const {
    if (is_of_integers(kernel)) return integers_.packed(kernel);
    if (kernel.kind == WordKind::bf16) return Packed(random_bf16(sizes.n * sizes.k, 2), sizes, kernel);
    return Packed(random_floats(sizes.n * sizes.k, 2), sizes, kernel);
  }

  IntegerProblem integers_;
  Words a_;
  Packed w_;
  std::vector<float> c_;
  GemmArguments arguments_;
};

}  // namespace alate::cpu::word_testing
