// Dot products of words with two or more values, for all instruction sets; see gemm_block.inl.h.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_block.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr hn::RebindToUnsigned<FloatTag> kBits;

// Two bf16 per word, widened to f32: the first value is in the low bits.
struct WidenedBf16Dot {
  using Weight = float;
  static constexpr WordKind kKind = WordKind::bf16;
  static constexpr std::size_t kParts = 2;
  template <std::size_t kPart>
  static HWY_INLINE FloatVector half(hn::Vec<decltype(kBits)> words) {
    if constexpr (kPart == 0) return hn::BitCast(kFloats, hn::ShiftLeft<16>(words));
    return hn::BitCast(kFloats, hn::And(words, hn::Set(kBits, 0xffff0000U)));
  }
  template <std::size_t kPart>
  static HWY_INLINE FloatVector operand(const float* word) {
    return half<kPart>(hn::BitCast(kBits, broadcast_word(word)));
  }
  template <std::size_t kPart>
  static HWY_INLINE FloatVector weights(const float* words) {
    return half<kPart>(hn::BitCast(kBits, hn::Load(kFloats, words)));
  }
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    return add_product(sum, operand, weights);
  }
};

// Half-precision weights, widened to f32 when read.
template <class Half>
struct NarrowWeightsDot : FloatDot {
  using Weight = typename Half::Stored;
  using WideDot = FloatDot;
  template <std::size_t kPart>
  static HWY_INLINE FloatVector weights(const Weight* weights) {
    return Half::widened(weights);
  }
};

struct Bf16Weights {
  using Stored = std::uint16_t;
  static HWY_INLINE FloatVector widened(const Stored* weights) {
    const hn::Rebind<std::uint16_t, FloatTag> halves;
    return hn::BitCast(kFloats, hn::ShiftLeft<16>(hn::PromoteTo(kBits, hn::Load(halves, weights))));
  }
};

struct F16Weights {
  using Stored = hwy::float16_t;
  static HWY_INLINE FloatVector widened(const Stored* weights) {
    const hn::Rebind<hwy::float16_t, FloatTag> halves;
    return hn::PromoteTo(kFloats, hn::Load(halves, weights));
  }
};

// Two i16 per word, by 32-bit products.
struct WidenedShortsDot {
  using Weight = float;
  static constexpr WordKind kKind = WordKind::shorts;
  static constexpr std::size_t kParts = 2;
  template <std::size_t kPart>
  static HWY_INLINE FloatVector half(hn::Vec<decltype(kLaneIntegers)> words) {
    if constexpr (kPart == 0) words = hn::ShiftLeft<16>(words);
    return hn::BitCast(kFloats, hn::ShiftRight<16>(words));
  }
  template <std::size_t kPart>
  static HWY_INLINE FloatVector operand(const float* word) {
    return half<kPart>(broadcast_word(word));
  }
  template <std::size_t kPart>
  static HWY_INLINE FloatVector weights(const float* words) {
    return half<kPart>(hn::BitCast(kLaneIntegers, hn::Load(kFloats, words)));
  }
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    const auto product = hn::Mul(hn::BitCast(kLaneIntegers, operand), hn::BitCast(kLaneIntegers, weights));
    return hn::BitCast(kFloats, settled(hn::Add(hn::BitCast(kLaneIntegers, sum), product)));
  }
};

// Words that one instruction multiplies whole: a derived dot provides `add`.
struct WholeWords {
  using Weight = float;
  static constexpr std::size_t kParts = 1;
  template <std::size_t kPart>
  static HWY_INLINE FloatVector operand(const float* word) {
    return hn::BitCast(kFloats, broadcast_word(word));
  }
  template <std::size_t kPart>
  static HWY_INLINE FloatVector weights(const float* words) {
    return hn::Load(kFloats, words);
  }
};

using IntegerVector = hn::Vec<decltype(kLaneIntegers)>;

// Words of several integers: Instruction::add(sum, operand, weights) takes and returns vectors of words.
template <WordKind kKindOfWords, class Instruction>
struct IntegersDot : WholeWords {
  static constexpr WordKind kKind = kKindOfWords;
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    return hn::BitCast(kFloats, Instruction::add(hn::BitCast(kLaneIntegers, sum), hn::BitCast(kLaneIntegers, operand),
                                                 hn::BitCast(kLaneIntegers, weights)));
  }
};

// The floating-point kernels, with one tile size.
template <std::size_t kMaxRows, std::size_t kVectors>
void fill_float_products(GemmKernels& kernels) {
  kernels.f32 = gemm_kernel<FloatDot, kMaxRows, kVectors>();
  kernels.f32_by_bf16 = gemm_kernel<NarrowWeightsDot<Bf16Weights>, kMaxRows, kVectors>();
  kernels.f32_by_f16 = gemm_kernel<NarrowWeightsDot<F16Weights>, kMaxRows, kVectors>();
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
