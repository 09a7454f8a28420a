// Fourier transforms and random bits.
#include <algorithm>

#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"

namespace alate::exchange {
namespace {

using graph::FftKind;

std::string_view kind_name(FftKind kind) {
  switch (kind) {
    case FftKind::fft: return "FFT";
    case FftKind::ifft: return "IFFT";
    case FftKind::rfft: return "RFFT";
    case FftKind::irfft: return "IRFFT";
  }
  return {};
}

HloValue transform(HloWriter& w, FftKind kind, const HloValue& x, const Numbers& lengths, const Shape& shape) {
  return w.op(
      "fft", {x}, shape,
      "fft_type = #stablehlo<fft_type " + std::string(kind_name(kind)) + ">, fft_length = " + array_attribute(lengths));
}

// Transforms complex values along any axis; StableHLO transforms only last axes.
HloValue transform_axis(HloWriter& w, FftKind kind, const HloValue& x, std::size_t axis) {
  Numbers swapped = counted(x.shape.rank());
  std::swap(swapped[axis], swapped.back());
  const HloValue turned = axis + 1 == x.shape.rank() ? x : transpose(w, x, swapped);
  const HloValue result = transform(w, kind, turned, {turned.shape.dims.back().number()}, turned.shape);
  return axis + 1 == x.shape.rank() ? result : transpose(w, result, swapped);
}

}  // namespace

// StableHLO transforms up to three axes. irfft transforms the last axis separately: only then is the treatment of
// imaginary parts that no real transform has clear.
HloValues write_fft(HloWriter& w, const HloCall& call) {
  const auto& [kind, lengths] = call.as<graph::Fft>();
  constexpr std::size_t kMost = 3;
  if (lengths.size() == 1 || (lengths.size() <= kMost && kind != FftKind::irfft))
    return {transform(w, kind, call.operand(0), lengths, call.shape())};
  const std::size_t rank = call.shape().rank(), first = rank - lengths.size();
  const Numbers last = {lengths.back()};
  HloValue x = call.operand(0);
  if (kind == FftKind::rfft) x = transform(w, kind, x, last, call.shape());
  if (kind == FftKind::fft || kind == FftKind::ifft) x = transform_axis(w, kind, x, rank - 1);
  const FftKind inner = kind == FftKind::fft || kind == FftKind::rfft ? FftKind::fft : FftKind::ifft;
  for (std::size_t axis = first; axis + 1 < rank; ++axis) x = transform_axis(w, inner, x, axis);
  if (kind == FftKind::irfft) x = transform(w, kind, x, last, call.shape());
  return {x};
}

// The state and the bits match XLA's.
HloValues write_rng_bit_generator(HloWriter& w, const HloCall& call) {
  const bool is_threefry = call.as<graph::RngBitGenerator>().algorithm == graph::RngAlgorithm::threefry;
  return w.ops("rng_bit_generator", call.operands, call.shapes,
               std::string("rng_algorithm = #stablehlo<rng_algorithm ") + (is_threefry ? "THREE_FRY>" : "PHILOX>"));
}

}  // namespace alate::exchange
