// Products with weights of ggml's block types: packing, rounded and exact activations, on every instruction set.
#include "backends/cpu/kernels/blocks/block_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/blocks/pack_blocks.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "tensor/half.h"
#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu {
namespace {

using kernel_testing::all_kernels;
using kernel_testing::random_floats;
using kernel_testing::same_bits;
using tensor::EncodingKind;

constexpr EncodingKind kKinds[] = {EncodingKind::q4_0,  EncodingKind::q4_1, EncodingKind::q5_0,   EncodingKind::q5_1,
                                   EncodingKind::q8_0,  EncodingKind::q2_k, EncodingKind::q3_k,   EncodingKind::q4_k,
                                   EncodingKind::q5_k,  EncodingKind::q6_k, EncodingKind::iq4_nl, EncodingKind::iq4_xs,
                                   EncodingKind::tq1_0, EncodingKind::tq2_0};

// Where a block's f16 numbers lie.
std::vector<std::size_t> places_of_halves(EncodingKind kind) {
  switch (kind) {
    case EncodingKind::q4_1:
    case EncodingKind::q5_1:
    case EncodingKind::q4_k:
    case EncodingKind::q5_k: return {0, 2};
    case EncodingKind::q2_k: return {80, 82};
    case EncodingKind::q3_k: return {108};
    case EncodingKind::q6_k: return {208};
    case EncodingKind::tq1_0: return {52};
    case EncodingKind::tq2_0: return {64};
    default: return {0};
  }
}

struct Weight {
  EncodingKind kind;
  std::size_t n, k;
  std::vector<std::uint8_t> blocks;
  std::vector<float> floats;
};

Weight random_weight(EncodingKind kind, std::size_t n, std::size_t k) {
  const tensor::BlockSize block = tensor::block_size(kind);
  const auto elements = static_cast<std::size_t>(block.elements), bytes = static_cast<std::size_t>(block.bytes);
  Weight weight{kind, n, k, std::vector<std::uint8_t>(n * k / elements * bytes), {}};
  std::minstd_rand random(static_cast<unsigned>(kind) + 5);
  for (std::uint8_t& byte : weight.blocks) byte = static_cast<std::uint8_t>(random() >> 8);
  std::uniform_real_distribution<float> scales(-0.02F, 0.02F);
  for (std::size_t at = 0; at < weight.blocks.size(); at += bytes) {
    for (const std::size_t place : places_of_halves(kind)) {
      const std::uint16_t half = tensor::float_to_f16(scales(random));
      std::memcpy(weight.blocks.data() + at + place, &half, sizeof half);
    }
  }
  const auto rows = static_cast<std::int64_t>(n);
  const Tensor stored = Tensor::from<std::uint8_t>({rows, static_cast<std::int64_t>(weight.blocks.size() / n)},
                                                   std::span<const std::uint8_t>(weight.blocks));
  const Tensor floats = tensor::dequantize({kind, {}}, stored, {}, {}, DType::f32);
  weight.floats.assign(floats.values<float>().begin(), floats.values<float>().end());
  return weight;
}

struct AlignedBytes {
  explicit AlignedBytes(std::size_t bytes) : memory(bytes / sizeof(Line) + 1) {}
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::byte* data() { return memory.data()->bytes; }
  std::vector<Line> memory;
};

struct Options {
  bool rounds_rows = true;
  const float *bias = nullptr, *residual = nullptr;
  Activation activation = Activation::none;
};

std::vector<float> product_of(const Weight& weight, const float* x, std::size_t m, base::ThreadPool& pool,
                              const Kernels& set, const Options& options = {}) {
  AlignedBytes packed(packed_block_bytes(weight.kind, weight.n, weight.k));
  pack_blocks(weight.kind, reinterpret_cast<const std::byte*>(weight.blocks.data()), weight.n, weight.k, packed.data(),
              pool);
  std::vector<float> c(m * weight.n);
  BlockProduct product{.kind = weight.kind, .rounds_rows = options.rounds_rows, .product = {}};
  GemmArguments& g = product.product;
  g.a = x;
  g.a_stride = g.k = weight.k;
  g.packed = packed.data();
  g.bias = options.bias;
  g.residual = options.residual;
  g.residual_stride = g.c_stride = g.n = weight.n;
  g.activation = options.activation;
  g.c = c.data();
  g.m = m;
  AlignedBytes scratch(block_product_scratch(product));
  multiply_blocks(product, scratch.data(), pool, 0, set);
  return c;
}

std::size_t width_of(EncodingKind kind) { return tensor::block_size(kind).elements == 32 ? 608 : 768; }

TEST(BlockProduct, OfFloatsHasTheBitsOfAProductWithTheDequantizedWeight) {
  base::ThreadPool pool(2);
  constexpr std::size_t kRows = 11, kColumns = 37;
  for (const EncodingKind kind : kKinds) {
    const Weight weight = random_weight(kind, kColumns, width_of(kind));
    const std::vector<float> x = random_floats(kRows * weight.k, 3);
    for (const Kernels& set : all_kernels()) {
      AlignedBytes packed(packed_word_count(kColumns, weight.k, set.f32) * sizeof(float));
      pack_weights(weight.floats.data(), weight.k, kColumns, weight.k, reinterpret_cast<float*>(packed.data()), nullptr,
                   set.f32);
      std::vector<float> expected(kRows * kColumns);
      GemmArguments g;
      g.a = x.data();
      g.a_stride = g.k = weight.k;
      g.packed = packed.data();
      g.c = expected.data();
      g.c_stride = g.n = kColumns;
      g.m = kRows;
      gemm(g, pool, 0, set.f32);
      const auto found = product_of(weight, x.data(), kRows, pool, set, {.rounds_rows = false});
      EXPECT_TRUE(same_bits(found, expected)) << tensor::to_string(kind) << " " << base::to_string(set.set);
    }
  }
}

// What the header says, in double.
std::vector<double> rounded_activations(const std::vector<float>& x) {
  std::vector<double> rounded(x.size());
  for (std::size_t first = 0; first < x.size(); first += 32) {
    float most = 0;
    for (std::size_t i = first; i < first + 32; ++i) most = std::max(most, std::abs(x[i]));
    const float step = std::max(most / 127, 1e-20F), inverse = 1 / step;
    for (std::size_t i = first; i < first + 32; ++i) rounded[i] = double{std::nearbyint(x[i] * inverse)} * double{step};
  }
  return rounded;
}

TEST(BlockProduct, OfIntegersIsThatOfTheRoundedActivations) {
  base::ThreadPool pool(2);
  constexpr std::size_t kRows = 5, kColumns = 21;
  for (const EncodingKind kind : kKinds) {
    const Weight weight = random_weight(kind, kColumns, width_of(kind));
    const std::vector<float> x = random_floats(kRows * weight.k, 4, 3);
    const std::vector<double> rounded = rounded_activations(x);
    for (const Kernels& set : all_kernels()) {
      const std::vector<float> found = product_of(weight, x.data(), kRows, pool, set);
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t column = 0; column < kColumns; ++column) {
          double expected = 0, size = 0;
          for (std::size_t i = 0; i < weight.k; ++i) {
            const double part = rounded[row * weight.k + i] * double{weight.floats[column * weight.k + i]};
            expected += part;
            size += std::abs(part);
          }
          ASSERT_NEAR(found[row * kColumns + column], expected, size * 1e-5)
              << tensor::to_string(kind) << " " << base::to_string(set.set) << " " << row << " " << column;
        }
      }
    }
  }
}

TEST(BlockProduct, OfARowHasTheSameBitsInAnyBatchAndOnAnyNumberOfThreads) {
  base::ThreadPool one(1), two(2);
  constexpr std::size_t kRows = 141, kColumns = 150;
  for (const EncodingKind kind : kKinds) {
    const Weight weight = random_weight(kind, kColumns, width_of(kind));
    const std::vector<float> x = random_floats(kRows * weight.k, 6);
    for (const Kernels& set : all_kernels()) {
      const std::vector<float> all = product_of(weight, x.data(), kRows, two, set);
      for (const std::size_t rows : {1U, 2U, 3U, 7U, 25U}) {
        std::vector<float> expected(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rows * kColumns));
        EXPECT_TRUE(same_bits(product_of(weight, x.data(), rows, one, set), expected))
            << tensor::to_string(kind) << " " << base::to_string(set.set) << " " << rows;
      }
    }
  }
}

TEST(BlockProduct, HasAnEpilogue) {
  base::ThreadPool pool(2);
  constexpr std::size_t kRows = 3, kColumns = 40;
  const Weight weight = random_weight(EncodingKind::q4_0, kColumns, 64);
  const std::vector<float> x = random_floats(kRows * weight.k, 7), bias = random_floats(kColumns, 8),
                           residual = random_floats(kRows * kColumns, 9);
  const Options options{.bias = bias.data(), .residual = residual.data(), .activation = Activation::relu};
  for (const Kernels& set : all_kernels()) {
    const std::vector<float> plain = product_of(weight, x.data(), kRows, pool, set);
    const std::vector<float> found = product_of(weight, x.data(), kRows, pool, set, options);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], std::max(plain[i] + bias[i % kColumns], 0.0F) + residual[i]);
  }
}

TEST(BlockProduct, IsNanWhereActivationsAreNotFinite) {
  base::ThreadPool pool(1);
  const Weight weight = random_weight(EncodingKind::q8_0, 16, 64);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> x = random_floats(2 * weight.k, 7);
    x[5] = bad;
    for (const Kernels& set : all_kernels()) {
      const std::vector<float> found = product_of(weight, x.data(), 2, pool, set);
      for (std::size_t column = 0; column < weight.n; ++column) {
        EXPECT_TRUE(std::isnan(found[column]));
        EXPECT_TRUE(std::isfinite(found[weight.n + column]));
      }
    }
  }
}

TEST(BlockProduct, OfZerosIsZero) {
  base::ThreadPool pool(1);
  const Weight weight = random_weight(EncodingKind::q4_k, 16, 256);
  const std::vector<float> x(weight.k);
  for (const Kernels& set : all_kernels()) {
    for (const float value : product_of(weight, x.data(), 1, pool, set)) EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace alate::cpu
