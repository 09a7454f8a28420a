// The loops of window.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/rows/reduce.inl.h"
#include "backends/cpu/kernels/windows/window.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

template <typename F, typename T>
void window_rows(const WindowPass& pass, std::size_t begin, std::size_t end) {
  const std::size_t inner = pass.inner;
  const std::int64_t length = static_cast<std::int64_t>(pass.extent) * pass.base_dilation;
  for (std::size_t row = begin; row < end; ++row) {
    const T* x = static_cast<const T*>(pass.x) + row / pass.count * pass.extent * inner;
    T* HWY_RESTRICT out = static_cast<T*>(pass.out) + row * inner;
    const std::int64_t start = static_cast<std::int64_t>(row % pass.count) * pass.stride - pass.low;
    // The first entry of the window that is not before the axis.
    const std::int64_t skipped = start < 0 ? (-start + pass.window_dilation - 1) / pass.window_dilation : 0;
    std::int64_t position = start + skipped * pass.window_dilation;
    bool is_first = true;
    for (std::int64_t at = skipped; at < pass.window && position < length; ++at, position += pass.window_dilation) {
      if (position % pass.base_dilation != 0) continue;
      const T* HWY_RESTRICT from = x + static_cast<std::size_t>(position / pass.base_dilation) * inner;
      if (is_first) {
        for (std::size_t i = 0; i < inner; ++i) out[i] = from[i];
      } else {
        for (std::size_t i = 0; i < inner; ++i) out[i] = F()(out[i], from[i]);
      }
      is_first = false;
    }
    if (!is_first) continue;
    for (std::size_t i = 0; i < inner; ++i) out[i] = Identity<F, T>::value();
  }
}

template <typename T>
inline WindowLoop window_of(TileOp op) {
  switch (op) {
    case TileOp::add: return window_rows<Add, T>;
    case TileOp::multiply: return window_rows<Multiply, T>;
    case TileOp::maximum: return window_rows<Maximum, T>;
    case TileOp::minimum: return window_rows<Minimum, T>;
    default: return nullptr;
  }
}

inline WindowLoop find_window_loop(TileOp op, DType dtype) {
  switch (dtype) {
    case DType::i8: return window_of<std::int8_t>(op);
    case DType::i16: return window_of<std::int16_t>(op);
    case DType::i32: return window_of<std::int32_t>(op);
    case DType::i64: return window_of<std::int64_t>(op);
    case DType::u8: return window_of<std::uint8_t>(op);
    case DType::u16: return window_of<std::uint16_t>(op);
    case DType::u32: return window_of<std::uint32_t>(op);
    case DType::u64: return window_of<std::uint64_t>(op);
    case DType::f32: return window_of<float>(op);
    case DType::f64: return window_of<double>(op);
    default: return nullptr;
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
