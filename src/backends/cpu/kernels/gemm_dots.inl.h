// Products of words that hold two or more values each, as far as every instruction set has them; see gemm_block.inl.h.
#pragma once

#include "backends/cpu/kernels/gemm_block.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr hn::RebindToUnsigned<FloatTag> kBits;

// The word at `p`, whatever its type, in all lanes.
HWY_INLINE hn::Vec<decltype(kLaneIntegers)> broadcast_word(const float* p) {
  std::int32_t word;
  __builtin_memcpy(&word, p, sizeof(word));
  return hn::Set(kLaneIntegers, word);
}

// Two bf16 a word, widened to f32: the first value is in the low bits.
struct WidenedBf16Dot {
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
    return hn::MulAdd(operand, weights, sum);
  }
};

// Two i16 a word, by products of 32 bits.
struct WidenedShortsDot {
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
    return hn::BitCast(kFloats, hn::Add(hn::BitCast(kLaneIntegers, sum), product));
  }
};

// Words that one instruction multiplies whole: a derived dot says how, `add`.
struct WholeWords {
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

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
