// Shape rules of Fourier transforms and random bits.
#include "graph/op.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

DType complex_of(DType real) { return real == DType::f32 ? DType::c64 : DType::c128; }
DType real_of(DType complex) { return complex == DType::c64 ? DType::f32 : DType::f64; }

}  // namespace

std::vector<Shape> infer_fft(const InferenceInput& input) {
  const auto& [kind, lengths] = input.as<Fft>();
  Shape result = input.operands[0];
  input.require(!lengths.empty() && lengths.size() <= result.rank(), "lengths must have 1 to rank entries");
  input.require((kind == FftKind::rfft) == is_float(result.dtype),
                kind == FftKind::rfft ? "rfft takes real numbers" : "takes complex numbers");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::size_t axis = result.rank() - lengths.size() + i;
    input.require(lengths[i] >= 0, "lengths must not be negative");
    const bool is_halved = i + 1 == lengths.size();
    const std::int64_t half = lengths[i] == 0 ? 0 : lengths[i] / 2 + 1;
    const std::int64_t expected = is_halved && kind == FftKind::irfft ? half : lengths[i];
    input.require(result.dims[axis] == Dim(expected), "axis " + std::to_string(axis) + " must be " +
                                                          std::to_string(expected) + " for lengths[" +
                                                          std::to_string(i) + "] = " + std::to_string(lengths[i]));
    if (is_halved) result.dims[axis] = kind == FftKind::rfft ? half : lengths[i];
  }
  if (kind == FftKind::rfft) result.dtype = complex_of(result.dtype);
  if (kind == FftKind::irfft) result.dtype = real_of(result.dtype);
  return {result};
}

std::vector<Shape> infer_rng_bit_generator(const InferenceInput& input) {
  const auto& [algorithm, dtype, dims] = input.as<RngBitGenerator>();
  const Shape& state = input.operands[0];
  const bool is_wide = algorithm == RngAlgorithm::philox && state == Shape{DType::u64, {3}};
  input.require(is_wide || state == Shape{DType::u64, {2}}, "the state must be u64[2], or u64[3] for philox");
  input.require(dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 || dtype == DType::u64,
                "dtype must be u8, u16, u32 or u64");
  for (const Dim dim : dims) input.require(dim.is_number(), "dims must be numbers");
  const Shape bits{dtype, dims};
  bits.byte_count();  // throws when it overflows
  return {state, bits};
}

}  // namespace alate::graph
