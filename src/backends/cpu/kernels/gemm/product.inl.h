// The micro-kernels of product.h for one instruction set: tiles of a few rows of A by a panel of W, whose sums stay in
// registers over k.
#pragma once

#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

template <typename T>
constexpr bool kFuses = static_cast<T>(0.5) != T(0);  // integers do not

template <typename T, std::size_t kRows, std::size_t kVectors>
HWY_NOINLINE void product_tile(const T* HWY_RESTRICT a, std::size_t a_stride, const T* HWY_RESTRICT panel,
                               std::size_t k, T* HWY_RESTRICT c, std::size_t c_stride, std::size_t columns) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kWide = HWY_LANES(T);
  V sums[kRows][kVectors];
  HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
    HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) sums[row][v] = hn::Zero(d);
  }
  for (std::size_t i = 0; i < k; ++i) {
    V w[kVectors];
    HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) w[v] = hn::Load(d, panel + (i * kVectors + v) * kWide);
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      const V value = hn::Set(d, a[row * a_stride + i]);
      HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) {
        if constexpr (kFuses<T>)
          sums[row][v] = hn::MulAdd(value, w[v], sums[row][v]);
        else
          sums[row][v] = hn::Add(sums[row][v], hn::Mul(value, w[v]));
      }
    }
  }
  HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
    HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t column = v * kWide;
      if (column >= columns) break;
      T* to = c + row * c_stride + column;
      if (columns - column >= kWide)
        hn::StoreU(sums[row][v], d, to);
      else
        store_first(sums[row][v], d, to, columns - column);
    }
  }
}

template <typename T>
using ProductTile = void (*)(const T*, std::size_t, const T*, std::size_t, T*, std::size_t, std::size_t);

template <typename T, std::size_t kMaxRows, std::size_t kVectors>
struct ProductTiles {
  ProductTile<T> of[kMaxRows + 1];
  template <std::size_t kRows>
  constexpr void fill() {
    of[kRows] = product_tile<T, kRows, kVectors>;
    if constexpr (kRows < kMaxRows) fill<kRows + 1>();
  }
  constexpr ProductTiles() : of{} { fill<1>(); }
};

template <typename T, std::size_t kMaxRows, std::size_t kVectors>
void product_block(const ProductArguments& g, std::size_t row_begin, std::size_t row_end, std::size_t panel_begin,
                   std::size_t panel_end) {
  static constexpr ProductTiles<T, kMaxRows, kVectors> kTiles;
  constexpr std::size_t kPanel = kVectors * HWY_LANES(T);
  for (std::size_t panel = panel_begin; panel < panel_end; ++panel) {
    const std::size_t column = panel * kPanel, left = g.n - column;
    for (std::size_t row = row_begin; row < row_end; row += kMaxRows) {
      const std::size_t rows = row_end - row < kMaxRows ? row_end - row : kMaxRows;
      kTiles.of[rows](static_cast<const T*>(g.a) + row * g.a_stride, g.a_stride,
                      static_cast<const T*>(g.packed) + column * g.k, g.k,
                      static_cast<T*>(g.c) + row * g.c_stride + column, g.c_stride, left < kPanel ? left : kPanel);
    }
  }
}

/// kMaxRows * kVectors sums, kVectors weights and one value of A fit into the registers of any set.
template <typename T>
ProductLoop make_product_loop() {
  constexpr std::size_t kRows = HWY_LANES(T) * sizeof(T) == 64 ? 12 : (HWY_LANES(T) * sizeof(T) == 32 ? 6 : 4);
  return {2 * HWY_LANES(T), kRows, product_block<T, kRows, 2>};
}

inline ProductLoop find_product_loop(DType dtype) {
  switch (dtype) {
    case DType::f64: return make_product_loop<double>();
    case DType::u16: return make_product_loop<std::uint16_t>();
    case DType::u32: return make_product_loop<std::uint32_t>();
    case DType::u64: return make_product_loop<std::uint64_t>();
    default: return {};
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
