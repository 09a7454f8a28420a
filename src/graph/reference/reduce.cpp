#include <algorithm>
#include <limits>

#include "graph/reference/call.h"
#include "graph/reference/extremes.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"
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

// Each of `count` equal rows of `elements` folded from `start` on.
template <typename Result, typename Element, typename Combine>
std::vector<Result> fold(std::size_t count, const std::vector<Element>& elements, Result start, Combine combine) {
  std::vector<Result> results(count, start);
  const std::size_t length = count == 0 ? 0 : elements.size() / count;
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t i = 0; i < length; ++i)
      results[row] = combine(results[row], static_cast<Result>(elements[row * length + i]));
  }
  return results;
}

// The limit of an integer dtype as a word.
std::uint64_t lowest_word(DType dtype) {
  return is_signed_integer(dtype) ? ~std::uint64_t{0} << (bits_of(dtype) - 1) : 0;
}
std::uint64_t highest_word(DType dtype) {
  return ~std::uint64_t{0} >> (64 - bits_of(dtype) + (is_signed_integer(dtype) ? 1 : 0));
}

template <typename Combine>
Tensor extreme(const ReferenceCall& call, double start, std::uint64_t start_word, Combine combine) {
  const Tensor x = reduced_last(call);
  const auto count = static_cast<std::size_t>(call.shape().element_count());
  if (is_float(x.dtype())) return store_floats(call.shape(), fold(count, load_floats(x), start, combine));
  const std::vector<std::uint64_t> words = load_words(x);
  if (!is_signed_integer(x.dtype())) return store_words(call.shape(), fold(count, words, start_word, combine));
  const std::vector<std::int64_t> results = fold(count, words, static_cast<std::int64_t>(start_word), combine);
  return store_words(call.shape(), std::vector<std::uint64_t>(results.begin(), results.end()));
}

}  // namespace

Tensor reference_reduce_sum(const ReferenceCall& call) {
  const Tensor x = reduced_last(call);
  const auto count = static_cast<std::size_t>(call.shape().element_count());
  const auto sum = [](auto a, auto b) { return a + b; };
  if (is_float(x.dtype())) return store_floats(call.shape(), fold(count, load_floats(x), 0.0, sum));
  if (is_complex(x.dtype())) return store_complex(call.shape(), fold(count, load_complex(x), Complex(0), sum));
  return store_words(call.shape(), fold(count, load_words(x), std::uint64_t{0}, sum));
}

Tensor reference_reduce_max(const ReferenceCall& call) {
  return extreme(call, -std::numeric_limits<double>::infinity(), lowest_word(call.shape().dtype),
                 [](auto a, auto b) { return larger(a, b); });
}

Tensor reference_reduce_min(const ReferenceCall& call) {
  return extreme(call, std::numeric_limits<double>::infinity(), highest_word(call.shape().dtype),
                 [](auto a, auto b) { return smaller(a, b); });
}

}  // namespace alate::graph
