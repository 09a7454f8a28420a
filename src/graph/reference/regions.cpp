#include <algorithm>
#include <numeric>

#include "graph/reference/call.h"
#include "graph/reference/index.h"
#include "graph/reference/single_elements.h"
#include "graph/reference/strided.h"

namespace alate::graph {
namespace {

bool is_true(const Tensor& scalar) { return scalar.bytes()[0] != std::byte{0}; }

}  // namespace

std::vector<Tensor> reference_while_loop(const ReferenceCall& call) {
  std::vector<Tensor> values(call.operands.begin(), call.operands.end());
  while (is_true(interpret_region(*call.regions[0], call.dims, values, call.cancellation).front()))
    values = interpret_region(*call.regions[1], call.dims, std::move(values), call.cancellation);
  return values;
}

std::vector<Tensor> reference_if_else(const ReferenceCall& call) {
  const Graph& chosen = *call.regions[is_true(call.operand(0)) ? 0 : 1];
  return interpret_region(chosen, call.dims, {call.operands.begin() + 1, call.operands.end()}, call.cancellation);
}

std::vector<Tensor> reference_call(const ReferenceCall& call) {
  return interpret_region(*call.regions[0], call.dims, {call.operands.begin(), call.operands.end()}, call.cancellation);
}

// https://openxla.org/stablehlo/spec#reduce, which leaves the order unspecified: here each result is folded from its
// initial value over the operand's elements in row-major order.
std::vector<Tensor> reference_reduce(const ReferenceCall& call) {
  const std::size_t count = call.operands.size() / 2;
  const Numbers& axes = call.as<Axes>().axes;
  // The operand's extents twice: with reduced axes as 1, and with kept axes as 1.
  std::vector<std::int64_t> kept = extents_of(call.operand(0).shape()), reduced = kept;
  const Strides strides = row_major(kept);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    (is_reduced ? kept : reduced)[i] = 1;
  }
  const auto place_of = [&](const std::vector<std::int64_t>& index) {
    return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
  };
  std::vector<Tensor> results;
  for (const Shape& shape : call.shapes) results.push_back(Tensor::zeros(shape));
  std::int64_t next = 0;
  for_each_index(kept, [&](const std::vector<std::int64_t>& outer) {
    std::vector<Tensor> so_far(call.operands.begin() + static_cast<std::ptrdiff_t>(count), call.operands.end());
    for_each_index(reduced, [&](const std::vector<std::int64_t>& inner) {
      for (std::size_t i = 0; i < count; ++i)
        so_far.push_back(element_of(call.operand(i), place_of(outer) + place_of(inner)));
      so_far = interpret_region(*call.regions[0], call.dims, std::move(so_far), call.cancellation);
    });
    for (std::size_t i = 0; i < count; ++i) copy_element(results[i], next, so_far[i], 0);
    ++next;
  });
  return results;
}

}  // namespace alate::graph
