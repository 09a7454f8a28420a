#include <algorithm>

#include "graph/reference/call.h"
#include "graph/reference/computed.h"
#include "graph/reference/extremes.h"
#include "graph/reference/strided.h"
#include "tensor/packed.h"

namespace alate::graph {
namespace {

// The operand with the reduced axes last.
Tensor reduced_last(const ReferenceCall& call) {
  const Tensor x = tensor::unpacked(call.operand(0));
  const Numbers& axes = call.as<Axes>().axes;
  Numbers order;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(x.rank()); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  return transposed(x, order);
}

// Each of as many equal rows of `elements` as the result has elements, folded from `start` on.
template <typename Element, typename Combine>
std::vector<Element> fold(const ReferenceCall& call, const std::vector<Element>& elements, Element start,
                          Combine combine) {
  std::vector<Element> results(static_cast<std::size_t>(call.shape().element_count()), start);
  const std::size_t length = results.empty() ? 0 : elements.size() / results.size();
  for (std::size_t row = 0; row < results.size(); ++row) {
    for (std::size_t i = 0; i < length; ++i) results[row] = combine(results[row], elements[row * length + i]);
  }
  return results;
}

// Folds complex numbers, doubles or words that wrap.
template <typename Combine>
Tensor fold_in_ring(const ReferenceCall& call, double start, Combine combine) {
  return computed_in_ring(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& elements) {
        return fold(call, elements, static_cast<Element>(start), combine);
      },
      reduced_last(call));
}

// Folds the words of integers or bools.
template <typename Combine>
Tensor fold_words(const ReferenceCall& call, std::uint64_t start, Combine combine) {
  return store_words(call.shape(), fold(call, load_words(reduced_last(call)), start, combine));
}

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

}  // namespace

Tensor reference_reduce_sum(const ReferenceCall& call) {
  return fold_in_ring(call, 0, [](auto a, auto b) { return a + b; });
}

Tensor reference_reduce_product(const ReferenceCall& call) {
  return fold_in_ring(call, 1, [](auto a, auto b) { return a * b; });
}

Tensor reference_reduce_max(const ReferenceCall& call) {
  return computed_in_order(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& elements) {
        return fold(call, elements, lowest_of<Element>(call.shape().dtype), larger<Element>);
      },
      reduced_last(call));
}

Tensor reference_reduce_min(const ReferenceCall& call) {
  return computed_in_order(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& elements) {
        return fold(call, elements, highest_of<Element>(call.shape().dtype), smaller<Element>);
      },
      reduced_last(call));
}

// Bools are words of 0 and 1, for which the operations on bits are the logical ones.
Tensor reference_reduce_and(const ReferenceCall& call) {
  return fold_words(call, 1, [](auto a, auto b) { return a & b; });
}
Tensor reference_reduce_or(const ReferenceCall& call) {
  return fold_words(call, 0, [](auto a, auto b) { return a | b; });
}
Tensor reference_reduce_xor(const ReferenceCall& call) {
  return fold_words(call, 0, [](auto a, auto b) { return a ^ b; });
}
Tensor reference_reduce_bitwise_and(const ReferenceCall& call) {
  return fold_words(call, kAllOnes, [](auto a, auto b) { return a & b; });
}
Tensor reference_reduce_bitwise_or(const ReferenceCall& call) { return reference_reduce_or(call); }
Tensor reference_reduce_bitwise_xor(const ReferenceCall& call) { return reference_reduce_xor(call); }

}  // namespace alate::graph
