// Gradients of Fourier transforms. fft and ifft are symmetric matrices: their own transposes.
#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

// The cotangent of the half that rfft keeps, with zeros for the other half.
void rfft(Backward& call) {
  Builder& b = call.b;
  const Fft fft = call.as<Fft>();
  const Shape y = call.y_shape();
  Pad pad{.low = Numbers(y.rank(), 0), .high = Numbers(y.rank(), 0), .interior = {}};
  pad.high.back() = fft.lengths.back() - y.dims.back().number();
  const Value whole = b.pad({call.g(), b.scalar(y.dtype, 0)}, std::move(pad));
  call.give(0, b.real({b.fft({whole}, {.kind = FftKind::fft, .lengths = fft.lengths})}));
}

// All values of the half but the first and (for an even length) the last stand for two of the full spectrum.
void irfft(Backward& call) {
  Builder& b = call.b;
  const Fft fft = call.as<Fft>();
  const Shape x = call.x_shape();
  if (is_empty(x)) return;
  const Value spectrum = b.conj({b.fft({call.g()}, {.kind = FftKind::rfft, .lengths = fft.lengths})});
  double count = 1;
  for (const std::int64_t length : fft.lengths) count *= static_cast<double>(length);
  const std::int64_t last = fft.lengths.back();
  const Value places = indices_along(b, x.dims, x.rank() - 1);
  const auto is_at = [&](std::int64_t place) {
    return b.equal({places, broadcast_to(b, b.scalar(DType::i64, static_cast<double>(place)), x.dims)});
  };
  const Value is_single = last % 2 == 0 ? b.logical_or({is_at(0), is_at(last / 2)}) : is_at(0);
  const Value once = scalar_like(b, 1 / count, spectrum), twice = scalar_like(b, 2 / count, spectrum);
  call.give(0, b.mul({spectrum, b.select({is_single, once, twice})}));
}

void fft(Backward& call) {
  switch (call.as<Fft>().kind) {
    case FftKind::fft:
    case FftKind::ifft: call.give(0, call.b.fft({call.g()}, call.as<Fft>())); break;
    case FftKind::rfft: rfft(call); break;
    case FftKind::irfft: irfft(call); break;
  }
}

constexpr GradientRule kFftRules[] = {{Op::fft, fft}};

}  // namespace

std::span<const GradientRule> fft_gradients() { return kFftRules; }

}  // namespace alate::graph
