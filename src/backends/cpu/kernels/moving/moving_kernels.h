// The kernels that move values, of an instruction set's table (dispatch.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/moving/stream.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"

namespace alate::cpu {

/// Each is documented at the function of the same name in its own header, which adds threading.
struct MovingKernels {
  void (*transpose_8)(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out, std::size_t out_stride,
                      std::size_t rows, std::size_t columns) = nullptr;
  void (*transpose_16)(const std::uint16_t* in, std::size_t in_stride, std::uint16_t* out, std::size_t out_stride,
                       std::size_t rows, std::size_t columns) = nullptr;
  void (*transpose_32)(const std::uint32_t* in, std::size_t in_stride, std::uint32_t* out, std::size_t out_stride,
                       std::size_t rows, std::size_t columns) = nullptr;
  void (*transpose_32_streamed)(const std::uint32_t* in, std::size_t in_stride, std::uint32_t* out,
                                std::size_t out_stride, std::size_t rows, std::size_t columns) = nullptr;
  void (*transpose_64)(const std::uint64_t* in, std::size_t in_stride, std::uint64_t* out, std::size_t out_stride,
                       std::size_t rows, std::size_t columns) = nullptr;
  StreamKernel stream;
};

const MovingKernels& moving_kernels(const Kernels& set = kernels());

}  // namespace alate::cpu
