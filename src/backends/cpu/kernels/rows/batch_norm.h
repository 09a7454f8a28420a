// Batch normalization with per-channel statistics. Values are [outer, channels, inner]; sums are computed in double.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// All of one dtype: f16, bf16, f32 or f64.
struct ChannelValues {
  DType dtype = DType::f32;
  std::size_t outer = 1, channels = 0, inner = 1;
};

/// y = (x - mean) / sqrt(variance + epsilon) * scale + shift.
struct BatchNormArguments {
  const void *x = nullptr, *scale = nullptr, *shift = nullptr, *mean = nullptr, *variance = nullptr;
  void* y = nullptr;
  double epsilon = 0;
};
void batch_norm(const ChannelValues& values, const BatchNormArguments& arguments, base::ThreadPool& pool,
                std::size_t max_workers);

/// The same with the mean and variance of x itself, which it also writes.
struct BatchNormTraining {
  const void *x = nullptr, *scale = nullptr, *shift = nullptr;
  void *y = nullptr, *mean = nullptr, *variance = nullptr;
  double epsilon = 0;
};
void batch_norm_training(const ChannelValues& values, const BatchNormTraining& arguments, base::ThreadPool& pool,
                         std::size_t max_workers);

/// https://openxla.org/stablehlo/spec#batch_norm_grad
struct BatchNormGradient {
  const void *x = nullptr, *scale = nullptr, *mean = nullptr, *variance = nullptr, *gradient = nullptr;
  void *of_x = nullptr, *of_scale = nullptr, *of_shift = nullptr;
  double epsilon = 0;
};
void batch_norm_gradient(const ChannelValues& values, const BatchNormGradient& arguments, base::ThreadPool& pool,
                         std::size_t max_workers);

}  // namespace alate::cpu
