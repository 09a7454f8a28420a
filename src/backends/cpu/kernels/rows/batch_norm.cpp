#include "backends/cpu/kernels/rows/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "alate/error.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "tensor/half.h"

namespace alate::cpu {
namespace {

// Channels processed together: about a cache line of them where channels are adjacent.
constexpr std::size_t kTogether = 16;

struct F16 {
  std::uint16_t bits;
};
struct Bf16 {
  std::uint16_t bits;
};
double load(double x) { return x; }
double load(float x) { return x; }
double load(F16 x) { return tensor::f16_to_float(x.bits); }
double load(Bf16 x) { return tensor::bf16_to_float(x.bits); }
void store(double value, double& to) { to = value; }
void store(double value, float& to) { to = static_cast<float>(value); }
void store(double value, F16& to) { to.bits = tensor::double_to_f16(value); }
void store(double value, Bf16& to) { to.bits = tensor::double_to_bf16(value); }

// Calls visit(channel, i) for every element i of channels [begin, end); end - begin is at most kTogether.
template <typename Visit>
void for_each_element(const ChannelValues& v, std::size_t begin, std::size_t end, const Visit& visit) {
  for (std::size_t outer = 0; outer < v.outer; ++outer) {
    for (std::size_t channel = begin; channel < end; ++channel) {
      const std::size_t first = (outer * v.channels + channel) * v.inner;
      for (std::size_t i = first; i < first + v.inner; ++i) visit(channel - begin, i);
    }
  }
}

// Calls visit(begin, end) for runs of channels.
template <typename Visit>
void for_each_run(const ChannelValues& v, base::ThreadPool& pool, std::size_t max_workers, const Visit& visit) {
  // Single channels where each is a long run in memory.
  const std::size_t together = v.inner >= kTogether ? 1 : kTogether;
  const std::size_t runs = (v.channels + together - 1) / together;
  split_rows(runs, v.outer * v.inner * together * 4, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t run = begin; run < end; ++run) visit(run * together, std::min(v.channels, (run + 1) * together));
  });
}

template <typename T>
const T* typed(const void* values) {
  return static_cast<const T*>(values);
}
template <typename T>
T* typed(void* values) {
  return static_cast<T*>(values);
}

// A channel's normalization: y = (x - mean) * factor + shift.
struct Numbers {
  double mean, factor, shift;
  double operator()(double x) const { return (x - mean) * factor + shift; }
};

template <typename T>
void normalize(const ChannelValues& v, const BatchNormArguments& a, base::ThreadPool& pool, std::size_t max_workers) {
  for_each_run(v, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    Numbers numbers[kTogether];
    for (std::size_t c = begin; c < end; ++c) {
      numbers[c - begin] = {load(typed<T>(a.mean)[c]),
                            load(typed<T>(a.scale)[c]) / std::sqrt(load(typed<T>(a.variance)[c]) + a.epsilon),
                            load(typed<T>(a.shift)[c])};
    }
    for_each_element(v, begin, end, [&](std::size_t c, std::size_t i) {
      store(numbers[c](load(typed<T>(a.x)[i])), typed<T>(a.y)[i]);
    });
  });
}

template <typename T>
void train(const ChannelValues& v, const BatchNormTraining& a, base::ThreadPool& pool, std::size_t max_workers) {
  const auto count = static_cast<double>(v.outer * v.inner);
  for_each_run(v, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    double mean[kTogether] = {}, variance[kTogether] = {};
    for_each_element(v, begin, end, [&](std::size_t c, std::size_t i) { mean[c] += load(typed<T>(a.x)[i]); });
    for (double& value : mean) value /= count;
    for_each_element(v, begin, end, [&](std::size_t c, std::size_t i) {
      const double centered = load(typed<T>(a.x)[i]) - mean[c];
      variance[c] += centered * centered;
    });
    Numbers numbers[kTogether];
    for (std::size_t c = begin; c < end; ++c) {
      const double divided = variance[c - begin] / count;
      numbers[c - begin] = {mean[c - begin], load(typed<T>(a.scale)[c]) / std::sqrt(divided + a.epsilon),
                            load(typed<T>(a.shift)[c])};
      store(mean[c - begin], typed<T>(a.mean)[c]);
      store(divided, typed<T>(a.variance)[c]);
    }
    for_each_element(v, begin, end, [&](std::size_t c, std::size_t i) {
      store(numbers[c](load(typed<T>(a.x)[i])), typed<T>(a.y)[i]);
    });
  });
}

template <typename T>
void differentiate(const ChannelValues& v, const BatchNormGradient& a, base::ThreadPool& pool,
                   std::size_t max_workers) {
  const auto count = static_cast<double>(v.outer * v.inner);
  for_each_run(v, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    double mean[kTogether] = {}, sums[kTogether] = {}, products[kTogether] = {}, spread[kTogether] = {},
           factor[kTogether] = {};
    for (std::size_t c = begin; c < end; ++c) mean[c - begin] = load(typed<T>(a.mean)[c]);
    for_each_element(v, begin, end, [&](std::size_t c, std::size_t i) {
      const double gradient = load(typed<T>(a.gradient)[i]);
      sums[c] += gradient;
      products[c] += gradient * (load(typed<T>(a.x)[i]) - mean[c]);
    });
    for (std::size_t c = begin; c < end; ++c) {
      spread[c - begin] = load(typed<T>(a.variance)[c]) + a.epsilon;
      const double root = std::sqrt(spread[c - begin]);
      factor[c - begin] = load(typed<T>(a.scale)[c]) / root / count;
      store(products[c - begin] / root, typed<T>(a.of_scale)[c]);
      store(sums[c - begin], typed<T>(a.of_shift)[c]);
    }
    for_each_element(v, begin, end, [&](std::size_t c, std::size_t i) {
      const double centered = load(typed<T>(a.x)[i]) - mean[c];
      const double rest = count * load(typed<T>(a.gradient)[i]) - sums[c] - products[c] * centered / spread[c];
      store(factor[c] * rest, typed<T>(a.of_x)[i]);
    });
  });
}

template <typename Visit>
void with_type(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::f16: return visit(F16{});
    case DType::bf16: return visit(Bf16{});
    case DType::f32: return visit(float{});
    case DType::f64: return visit(double{});
    default: throw make_error(ErrorCode::internal, "batch norm has no loops for ", to_string(dtype));
  }
}

}  // namespace

void batch_norm(const ChannelValues& values, const BatchNormArguments& arguments, base::ThreadPool& pool,
                std::size_t max_workers) {
  with_type(values.dtype, [&](auto type) { normalize<decltype(type)>(values, arguments, pool, max_workers); });
}

void batch_norm_training(const ChannelValues& values, const BatchNormTraining& arguments, base::ThreadPool& pool,
                         std::size_t max_workers) {
  with_type(values.dtype, [&](auto type) { train<decltype(type)>(values, arguments, pool, max_workers); });
}

void batch_norm_gradient(const ChannelValues& values, const BatchNormGradient& arguments, base::ThreadPool& pool,
                         std::size_t max_workers) {
  with_type(values.dtype, [&](auto type) { differentiate<decltype(type)>(values, arguments, pool, max_workers); });
}

}  // namespace alate::cpu
