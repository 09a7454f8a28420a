// Fourier transforms of several rows side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alate/tensor.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// How a length is transformed: by mixed radices (Stockham's order), or, where it has a large prime factor, as a
/// convolution of power-of-two length (Bluestein 1970).
struct FourierPlan {
  std::size_t length = 0;       // of the rows
  std::size_t inside = 0;       // of the transforms: length, or Bluestein's power of two
  bool is_convolution = false;  // Bluestein
  std::size_t radices[64] = {};
  std::size_t stages = 0;
};
FourierPlan fourier_plan(std::size_t length);

/// `inside` values as real and imaginary parts, each of `lanes` rows side by side: value i of row r at i * lanes + r.
/// root_re and root_im are e^(sign 2πi k / inside). The result is in re and im; work_re and work_im are overwritten.
template <typename T>
struct FourierLanes {
  const FourierPlan* plan;
  const T *root_re, *root_im;
  T sign;
  T *re, *im, *work_re, *work_im;
  std::size_t lanes;
};

enum class FourierValues : std::uint8_t { real, complex, half };  // half: mirrored to the rest of the length

/// Transforms rows along the middle axis of [outer, in_length or out_length, inner] and multiplies the results by
/// `scale`. in may be out where both are complex and of the same length.
struct FourierPass {
  DType component = DType::f32;  // or f64
  FourierValues in_values = FourierValues::complex, out_values = FourierValues::complex;
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t outer = 1, inner = 1;
  std::size_t length = 0, in_length = 0, out_length = 0;
  bool is_inverse = false;
  double scale = 1;
};

/// Scratch for a pass over rows of this length with `workers` workers.
std::size_t fourier_scratch_bytes(std::size_t length, std::size_t workers);
void transform(const FourierPass& pass, std::byte* scratch, std::size_t workers, base::ThreadPool& pool,
               const Kernels& set = kernels());

}  // namespace alate::cpu
