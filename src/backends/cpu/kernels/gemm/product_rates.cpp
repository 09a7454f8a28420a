#include "backends/cpu/kernels/gemm/product_rates.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "alate/tensor.h"
#include "backends/cpu/kernels/gemm/gemm.h"

namespace alate::cpu {
namespace {

constexpr std::size_t kTrialRows = 56, kTrialColumns = 128,
                      kTrialDepth = 384;  // in values; the operands fit the L2 cache
constexpr std::size_t kTrialTimes = 12;
// Groups per row of integers, as in models that are quantized on load.
constexpr std::size_t kTrialRuns = 4;

// A product to time one kernel with. The operands' values do not affect the time: any small numbers do.
class Trial {
 public:
  explicit Trial(const GemmKernel& kernel)
      : kernel_(kernel),
        k_(kTrialDepth / values_per_word(kernel.kind)),
        a_(words(kTrialRows * k_)),
        packed_(words(packed_word_count(kTrialColumns, k_, kernel))),
        c_(words(kTrialRows * kTrialColumns)),
        ones_(kTrialRuns * std::max(kTrialRows, kTrialColumns), 1.0F) {}

  double seconds() {
    using Clock = std::chrono::steady_clock;
    GemmArguments arguments;
    arguments.a = a_.bytes().data();
    arguments.a_stride = arguments.k = k_;
    arguments.packed = packed_.bytes().data();
    arguments.c = c_.mutable_values<float>().data();
    arguments.m = kTrialRows;
    arguments.n = arguments.c_stride = kTrialColumns;
    if (kernel_.kind == WordKind::bytes || kernel_.kind == WordKind::shorts)
      arguments.scales = {ones_.data(), ones_.data(), ones_.data(), ones_.data(), kTrialRuns, true};
    const Clock::time_point start = Clock::now();
    gemm(arguments, base::ThreadPool::shared(), 1, kernel_);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  static Tensor words(std::size_t count) {
    Tensor tensor = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(count)}});
    // 0x3c3c3c3c is a valid float, two bf16 or four bytes.
    std::memset(tensor.mutable_bytes().data(), 0x3c, tensor.byte_count());
    return tensor;
  }

  const GemmKernel& kernel_;
  std::size_t k_;
  Tensor a_, packed_, c_;
  std::vector<float> ones_;
};

}  // namespace

backends::ProductRates measure_product_rates(const Kernels& set) {
  const GemmKernels& kernels = gemm_kernels(set);
  Trial f32(kernels.f32), bf16(kernels.bf16), integers(kernels.integers);
  double least_f32 = 1e9, least_bf16 = 1e9, least_integers = 1e9;
  // Interleaved, so that all run at the same CPU clock.
  for (std::size_t i = 0; i < kTrialTimes; ++i) {
    least_f32 = std::min(least_f32, f32.seconds());
    least_bf16 = std::min(least_bf16, bf16.seconds());
    least_integers = std::min(least_integers, integers.seconds());
  }
  constexpr double kProducts = kTrialRows * kTrialColumns * kTrialDepth;
  return {.f32 = kProducts / least_f32, .bf16 = kProducts / least_bf16, .integers = kProducts / least_integers};
}

const backends::ProductRates& product_rates() {
  static const backends::ProductRates rates = measure_product_rates(kernels());
  return rates;
}

}  // namespace alate::cpu
