#include <algorithm>
#include <bit>
#include <numeric>

#include "graph/reference/call.h"
#include "graph/reference/computed.h"
#include "graph/reference/index.h"
#include "graph/reference/single_elements.h"
#include "graph/reference/strided.h"

namespace alate::graph {
namespace {

// Merge sort, which terminates and stays in bounds whatever `comes_before` returns: a region need not be an order.
template <typename ComesBefore>
void merge_sort(std::vector<std::int64_t>& places, ComesBefore comes_before) {
  std::vector<std::int64_t> merged(places.size());
  for (std::size_t run = 1; run < places.size(); run *= 2) {
    for (std::size_t begin = 0; begin < places.size(); begin += 2 * run) {
      const std::size_t middle = std::min(begin + run, places.size()), end = std::min(begin + 2 * run, places.size());
      std::size_t left = begin, right = middle;
      for (std::size_t i = begin; i < end; ++i) {
        const bool takes_right = left == middle || (right < end && comes_before(places[right], places[left]));
        merged[i] = places[takes_right ? right++ : left++];
      }
    }
    places.swap(merged);
  }
}

// Integers that compare as the values do in IEEE 754's total order.
std::uint64_t total_order(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
std::int64_t total_order(std::int64_t value) { return value; }
std::uint64_t total_order(std::uint64_t value) { return value; }

}  // namespace

// https://openxla.org/stablehlo/spec#sort; always stable.
std::vector<Tensor> reference_sort(const ReferenceCall& call) {
  const Graph& region = *call.regions[0];
  std::vector<Tensor> results;
  for (const Shape& shape : call.shapes) results.push_back(Tensor::zeros(shape));
  std::vector<std::int64_t> extents = extents_of(call.shape());
  const auto axis = static_cast<std::size_t>(call.as<Sort>().axis);
  const std::int64_t step = row_major(extents)[axis];
  const Strides strides = row_major(extents);
  const auto length = static_cast<std::size_t>(std::exchange(extents[axis], 1));
  if (length == 0) return results;
  for_each_index(extents, [&](const std::vector<std::int64_t>& index) {
    const std::int64_t first = std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
    std::vector<std::int64_t> places(length);
    for (std::size_t i = 0; i < length; ++i) places[i] = first + static_cast<std::int64_t>(i) * step;
    merge_sort(places, [&](std::int64_t a, std::int64_t b) {
      std::vector<Tensor> pairs;
      for (const Tensor& operand : call.operands) {
        pairs.push_back(element_of(operand, a));
        pairs.push_back(element_of(operand, b));
      }
      return interpret_region(region, call.dims, std::move(pairs), call.cancellation).front().bytes()[0] !=
             std::byte{0};
    });
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t k = 0; k < results.size(); ++k)
        copy_element(results[k], first + static_cast<std::int64_t>(i) * step, call.operand(k), places[i]);
    }
  });
  return results;
}

// As jax.lax.top_k.
std::vector<Tensor> reference_top_k(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const std::int64_t k = call.as<TopK>().k, length = x.extent(x.rank() - 1);
  call.require(k <= length, "k is larger than the last axis");
  Tensor values = Tensor::zeros(call.shapes[0]);
  std::vector<std::uint64_t> chosen;
  const auto choose = [&](const auto& elements) {
    if (length == 0) return;
    std::vector<std::int64_t> places(static_cast<std::size_t>(length));
    for (std::int64_t first = 0; first < x.element_count(); first += length) {
      std::iota(places.begin(), places.end(), first);
      std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
        return total_order(elements[static_cast<std::size_t>(a)]) > total_order(elements[static_cast<std::size_t>(b)]);
      });
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t place = places[static_cast<std::size_t>(i)];
        copy_element(values, static_cast<std::int64_t>(chosen.size()), x, place);
        chosen.push_back(static_cast<std::uint64_t>(place - first));
      }
    }
  };
  if (is_float(x.dtype())) {
    choose(load_floats(x));
  } else if (is_signed_integer(x.dtype())) {
    choose(load_numbers<std::int64_t>(x));
  } else {
    choose(load_words(x));
  }
  return {values, store_words(call.shapes[1], chosen)};
}

}  // namespace alate::graph
