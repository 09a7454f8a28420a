// Total order of floats: IEEE 754-2019, section 5.10.
#include <cstring>
#include <functional>

#include "graph/reference/elementwise/elementwise.h"

namespace alate::graph {
namespace {

// Maps bit patterns to integers in total order: magnitudes count up from the sign bit, or down from below it if the
// sign is set.
std::vector<std::uint64_t> ranks(const Tensor& x) {
  const std::size_t bits = bits_of(x.dtype());
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1), all = sign | (sign - 1);
  std::vector<std::uint64_t> ranks(static_cast<std::size_t>(x.element_count()));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::uint64_t pattern = 0;
    std::memcpy(&pattern, x.bytes().data() + i * bits / 8, bits / 8);
    ranks[i] = (pattern & sign) != 0 ? ~pattern & all : pattern | sign;
  }
  return ranks;
}

template <typename Relation>
Tensor compare(const ReferenceCall& call, Relation relation) {
  std::vector<std::uint64_t> x = ranks(call.operand(0));
  const std::vector<std::uint64_t> y = ranks(call.operand(1));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = relation(x[i], y[i]) ? 1 : 0;
  return store_words(call.shape(), x);
}

}  // namespace

Tensor reference_equal_total_order(const ReferenceCall& call) { return compare(call, std::equal_to<>()); }
Tensor reference_not_equal_total_order(const ReferenceCall& call) { return compare(call, std::not_equal_to<>()); }
Tensor reference_less_total_order(const ReferenceCall& call) { return compare(call, std::less<>()); }
Tensor reference_less_or_equal_total_order(const ReferenceCall& call) { return compare(call, std::less_equal<>()); }
Tensor reference_greater_total_order(const ReferenceCall& call) { return compare(call, std::greater<>()); }
Tensor reference_greater_or_equal_total_order(const ReferenceCall& call) {
  return compare(call, std::greater_equal<>());
}

}  // namespace alate::graph
