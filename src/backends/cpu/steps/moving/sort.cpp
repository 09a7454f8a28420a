// Sort and top-k steps.
#include "backends/cpu/kernels/moving/sort.h"

#include <cstring>
#include <numeric>
#include <optional>

#include "alate/error.h"
#include "backends/cpu/steps/layout.h"
#include "backends/cpu/steps/region_runner.h"

namespace alate::cpu {
namespace {

using graph::Op;

struct KnownOrder {
  std::size_t operand = 0;  // the operand that holds the keys
  KeyOrder order;           // its dtype is the operand's
};

std::optional<KeyOrder> order_of(Op op) {
  switch (op) {
    case Op::less: return KeyOrder{};
    case Op::less_or_equal: return KeyOrder{.or_equal = true};
    case Op::greater: return KeyOrder{.descending = true};
    case Op::greater_or_equal: return KeyOrder{.descending = true, .or_equal = true};
    case Op::less_total_order: return KeyOrder{.is_total = true};
    case Op::less_or_equal_total_order: return KeyOrder{.is_total = true, .or_equal = true};
    case Op::greater_total_order: return KeyOrder{.descending = true, .is_total = true};
    case Op::greater_or_equal_total_order: return KeyOrder{.descending = true, .is_total = true, .or_equal = true};
    default: return std::nullopt;
  }
}

// The order of a region that is a single comparison of one operand's two elements.
std::optional<KnownOrder> known_order(const graph::Graph& region) {
  const graph::Node& node = region.node(region.outputs().front().value.node);
  std::optional<KeyOrder> order = order_of(node.op);
  if (!order) return std::nullopt;
  const graph::Node &a = region.node(node.operands[0].node), &b = region.node(node.operands[1].node);
  if (a.op != Op::parameter || b.op != Op::parameter) return std::nullopt;
  const std::int64_t first = std::get<graph::Index>(a.attributes).index,
                     second = std::get<graph::Index>(b.attributes).index;
  if (first / 2 != second / 2 || first == second) return std::nullopt;
  if (second < first) order->descending = !order->descending;  // x > y of swapped elements is x < y
  order->dtype = a.results[0].dtype;
  if (is_complex(order->dtype)) return std::nullopt;  // complex keys have no order by bits
  return KnownOrder{static_cast<std::size_t>(first / 2), *order};
}

std::size_t workers() { return base::ThreadPool::shared().size(); }

// The step's scratch: two lists of indices, the region's result, and the region's own memory.
struct RegionSortMemory {
  std::size_t places, answer, total;
  RegionSortMemory(std::size_t length, std::size_t region)
      : places(scratch_aligned(length * sizeof(std::size_t))),
        answer(2 * places),
        total(answer + kScratchAlignment + region) {}
};

}  // namespace

bool has_known_order(const graph::Graph& /*graph*/, const graph::Node& node) {
  return known_order(*node.regions[0]).has_value();
}

std::size_t sort_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const KnownOrder known = *known_order(*step.graphs[0]);
  const Shape& keys = binding.shapes[step.inputs[known.operand]];
  const AroundAxis around = around_axis(keys, std::get<graph::Sort>(step.attributes).axis);
  return sort_scratch_bytes(keys.dtype, around.length) * workers();
}

void run_sort(const Step& step, const Frame& frame) {
  KnownOrder known = *known_order(*step.graphs[0]);
  const Shape& keys = frame.shape(step.inputs[known.operand]);
  known.order.dtype = keys.dtype;  // the carrier's, for packed types
  const AroundAxis around = around_axis(keys, std::get<graph::Sort>(step.attributes).axis);
  std::vector<SortOperand> operands;
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    operands.push_back({frame.in<std::byte>(step.inputs[i]), frame.out<std::byte>(step.outputs[i]),
                        element_bytes(frame.shape(step.inputs[i]))});
  sort_lines({.order = known.order,
              .keys = frame.in<std::byte>(step.inputs[known.operand]),
              .operands = operands,
              .outer = around.outer,
              .length = around.length,
              .inner = around.inner,
              .scratch = frame.scratch},
             frame.pool, frame.max_workers);
}

std::size_t sort_by_region_scratch(const Step& step, const Binding& binding, std::size_t index) {
  const AroundAxis around = around_axis(binding.shapes[step.inputs[0]], std::get<graph::Sort>(step.attributes).axis);
  return RegionSortMemory(around.length, region_scratch(step, binding, index)).total;
}

void run_sort_by_region(const Step& step, const Frame& frame) {
  const AroundAxis around = around_axis(frame.shape(step.inputs[0]), std::get<graph::Sort>(step.attributes).axis);
  const RegionSortMemory memory(around.length, 0);
  const std::span places(reinterpret_cast<std::size_t*>(frame.scratch), around.length),
      merged(reinterpret_cast<std::size_t*>(frame.scratch + memory.places), around.length);
  std::byte* answer = frame.scratch + memory.answer;
  RegionRunner region(step, 0, frame, answer + kScratchAlignment, RegionProfile::none);
  std::vector<const std::byte*> pairs(2 * step.inputs.size());
  for (std::size_t line = 0; line < around.outer * around.inner; ++line) {
    const std::size_t first = line / around.inner * around.length * around.inner + line % around.inner;
    std::iota(places.begin(), places.end(), std::size_t{0});
    merge_sort(places, merged, [&](std::size_t a, std::size_t b) {
      for (std::size_t i = 0; i < step.inputs.size(); ++i) {
        const std::byte* line_start = frame.in<std::byte>(step.inputs[i]);
        const std::size_t bytes = element_bytes(frame.shape(step.inputs[i]));
        pairs[2 * i] = line_start + (first + a * around.inner) * bytes;
        pairs[2 * i + 1] = line_start + (first + b * around.inner) * bytes;
      }
      region.run(pairs, {&answer, 1});
      return *answer != std::byte{0};
    });
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const std::size_t bytes = element_bytes(frame.shape(step.inputs[i]));
      for (std::size_t k = 0; k < around.length; ++k)
        std::memcpy(frame.out<std::byte>(step.outputs[i]) + (first + k * around.inner) * bytes,
                    frame.in<std::byte>(step.inputs[i]) + (first + places[k] * around.inner) * bytes, bytes);
    }
  }
}

std::size_t top_k_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const Shape& x = binding.shapes[step.inputs[0]];
  const auto k = static_cast<std::size_t>(std::get<graph::TopK>(step.attributes).k);
  return top_k_scratch_bytes(x.dtype, std::min(k, extent_of(x, x.rank() - 1))) * workers();
}

void run_top_k(const Step& step, const Frame& frame) {
  const Shape& x = frame.shape(step.inputs[0]);
  const auto k = static_cast<std::size_t>(std::get<graph::TopK>(step.attributes).k);
  const std::size_t length = extent_of(x, x.rank() - 1);
  if (k > length)
    throw make_error(ErrorCode::invalid_argument, "top_k of ", to_string(x), ": k is larger than the last axis");
  top_k({.dtype = x.dtype,
         .x = frame.in<std::byte>(step.inputs[0]),
         .values = frame.out<std::byte>(step.outputs[0]),
         .places = frame.out<std::int32_t>(step.outputs[1]),
         .rows = rows_of(x),
         .length = length,
         .k = k,
         .scratch = frame.scratch},
        frame.pool, frame.max_workers);
}

}  // namespace alate::cpu
