// The base of every portable SIMD kernel: Highway for the one instruction set that this file is compiled for, and loads
// and stores of the last, partial vector of a row. Include it only in *.inl.h files and in the instruction-set
// files that compile those. All code that uses it lives in alate::cpu::HWY_NAMESPACE, so that no two instruction sets
// share a symbol, and calls no inline function of the standard library.
#pragma once

// The kernels use no AES; without this, x86-64-v2 falls back to SSSE3.
#ifndef HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_PCLMUL_AES
#endif
#ifndef HWY_COMPILE_ONLY_STATIC
#define HWY_COMPILE_ONLY_STATIC
#endif
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;

/// Whether a partial vector can be loaded and stored under a mask, at the cost of a whole one.
#if HWY_MEM_OPS_MIGHT_FAULT
constexpr bool kMaskedMemory = false;
#else
constexpr bool kMaskedMemory = true;
#endif

/// The first `count` floats at `p` (0 < count <= lanes), zeros in the lanes after them; reads nothing beyond.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const hn::TFromD<D>* HWY_RESTRICT p, std::size_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i] = p[i];
  return hn::Load(d, lanes);
#else
  return hn::MaskedLoad(hn::FirstN(d, count), d, p);
#endif
}

/// Writes the first `count` lanes of `v` to `p` and nothing beyond.
template <class D>
HWY_INLINE void store_first(hn::Vec<D> v, D d, hn::TFromD<D>* HWY_RESTRICT p, std::size_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < count; ++i) p[i] = lanes[i];
#else
  hn::BlendedStore(v, hn::FirstN(d, count), d, p);
#endif
}

/// Hides a sum from the compiler's reassociation: with integers, which may be added in any order, GCC multiplies for
/// several steps of a loop first, and keeps those products in memory.
template <class V>
HWY_INLINE V settled(V sum) {
#if HWY_ARCH_X86
  asm("" : "+v"(sum.raw));
#elif HWY_ARCH_ARM_A64
  asm("" : "+w"(sum.raw));
#endif
  return sum;
}

/// sum + x · y, in the sum's own register: tiles use all 16 registers of AVX2, and if GCC moves sums between registers,
/// some are spilled in each step.
HWY_INLINE FloatVector add_product(FloatVector sum, FloatVector x, FloatVector y) {
#if HWY_TARGET == HWY_AVX2 && HWY_COMPILER_GCC_ACTUAL
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum.raw) : "x"(x.raw), "xm"(y.raw));
  return sum;
#else
  return hn::MulAdd(x, y, sum);
#endif
}

/// Broadcasts the word at `p`, whatever its type, to all lanes.
HWY_INLINE hn::Vec<hn::RebindToSigned<FloatTag>> broadcast_word(const float* p) {
  std::int32_t word;
  __builtin_memcpy(&word, p, sizeof(word));
  return hn::Set(hn::RebindToSigned<FloatTag>(), word);
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
