#include "backends/cpu/kernels/windows/fourier.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/kernels/windows/window_kernels.h"

namespace alate::cpu {
namespace {

// Rows that are transformed side by side: enough for whole vectors, as long as all stay in the L2 cache.
constexpr std::size_t kMostLanes = 8;
constexpr std::size_t kValuesInCache = 32 * 1024;
constexpr std::size_t kLargestRadix = 31;

using Complex = std::complex<double>;

Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// e^(sign 2πi k / n) for all k < count. Every 64th comes from the library, the others from one product.
template <typename T>
void fill_roots(std::size_t n, std::size_t count, double sign, T* re, T* im) {
  constexpr std::size_t kRun = 64;
  const auto root = [&](std::size_t k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
    return Complex(std::cos(angle), sign * std::sin(angle));
  };
  Complex near[kRun];
  for (std::size_t k = 0; k < kRun; ++k) near[k] = root(k);
  for (std::size_t begin = 0; begin < count; begin += kRun) {
    const Complex far = root(begin);
    for (std::size_t k = begin; k < std::min(count, begin + kRun); ++k) {
      const Complex value = begin == 0 ? near[k] : times(far, near[k - begin]);
      re[k] = static_cast<T>(value.real());
      im[k] = static_cast<T>(value.imag());
    }
  }
}

// Hands out parts of the scratch in order.
template <typename T>
struct Parts {
  std::byte* next;
  T* take(std::size_t count) {
    std::byte* taken = next;
    next += scratch_aligned(count * sizeof(T));
    return reinterpret_cast<T*>(taken);
  }
};

std::size_t shared_values(const FourierPlan& plan) {
  return plan.is_convolution ? 4 * plan.inside + 2 * plan.length : 2 * plan.inside;
}
std::size_t shared_bytes(const FourierPlan& plan) {
  return scratch_aligned(shared_values(plan) * sizeof(double)) + 6 * kScratchAlignment;
}
std::size_t lanes_of(const FourierPlan& plan) {
  return std::clamp<std::size_t>(kValuesInCache / std::max<std::size_t>(plan.inside, 1), 1, kMostLanes);
}
std::size_t worker_bytes(const FourierPlan& plan) {
  return 4 * scratch_aligned(plan.inside * lanes_of(plan) * sizeof(double));
}

template <typename T>
auto lanes_function(const Kernels& set) {
  if constexpr (std::is_same_v<T, float>)
    return window_kernels(set).fourier_f32;
  else
    return window_kernels(set).fourier_f64;
}

// Rows of Stored components, transformed as T.
template <typename Stored, typename T>
class Transformer {
 public:
  Transformer(const FourierPass& pass, const FourierPlan& plan, std::byte* scratch, const Kernels& set)
      : pass_(pass), plan_(plan), run_(lanes_function<T>(set)), workers_(scratch + shared_bytes(plan)) {
    Parts<T> parts{scratch};
    const double sign = pass.is_inverse ? 1 : -1;
    T *re = parts.take(plan.inside), *im = parts.take(plan.inside);
    fill_roots(plan.inside, plan.inside, sign, re, im);
    root_re_ = re;
    root_im_ = im;
    if (!plan.is_convolution) return;
    // Bluestein: jk = (j² + k² - (k - j)²) / 2, so that the sum over j is a convolution with e^(-sign πi j²/n).
    const std::size_t n = plan.length;
    chirp_re_ = parts.take(n);
    chirp_im_ = parts.take(n);
    for (std::size_t k = 0; k < n; ++k) {
      const double angle = std::numbers::pi * static_cast<double>(k * k % (2 * n)) / static_cast<double>(n);
      chirp_re_[k] = static_cast<T>(std::cos(angle));
      chirp_im_[k] = static_cast<T>(sign * std::sin(angle));
    }
    filter_re_ = parts.take(plan.inside);
    filter_im_ = parts.take(plan.inside);
    std::fill_n(filter_re_, plan.inside, T(0));
    std::fill_n(filter_im_, plan.inside, T(0));
    for (std::size_t k = 0; k < n; ++k) {
      for (const std::size_t place : {k, (plan.inside - k) % plan.inside}) {
        filter_re_[place] = chirp_re_[k];
        filter_im_[place] = -chirp_im_[k];
      }
    }
    Parts<T> work{workers_};
    T *work_re = work.take(plan.inside), *work_im = work.take(plan.inside);
    run_({&plan_, root_re_, root_im_, static_cast<T>(sign), filter_re_, filter_im_, work_re, work_im, 1});
  }

  void lanes(std::size_t first, std::size_t count, std::size_t worker) const {
    Parts<T> parts{workers_ + worker * worker_bytes(plan_)};
    const std::size_t values = plan_.inside * lanes_of(plan_);
    T *re = parts.take(values), *im = parts.take(values), *work_re = parts.take(values), *work_im = parts.take(values);
    load(first, count, re, im);
    FourierLanes<T> f{&plan_,  root_re_, root_im_, static_cast<T>(pass_.is_inverse ? 1 : -1), re, im,
                      work_re, work_im,  count};
    if (plan_.is_convolution) {
      convolve(f, count);
    } else {
      run_(f);
    }
    store(first, count, re, im);
  }

 private:
  // Offset of row `lane` in an array whose rows have this length.
  std::size_t base(std::size_t lane, std::size_t length) const {
    return lane / pass_.inner * length * pass_.inner + lane % pass_.inner;
  }

  void load(std::size_t first, std::size_t count, T* re, T* im) const {
    const auto* in = static_cast<const Stored*>(pass_.in);
    const std::size_t n = pass_.length, present = std::min(n, pass_.in_length);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::size_t from = base(first + lane, pass_.in_length);
      for (std::size_t i = 0; i < present; ++i) {
        const std::size_t place = from + i * pass_.inner;
        const bool is_real = pass_.in_values == FourierValues::real;
        re[i * count + lane] = static_cast<T>(in[is_real ? place : 2 * place]);
        im[i * count + lane] = is_real ? T(0) : static_cast<T>(in[2 * place + 1]);
      }
      if (pass_.in_values != FourierValues::half) continue;
      // For a real result, the first and the middle value have no imaginary part.
      im[lane] = 0;
      if (n % 2 == 0) im[n / 2 * count + lane] = 0;
      for (std::size_t i = n / 2 + 1; i < n; ++i) {
        re[i * count + lane] = re[(n - i) * count + lane];
        im[i * count + lane] = -im[(n - i) * count + lane];
      }
    }
  }

  void store(std::size_t first, std::size_t count, const T* re, const T* im) const {
    auto* out = static_cast<Stored*>(pass_.out);
    const auto scale = static_cast<T>(pass_.scale);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::size_t to = base(first + lane, pass_.out_length);
      for (std::size_t i = 0; i < pass_.out_length; ++i) {
        const std::size_t place = to + i * pass_.inner;
        if (pass_.out_values == FourierValues::real) {
          out[place] = static_cast<Stored>(re[i * count + lane] * scale);
        } else {
          out[2 * place] = static_cast<Stored>(re[i * count + lane] * scale);
          out[2 * place + 1] = static_cast<Stored>(im[i * count + lane] * scale);
        }
      }
    }
  }

  static void multiply(T& re, T& im, T by_re, T by_im) {
    const T product = re * by_re - im * by_im;
    im = re * by_im + im * by_re;
    re = product;
  }

  // The inner inverse transform is the transform of the conjugates.
  void convolve(const FourierLanes<T>& f, std::size_t count) const {
    const std::size_t n = plan_.length;
    for (std::size_t i = 0; i < n * count; ++i) multiply(f.re[i], f.im[i], chirp_re_[i / count], chirp_im_[i / count]);
    std::fill(f.re + n * count, f.re + plan_.inside * count, T(0));
    std::fill(f.im + n * count, f.im + plan_.inside * count, T(0));
    run_(f);
    for (std::size_t i = 0; i < plan_.inside * count; ++i) {
      multiply(f.re[i], f.im[i], filter_re_[i / count], filter_im_[i / count]);
      f.im[i] = -f.im[i];
    }
    run_(f);
    const T scale = T(1) / static_cast<T>(plan_.inside);
    for (std::size_t i = 0; i < n * count; ++i) {
      f.re[i] *= scale;
      f.im[i] *= -scale;
      multiply(f.re[i], f.im[i], chirp_re_[i / count], chirp_im_[i / count]);
    }
  }

  const FourierPass& pass_;
  const FourierPlan& plan_;
  void (*run_)(const FourierLanes<T>&);
  std::byte* workers_;
  const T *root_re_ = nullptr, *root_im_ = nullptr;
  T *chirp_re_ = nullptr, *chirp_im_ = nullptr, *filter_re_ = nullptr, *filter_im_ = nullptr;
};

template <typename Stored, typename T>
void transform_as(const FourierPass& pass, const FourierPlan& plan, std::byte* scratch, std::size_t workers,
                  base::ThreadPool& pool, const Kernels& set) {
  const Transformer<Stored, T> transformer(pass, plan, scratch, set);
  const std::size_t lanes = lanes_of(plan), rows = pass.outer * pass.inner, groups = (rows + lanes - 1) / lanes;
  split_rows_by_worker(groups, plan.inside * lanes * 8, pool, workers,
                       [&](std::size_t begin, std::size_t end, std::size_t worker) {
                         for (std::size_t group = begin; group < end; ++group)
                           transformer.lanes(group * lanes, std::min(lanes, rows - group * lanes), worker);
                       });
}

}  // namespace

FourierPlan fourier_plan(std::size_t length) {
  FourierPlan plan;
  plan.length = plan.inside = length;
  const auto factor = [&](std::size_t n) {
    plan.stages = 0;
    for (const std::size_t radix : {std::size_t{4}, std::size_t{2}}) {
      for (; n > 1 && n % radix == 0; n /= radix) plan.radices[plan.stages++] = radix;
    }
    for (std::size_t radix = 3; radix <= kLargestRadix; radix += 2) {
      for (; n > 1 && n % radix == 0; n /= radix) plan.radices[plan.stages++] = radix;
    }
    return n <= 1;
  };
  if (length == 0 || factor(length)) return plan;
  plan.is_convolution = true;
  plan.inside = 1;
  while (plan.inside < 2 * length - 1) plan.inside *= 2;
  factor(plan.inside);
  return plan;
}

std::size_t fourier_scratch_bytes(std::size_t length, std::size_t workers) {
  const FourierPlan plan = fourier_plan(length);
  return shared_bytes(plan) + workers * worker_bytes(plan);
}

void transform(const FourierPass& pass, std::byte* scratch, std::size_t workers, base::ThreadPool& pool,
               const Kernels& set) {
  if (pass.length == 0 || pass.outer * pass.inner == 0) return;
  const FourierPlan plan = fourier_plan(pass.length);
  if (pass.component == DType::f64) return transform_as<double, double>(pass, plan, scratch, workers, pool, set);
  // A convolution loses some bits, so it is computed in double.
  if (plan.is_convolution) return transform_as<float, double>(pass, plan, scratch, workers, pool, set);
  transform_as<float, float>(pass, plan, scratch, workers, pool, set);
}

}  // namespace alate::cpu
