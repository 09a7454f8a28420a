#include <cmath>

#include "graph/reference/call.h"
#include "graph/reference/computed.h"
#include "graph/reference/extremes.h"
#include "graph/reference/strided.h"

namespace alate::graph {
namespace {

// The elements along one axis: offset of the first, and step between neighbors.
struct Line {
  std::size_t first, step, length;
};

// Calls `function` with each line of a dense tensor along an axis, and its row-major index.
template <typename Function>
void for_each_line(const Shape& shape, std::int64_t axis, Function function) {
  const std::vector<std::int64_t> extents = extents_of(shape);
  const auto at = static_cast<std::size_t>(axis);
  const auto outer = static_cast<std::size_t>(product(std::span(extents).first(at))),
             inner = static_cast<std::size_t>(product(std::span(extents).subspan(at + 1))),
             length = static_cast<std::size_t>(extents[at]);
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < inner; ++i) function(Line{o * length * inner + i, inner, length}, o * inner + i);
  }
}

template <typename Element, typename Combine>
std::vector<Element> accumulated(const ReferenceCall& call, const std::vector<Element>& elements, Element start,
                                 Combine combine) {
  const Cumulative& attributes = call.as<Cumulative>();
  std::vector<Element> results(elements.size());
  for_each_line(call.shape(), attributes.axis, [&](const Line& line, std::size_t) {
    Element so_far = start;
    for (std::size_t i = 0; i < line.length; ++i) {
      const std::size_t place = line.first + (attributes.reverse ? line.length - 1 - i : i) * line.step;
      const Element before = so_far;
      so_far = combine(so_far, elements[place]);
      results[place] = attributes.exclusive ? before : so_far;
    }
  });
  return results;
}

template <typename Number>
bool is_nan(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

}  // namespace

Tensor reference_cumulative_sum(const ReferenceCall& call) {
  return computed_in_ring(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& x) {
        return accumulated(call, x, Element(0), [](Element a, Element b) { return a + b; });
      },
      call.operand(0));
}

Tensor reference_cumulative_product(const ReferenceCall& call) {
  return computed_in_ring(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& x) {
        return accumulated(call, x, Element(1), wrapped_product<Element>);
      },
      call.operand(0));
}

Tensor reference_cumulative_max(const ReferenceCall& call) {
  return computed_in_order(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& x) {
        return accumulated(call, x, lowest_of<Element>(call.shape().dtype), larger<Element>);
      },
      call.operand(0));
}

Tensor reference_cumulative_min(const ReferenceCall& call) {
  return computed_in_order(
      call.shape(),
      [&]<typename Element>(const std::vector<Element>& x) {
        return accumulated(call, x, highest_of<Element>(call.shape().dtype), smaller<Element>);
      },
      call.operand(0));
}

// As jax.lax.argmax and argmin: a NaN is more extreme than any number, and the first of equal values wins (-0 and 0 are
// equal).
Tensor reference_arg_min_max(const ReferenceCall& call) {
  const ArgMinMax& attributes = call.as<ArgMinMax>();
  const Tensor& x = call.operand(0);
  std::vector<std::uint64_t> places(static_cast<std::size_t>(call.shape().element_count()), 0);
  const auto find = [&]<typename Element>(const std::vector<Element>& elements) {
    for_each_line(x.shape(), attributes.axis, [&](const Line& line, std::size_t number) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < line.length; ++i) {
        const Element value = elements[line.first + i * line.step], champion = elements[line.first + best * line.step];
        const bool is_more_extreme = attributes.is_min ? value < champion : champion < value;
        if (!is_nan(champion) && (is_nan(value) || is_more_extreme)) best = i;
      }
      places[number] = best;
    });
    return places;
  };
  // A named extent is known only now.
  const std::size_t bits = bits_of(attributes.dtype) - (is_signed_integer(attributes.dtype) ? 1 : 0);
  const std::int64_t last = x.extent(static_cast<std::size_t>(attributes.axis)) - 1;
  call.require(last <= 0 || bits >= 63 || last >> bits == 0, "the last place does not fit into the dtype of places");
  if (is_float(x.dtype())) return store_words(call.shape(), find(load_floats(x)));
  if (is_signed_integer(x.dtype())) return store_words(call.shape(), find(load_numbers<std::int64_t>(x)));
  return store_words(call.shape(), find(load_words(x)));
}

}  // namespace alate::graph
