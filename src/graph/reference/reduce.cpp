#include <algorithm>
#include <numeric>

#include "graph/reference/call.h"
#include "graph/reference/computed.h"
#include "graph/reference/extremes.h"
#include "graph/reference/index.h"
#include "graph/reference/strided.h"

namespace alate::graph {
namespace {

// Folds the operand's elements, in row-major order, into results that begin as `start`.
template <typename Element, typename Combine>
std::vector<Element> fold(const ReferenceCall& call, const std::vector<Element>& elements, Element start,
                          Combine combine) {
  const std::vector<std::int64_t> extents = extents_of(call.operand(0).shape());
  const Numbers& axes = call.as<Axes>().axes;
  const Strides result_strides = row_major(extents_of(call.shape()));
  Strides to_strides(extents.size(), 0);  // a reduced axis has stride 0
  for (std::size_t axis = 0, next = 0; axis < extents.size(); ++axis) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) == axes.end())
      to_strides[axis] = result_strides[next++];
  }
  std::vector<Element> results(static_cast<std::size_t>(call.shape().element_count()), start);
  std::size_t next = 0;
  for_each_index(extents, [&](const std::vector<std::int64_t>& index) {
    const auto to = std::inner_product(index.begin(), index.end(), to_strides.begin(), std::int64_t{0});
    Element& result = results[static_cast<std::size_t>(to)];
    result = combine(result, elements[next++]);
  });
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
      call.operand(0));
}

// Folds the words of integers or bools.
template <typename Combine>
Tensor fold_words(const ReferenceCall& call, std::uint64_t start, Combine combine) {
  return store_words(call.shape(), fold(call, load_words(call.operand(0)), start, combine));
}

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

}  // namespace

Tensor reference_reduce_sum(const ReferenceCall& call) {
  return fold_in_ring(call, 0, [](auto a, auto b) { return a + b; });
}

Tensor reference_reduce_product(const ReferenceCall& call) {
  return fold_in_ring(call, 1, []<typename Element>(Element a, Element b) { return wrapped_product(a, b); });
}

Tensor reference_reduce_max(const ReferenceCall& call) {
  return computed_in_order(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& elements) {
        return fold(call, elements, lowest_of<Element>(call.shape().dtype), larger<Element>);
      },
      call.operand(0));
}

Tensor reference_reduce_min(const ReferenceCall& call) {
  return computed_in_order(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& elements) {
        return fold(call, elements, highest_of<Element>(call.shape().dtype), smaller<Element>);
      },
      call.operand(0));
}

// Bools are words of 0 and 1, for which bitwise operations are the logical ones.
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
