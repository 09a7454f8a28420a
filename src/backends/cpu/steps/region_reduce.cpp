// Reductions with a region: by the loops of reduce.h if the region is one op, otherwise one element at a time.
#include <array>
#include <cstring>
#include <optional>

#include "backends/cpu/kernels/moving/move_axes.h"
#include "backends/cpu/kernels/rows/reduce.h"
#include "backends/cpu/steps/products/halves.h"
#include "backends/cpu/steps/reduce_values.h"
#include "backends/cpu/steps/region_runner.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

using graph::Op;

std::optional<TileOp> joining_op(Op op) {
  switch (op) {
    case Op::add: return TileOp::add;
    case Op::mul: return TileOp::multiply;
    case Op::max: return TileOp::maximum;
    case Op::min: return TileOp::minimum;
    case Op::logical_and:
    case Op::bitwise_and: return TileOp::bitwise_and;
    case Op::logical_or:
    case Op::bitwise_or: return TileOp::bitwise_or;
    case Op::logical_xor:
    case Op::bitwise_xor: return TileOp::bitwise_xor;
    default: return std::nullopt;
  }
}

// The op of a region that is a single op on its two parameters.
std::optional<TileOp> known_op(const graph::Graph& region) {
  if (region.parameters().size() != 2 || region.outputs().size() != 1) return std::nullopt;
  const graph::Node& node = region.node(region.outputs()[0].value.node);
  const std::optional<TileOp> op = joining_op(node.op);
  if (!op) return std::nullopt;
  const graph::Node &a = region.node(node.operands[0].node), &b = region.node(node.operands[1].node);
  if (a.op != Op::parameter || b.op != Op::parameter) return std::nullopt;
  if (std::get<graph::Index>(a.attributes).index == std::get<graph::Index>(b.attributes).index) return std::nullopt;
  return op;
}

constexpr std::size_t kValueBytes = 16;  // of the widest dtype

// The kept and the reduced axes: where each result's elements are.
struct Walks {
  MoveAxes kept, reduced;
  Walks(const Shape& x, const graph::Numbers& axes) {
    const Strides strides = row_major_strides(x);
    std::vector<std::size_t> kept_dims, reduced_dims;
    Strides kept_strides, reduced_strides;
    for (std::size_t i = 0; i < x.rank(); ++i) {
      const bool is_reduced = names_axis(axes, i);
      (is_reduced ? reduced_dims : kept_dims).push_back(extent_of(x, i));
      (is_reduced ? reduced_strides : kept_strides).push_back(strides[i]);
    }
    kept = merge_move_axes(kept_dims, kept_strides, Strides(kept_dims.size(), 0));
    reduced = merge_move_axes(reduced_dims, reduced_strides, Strides(reduced_dims.size(), 0));
  }
};

}  // namespace

bool has_known_reduction(const graph::Graph& graph, const graph::Node& node) {
  const std::optional<TileOp> op = known_op(*node.regions[0]);
  const DType carrier = tensor::carrier_of(graph.shape(node.operands[0]).dtype);
  return op && reduce_loop(*op, computed_type(carrier)) != nullptr;
}

std::size_t known_reduce_scratch(const Step& step, const Binding& binding, std::size_t index) {
  return reduce_scratch(step, binding, index);
}

void run_known_reduce(const Step& step, const Frame& frame) {
  reduce_values(step, frame, *known_op(*step.graphs[0]), frame.in<std::byte>(step.inputs[1]));
}

// The accumulated values, the region's results, and the region's own memory.
std::size_t region_reduce_scratch(const Step& step, const Binding& binding, std::size_t index) {
  return 2 * scratch_aligned(step.outputs.size() * kValueBytes) + region_scratch(step, binding, index);
}

void run_region_reduce(const Step& step, const Frame& frame) {
  const std::size_t count = step.outputs.size(), side = scratch_aligned(count * kValueBytes);
  const Walks walks(frame.shape(step.inputs[0]), std::get<graph::Axes>(step.attributes).axes);
  const std::size_t results = count_of(frame.shape(step.output())), length = walks.reduced.count();
  RegionRunner region(step, 0, frame, frame.scratch + 2 * side, RegionProfile::none);
  std::vector<std::size_t> bytes;
  for (const SlotId output : step.outputs) bytes.push_back(element_bytes(frame.shape(output)));
  std::vector<std::byte*> now(count), made(count);
  for (std::size_t i = 0; i < count; ++i) {
    now[i] = frame.scratch + i * kValueBytes;
    made[i] = now[i] + side;
  }
  std::vector<const std::byte*> inputs(2 * count);
  MoveWalk kept(walks.kept, 0);
  for (std::size_t result = 0; result < results; ++result, kept.next()) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(now[i], frame.in<std::byte>(step.inputs[count + i]), bytes[i]);
    MoveWalk reduced(walks.reduced, 0);
    for (std::size_t element = 0; element < length; ++element, reduced.next()) {
      const auto place = static_cast<std::size_t>(kept.in() + reduced.in());
      for (std::size_t i = 0; i < count; ++i) {
        inputs[i] = now[i];
        inputs[count + i] = frame.in<std::byte>(step.inputs[i]) + place * bytes[i];
      }
      region.run(inputs, made);
      now.swap(made);
    }
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(frame.out<std::byte>(step.outputs[i]) + result * bytes[i], now[i], bytes[i]);
  }
}

}  // namespace alate::cpu
