// The loops of stream.h for one instruction set.
#pragma once

#include <hwy/cache_control.h>

#include "backends/cpu/kernels/moving/stream.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

inline void stream_copy(const void* from, void* to, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* in = static_cast<const std::uint8_t*>(from);
  auto* out = static_cast<std::uint8_t*>(to);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(out) % lanes;
  const std::size_t before = past == 0 ? 0 : lanes - past;  // up to where vectors are aligned
  std::size_t i = before < bytes ? before : bytes;
  __builtin_memcpy(out, in, i);
  for (; i + lanes <= bytes; i += lanes) hn::Stream(hn::LoadU(d, in + i), d, out + i);
  __builtin_memcpy(out + i, in + i, bytes - i);
}

inline void stream_finish() { hwy::FlushStream(); }

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
