// Fourier transforms and random bits.
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {

using graph::Dims;
using graph::FftKind;

Cases fft_cases(const Form& form) {
  Cases cases;
  for (const FftKind kind : {FftKind::fft, FftKind::ifft, FftKind::rfft, FftKind::irfft}) {
    for (const graph::Numbers& lengths :
         {graph::Numbers{8}, {1}, {2}, {3}, {7}, {12}, {30}, {64}, {97}, {256}, {1000}, {0}, {3, 5}, {4, 1, 6}}) {
      for (const Dims& leading : {Dims{}, Dims{3}, Dims{0}}) {
        Dims dims = leading;
        dims.insert(dims.end(), lengths.begin(), lengths.end());
        if (kind == FftKind::irfft) dims.back() = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
        cases.push_back({.op = form.op.op,
                         .operands = operands_of(form.dtype, {dims}, {"units"}),
                         .attributes = graph::Fft{kind, lengths}});
      }
    }
    if (form.is_for_speed()) {
      cases.push_back({.op = form.op.op,
                       .operands = operands_of(form.dtype, {{4096, 1024}}, {"units"}),
                       .attributes = graph::Fft{kind, {kind == FftKind::irfft ? 2046 : 1024}}});
    }
  }
  return cases;
}

Cases rng_bit_generator_cases(const Form& form) {
  Cases cases;
  for (const auto algorithm : {graph::RngAlgorithm::threefry, graph::RngAlgorithm::philox}) {
    for (const std::int64_t words : {2, 3}) {
      for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64}) {
        for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}, Dims{3}, Dims{5, 7}, Dims{1025}}) {
          for (const char* state : {"bits", "edges"}) {
            cases.push_back({.op = form.op.op,
                             .operands = operands_of(form.dtype, {{words}}, {state}),
                             .attributes = graph::RngBitGenerator{algorithm, dtype, dims}});
          }
        }
      }
      if (form.is_for_speed()) {
        cases.push_back({.op = form.op.op,
                         .operands = operands_of(form.dtype, {{words}}, {"bits"}),
                         .attributes = graph::RngBitGenerator{algorithm, DType::u32, {form.large}}});
      }
    }
  }
  return cases;
}

}  // namespace alate::conformance
