// Bitwise ops. Words hold signed elements sign-extended to 64 bits; where that matters, they are first masked to the
// dtype's bits.
#include <bit>
#include <functional>

#include "graph/reference/elementwise/elementwise.h"

namespace alate::graph {
namespace {

using Word = std::uint64_t;

Word width_of(const ReferenceCall& call) { return bits_of(call.operand(0).dtype()); }
Word own_bits(Word word, Word width) { return word & (~Word{0} >> (64 - width)); }

template <typename Function>
Tensor map_words(const ReferenceCall& call, Function function) {
  return map_as<Word>(call.shape(), function, call.operand(0));
}

// Applies `shift` to the value's own bits; amounts that are negative or at least the width count as the width.
template <typename Shift>
Tensor shifted(const ReferenceCall& call, Shift shift) {
  const Word width = width_of(call);
  return map_as<Word>(
      call.shape(),
      [&](Word x, Word amount) { return shift(own_bits(x, width), own_bits(amount, width) < width ? amount : width); },
      call.operand(0), call.operand(1));
}

template <typename Operation>
Tensor zip_words(const ReferenceCall& call, Operation operation) {
  return map_as<Word>(call.shape(), operation, call.operand(0), call.operand(1));
}

}  // namespace

Tensor reference_bitwise_not(const ReferenceCall& call) { return map_words(call, std::bit_not<Word>()); }
Tensor reference_bitwise_and(const ReferenceCall& call) { return zip_words(call, std::bit_and<Word>()); }
Tensor reference_bitwise_or(const ReferenceCall& call) { return zip_words(call, std::bit_or<Word>()); }
Tensor reference_bitwise_xor(const ReferenceCall& call) { return zip_words(call, std::bit_xor<Word>()); }

Tensor reference_popcnt(const ReferenceCall& call) {
  const Word width = width_of(call);
  return map_words(call, [&](Word x) { return static_cast<Word>(std::popcount(own_bits(x, width))); });
}

Tensor reference_count_leading_zeros(const ReferenceCall& call) {
  const Word width = width_of(call);
  return map_words(call,
                   [&](Word x) { return static_cast<Word>(std::countl_zero(own_bits(x, width))) - (64 - width); });
}

Tensor reference_shift_left(const ReferenceCall& call) {
  const Word width = width_of(call);
  return shifted(call, [&](Word x, Word amount) { return amount < width ? x << amount : 0; });
}

Tensor reference_shift_right_logical(const ReferenceCall& call) {
  const Word width = width_of(call);
  return shifted(call, [&](Word x, Word amount) { return amount < width ? x >> amount : 0; });
}

Tensor reference_shift_right_arithmetic(const ReferenceCall& call) {
  const Word width = width_of(call);
  return shifted(call, [&](Word x, Word amount) {
    const Word ones = own_bits(~Word{0}, width), below = amount < width ? ones >> amount : 0;
    const bool is_filled = (x >> (width - 1)) != 0;  // fills with copies of the highest bit
    return (amount < width ? x >> amount : 0) | (is_filled ? ones & ~below : 0);
  });
}

}  // namespace alate::graph
