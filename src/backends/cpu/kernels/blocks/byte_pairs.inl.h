// Dots of unsigned and signed bytes where the instruction set only multiplies them to shorts, in pairs.
#pragma once

#include "backends/cpu/kernels/blocks/block_product.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

// `Pairs` gives sums of two products as shorts. Those of two words fit a short if the unsigned bytes are below 64; of
// whole bytes the halves are multiplied by themselves.
template <class Pairs>
struct PairsDot {
  static constexpr bool kTakesSigned = false;
  template <bool kIsWide>
  static HWY_INLINE LaneIntegers add_pair(LaneIntegers sum, ByteVector one, LaneIntegers a, ByteVector other,
                                          LaneIntegers b) {
    if constexpr (!kIsWide) {
      return LaneIntegers{
          Pairs::add_to(sum.raw, Pairs::add(Pairs::multiply(one.raw, a.raw), Pairs::multiply(other.raw, b.raw)), 1)};
    } else {
      const auto low = Pairs::add(Pairs::multiply(moved_bits<0, 0>(one, 15).raw, a.raw),
                                  Pairs::multiply(moved_bits<0, 0>(other, 15).raw, b.raw));
      const auto high = Pairs::add(Pairs::multiply(moved_bits<4, 0>(one, 15).raw, a.raw),
                                   Pairs::multiply(moved_bits<4, 0>(other, 15).raw, b.raw));
      return LaneIntegers{Pairs::add_to(Pairs::add_to(sum.raw, low, 1), high, 16)};
    }
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
