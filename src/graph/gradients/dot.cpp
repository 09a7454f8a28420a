// dot_general: each operand's gradient is the cotangent contracted with the other operand over the other's free axes.
#include <algorithm>

#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

Numbers free_axes(std::size_t rank, const Numbers& batch, const Numbers& contracting) {
  Numbers axes;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    const auto names = [&](const Numbers& some) { return std::find(some.begin(), some.end(), axis) != some.end(); };
    if (!names(batch) && !names(contracting)) axes.push_back(axis);
  }
  return axes;
}

Numbers counting_from(std::size_t first, std::size_t count) {
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<std::int64_t>(first + i));
  return numbers;
}

void dot_general(Backward& call) {
  Builder& b = call.b;
  const DotGeneral dot = call.as<DotGeneral>();
  for (const std::size_t place : {std::size_t{0}, std::size_t{1}}) {
    if (!call.wants(place)) continue;
    const bool is_left = place == 0;
    const Numbers &batch = is_left ? dot.lhs_batch : dot.rhs_batch,
                  &contracting = is_left ? dot.lhs_contracting : dot.rhs_contracting,
                  &other_batch = is_left ? dot.rhs_batch : dot.lhs_batch,
                  &other_contracting = is_left ? dot.rhs_contracting : dot.lhs_contracting;
    const Numbers own = free_axes(call.x_shape(place).rank(), batch, contracting),
                  others = free_axes(call.x_shape(1 - place).rank(), other_batch, other_contracting);
    // The result's axes: batch, then lhs's free axes, then rhs's.
    const std::size_t first_other = batch.size() + (is_left ? own.size() : 0);
    const Value product =
        b.dot_general({call.g(), call.x(1 - place)}, {.lhs_batch = counting_from(0, batch.size()),
                                                      .rhs_batch = other_batch,
                                                      .lhs_contracting = counting_from(first_other, others.size()),
                                                      .rhs_contracting = others});
    // Its axes: batch, the operand's free ones, then the contracted ones in the order of the other operand's axes.
    Numbers axes = batch, sorted = other_contracting;
    axes.insert(axes.end(), own.begin(), own.end());
    std::sort(sorted.begin(), sorted.end());
    for (const std::int64_t axis : sorted) {
      const auto pair = std::find(other_contracting.begin(), other_contracting.end(), axis);
      axes.push_back(contracting[static_cast<std::size_t>(pair - other_contracting.begin())]);
    }
    Numbers permutation(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
      permutation[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
    const bool is_ordered = std::is_sorted(axes.begin(), axes.end());
    call.give(place, is_ordered ? product : b.transpose({product}, {.permutation = std::move(permutation)}));
  }
}

constexpr GradientRule kDotRules[] = {{Op::dot_general, dot_general}};

}  // namespace

std::span<const GradientRule> dot_gradients() { return kDotRules; }

}  // namespace alate::graph
