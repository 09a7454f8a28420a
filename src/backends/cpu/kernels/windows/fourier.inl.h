// The stages of fourier.h for one instruction set: loops over lanes, vectorized by the compiler.
#pragma once

#include "backends/cpu/kernels/vectors/simd.inl.h"
#include "backends/cpu/kernels/windows/fourier.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// One stage: from x as [radix, parts, width] to y as [parts, radix, width].
template <typename T>
struct FourierStage {
  const T *x_re, *x_im;
  T *y_re, *y_im;
  const T *root_re, *root_im;
  T sign;
  std::size_t length, parts, width, root_step;  // of the whole; root_step: the whole by this stage's length
};

template <typename T>
void stage_of_2(const FourierStage<T>& s) {
  const std::size_t half = s.parts * s.width;
  for (std::size_t j = 0; j < s.parts; ++j) {
    const T *HWY_RESTRICT a_re = s.x_re + j * s.width, *HWY_RESTRICT a_im = s.x_im + j * s.width;
    const T *HWY_RESTRICT b_re = a_re + half, *HWY_RESTRICT b_im = a_im + half;
    T *HWY_RESTRICT y0_re = s.y_re + 2 * j * s.width, *HWY_RESTRICT y0_im = s.y_im + 2 * j * s.width;
    T *HWY_RESTRICT y1_re = y0_re + s.width, *HWY_RESTRICT y1_im = y0_im + s.width;
    const T w_re = s.root_re[j * s.root_step], w_im = s.root_im[j * s.root_step];
    for (std::size_t q = 0; q < s.width; ++q) {
      const T re = a_re[q] - b_re[q], im = a_im[q] - b_im[q];
      y0_re[q] = a_re[q] + b_re[q];
      y0_im[q] = a_im[q] + b_im[q];
      y1_re[q] = re * w_re - im * w_im;
      y1_im[q] = re * w_im + im * w_re;
    }
  }
}

template <typename T>
void stage_of_4(const FourierStage<T>& s) {
  const std::size_t quarter = s.parts * s.width, width = s.width;
  const T sign = s.sign;
  for (std::size_t j = 0; j < s.parts; ++j) {
    const T *HWY_RESTRICT x_re = s.x_re + j * width, *HWY_RESTRICT x_im = s.x_im + j * width;
    T *HWY_RESTRICT y_re = s.y_re + 4 * j * width, *HWY_RESTRICT y_im = s.y_im + 4 * j * width;
    const std::size_t root = j * s.root_step;
    const T w1_re = s.root_re[root], w1_im = s.root_im[root], w2_re = s.root_re[2 * root], w2_im = s.root_im[2 * root],
            w3_re = s.root_re[3 * root], w3_im = s.root_im[3 * root];
    for (std::size_t q = 0; q < width; ++q) {
      const T even_re = x_re[q] + x_re[q + 2 * quarter], even_im = x_im[q] + x_im[q + 2 * quarter];
      const T apart_re = x_re[q] - x_re[q + 2 * quarter], apart_im = x_im[q] - x_im[q + 2 * quarter];
      const T odd_re = x_re[q + quarter] + x_re[q + 3 * quarter], odd_im = x_im[q + quarter] + x_im[q + 3 * quarter];
      // ±i times the difference of the odd ones.
      const T turned_re = -sign * (x_im[q + quarter] - x_im[q + 3 * quarter]);
      const T turned_im = sign * (x_re[q + quarter] - x_re[q + 3 * quarter]);
      const T one_re = apart_re + turned_re, one_im = apart_im + turned_im;
      const T two_re = even_re - odd_re, two_im = even_im - odd_im;
      const T three_re = apart_re - turned_re, three_im = apart_im - turned_im;
      y_re[q] = even_re + odd_re;
      y_im[q] = even_im + odd_im;
      y_re[q + width] = one_re * w1_re - one_im * w1_im;
      y_im[q + width] = one_re * w1_im + one_im * w1_re;
      y_re[q + 2 * width] = two_re * w2_re - two_im * w2_im;
      y_im[q + 2 * width] = two_re * w2_im + two_im * w2_re;
      y_re[q + 3 * width] = three_re * w3_re - three_im * w3_im;
      y_im[q + 3 * width] = three_re * w3_im + three_im * w3_re;
    }
  }
}

template <typename T>
void stage_of_any(const FourierStage<T>& s, std::size_t radix) {
  const std::size_t part = s.parts * s.width, width = s.width, whole = s.parts * radix * s.root_step;
  for (std::size_t j = 0; j < s.parts; ++j) {
    for (std::size_t k = 0; k < radix; ++k) {
      T *HWY_RESTRICT y_re = s.y_re + (radix * j + k) * width, *HWY_RESTRICT y_im = s.y_im + (radix * j + k) * width;
      for (std::size_t r = 0; r < radix; ++r) {
        const T *HWY_RESTRICT x_re = s.x_re + r * part + j * width, *HWY_RESTRICT x_im = s.x_im + r * part + j * width;
        // The butterfly's root and the stage's twiddle factor in one.
        const std::size_t root = (r * k % radix * (whole / radix) + j * k * s.root_step) % whole;
        const T w_re = s.root_re[root], w_im = s.root_im[root];
        for (std::size_t q = 0; q < width; ++q) {
          const T re = x_re[q] * w_re - x_im[q] * w_im, im = x_re[q] * w_im + x_im[q] * w_re;
          y_re[q] = r == 0 ? re : y_re[q] + re;
          y_im[q] = r == 0 ? im : y_im[q] + im;
        }
      }
    }
  }
}

template <typename T>
void transform_lanes(const FourierLanes<T>& f) {
  FourierStage<T> stage{f.re, f.im, f.work_re, f.work_im, f.root_re, f.root_im, f.sign, 0, 0, f.lanes, 1};
  const std::size_t n = f.plan->inside;
  std::size_t length = n;
  for (std::size_t i = 0; i < f.plan->stages; ++i) {
    const std::size_t radix = f.plan->radices[i];
    stage.length = length;
    stage.parts = length / radix;
    stage.root_step = n / length;
    if (radix == 2)
      stage_of_2(stage);
    else if (radix == 4)
      stage_of_4(stage);
    else
      stage_of_any(stage, radix);
    length /= radix;
    stage.width *= radix;
    T *read_re = const_cast<T*>(stage.x_re), *read_im = const_cast<T*>(stage.x_im);
    stage.x_re = stage.y_re;
    stage.x_im = stage.y_im;
    stage.y_re = read_re;
    stage.y_im = read_im;
  }
  if (stage.x_re == f.re) return;
  for (std::size_t i = 0; i < n * f.lanes; ++i) {
    f.re[i] = stage.x_re[i];
    f.im[i] = stage.x_im[i];
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
