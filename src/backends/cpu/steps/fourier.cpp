// Discrete Fourier transforms, one axis at a time.
#include "backends/cpu/kernels/windows/fourier.h"

#include <algorithm>

#include "backends/cpu/steps/products/product_values.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

using graph::FftKind;

// Each worker has its own scratch; with more workers, long transforms would take too much memory.
constexpr std::size_t kMostWorkers = 16;

std::size_t workers_of(const graph::Fft& fft) {
  const auto longest = static_cast<std::size_t>(std::ranges::max(fft.lengths));
  const std::size_t most = longest > 1U << 20 ? 2 : kMostWorkers;
  return std::min(most, base::ThreadPool::shared().size());
}

bool is_inverse(const graph::Fft& fft) { return fft.kind == FftKind::ifft || fft.kind == FftKind::irfft; }
// Whether an irfft needs a buffer for its other axes' transforms, because its result is smaller.
bool keeps_values(const graph::Fft& fft) { return fft.kind == FftKind::irfft && fft.lengths.size() > 1; }

struct Problem {
  ScratchParts scratch;
  std::byte *work, *values = nullptr;
  Problem(const graph::Fft& fft, const Shape& x, std::byte* memory) : scratch(memory) {
    std::size_t bytes = 0;
    for (const std::int64_t length : fft.lengths)
      bytes = std::max(bytes, fourier_scratch_bytes(static_cast<std::size_t>(length), workers_of(fft)));
    work = scratch.take(bytes);
    if (keeps_values(fft)) values = scratch.take(x.byte_count());
  }
};

// The pass along one axis of complex values of this shape.
FourierPass pass_over(const Shape& shape, std::size_t axis) {
  FourierPass pass;
  for (std::size_t i = 0; i < axis; ++i) pass.outer *= extent_of(shape, i);
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) pass.inner *= extent_of(shape, i);
  pass.length = pass.in_length = pass.out_length = extent_of(shape, axis);
  return pass;
}

}  // namespace

std::size_t fft_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return Problem(std::get<graph::Fft>(step.attributes), binding.shapes[step.inputs[0]], nullptr).scratch.bytes();
}

void run_fft(const Step& step, const Frame& frame) {
  const auto& fft = std::get<graph::Fft>(step.attributes);
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  const Problem problem(fft, x, frame.scratch);
  const std::size_t last = x.rank() - 1, first = x.rank() - fft.lengths.size();
  const bool is_wide = x.dtype == DType::f64 || x.dtype == DType::c128;
  const std::size_t workers = frame.max_workers == 0 ? workers_of(fft) : std::min(workers_of(fft), frame.max_workers);
  double scale = 1;
  for (const std::int64_t length : fft.lengths) scale /= static_cast<double>(is_inverse(fft) ? length : 1);
  const auto run = [&](FourierPass pass, const void* in, void* out, bool is_final) {
    pass.component = is_wide ? DType::f64 : DType::f32;
    pass.is_inverse = is_inverse(fft);
    pass.in = in;
    pass.out = out;
    if (is_final) pass.scale = scale;
    transform(pass, problem.work, workers, frame.pool);
  };

  const void* in = frame.in<std::byte>(step.inputs[0]);
  void* const out = frame.out<std::byte>(step.output());
  const auto length = static_cast<std::size_t>(fft.lengths.back());
  if (fft.kind == FftKind::irfft) {
    for (std::size_t axis = first; axis < last; ++axis) {
      run(pass_over(x, axis), in, problem.values, false);
      in = problem.values;
    }
    FourierPass pass = pass_over(x, last);
    pass.length = pass.out_length = length;
    pass.in_values = FourierValues::half;
    pass.out_values = FourierValues::real;
    return run(pass, in, out, true);
  }
  FourierPass pass = pass_over(x, last);
  pass.out_length = extent_of(result, last);
  if (fft.kind == FftKind::rfft) pass.in_values = FourierValues::real;
  run(pass, in, out, first == last);
  for (std::size_t axis = first; axis < last; ++axis) run(pass_over(result, axis), out, out, axis + 1 == last);
}

}  // namespace alate::cpu
