#include "backends/cpu/planner/planner.h"

#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/steps/operations.h"
#include "base/hardware/cpu_facts.h"

namespace alate::cpu {
namespace {

using backends::WeightLayout;

// Packed scales are the same for all instruction sets and attributes.
WeightLayout layout_of(const Operation& operation, const PackedOperand& operand, const graph::Attributes& attributes) {
  WeightLayout layout{.kernel = operation.spelling, .role = operand.role};
  if (operand.role == WeightLayout::Role::scales) return layout;
  layout.parameters = {static_cast<std::int64_t>(base::chosen_instruction_set())};
  if (operand.parameters == nullptr) return layout;
  for (const std::int64_t parameter : operand.parameters(attributes)) layout.parameters.push_back(parameter);
  return layout;
}

}  // namespace

Planner::Planner(const graph::Graph& graph, backends::WeightStore* weights, CountedWeights& counted)
    : graph_(graph),
      weights_(weights),
      counted_(counted),
      uses_(graph::use_counts(graph)),
      slots_of_(graph.nodes().size()) {
  plan_.dims = graph.shared_dims();
}

Plan Planner::run() {
  find_chains();
  for (graph::NodeId id = 0; id < graph_.nodes().size(); ++id) {
    if (!joins_[id] && !broadcast_input(graph_.node(id))) place(id);
  }
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) place_output(i);
  return std::move(plan_);
}

void Planner::place(graph::NodeId id) {
  if (!slots_of_[id].empty()) return;
  const graph::Node& node = graph_.node(id);
  const auto leaf = [&](SlotKind kind) {
    const auto index = static_cast<std::size_t>(std::get<graph::Index>(node.attributes).index);
    slots_of_[id] = {add_slot({.kind = kind, .shape = node.results[0], .index = index})};
  };
  if (node.op == graph::Op::parameter) return leaf(SlotKind::parameter);
  if (node.op == graph::Op::constant) return leaf(SlotKind::packed);
  const Operation& operation = find_operation(graph_, node);
  if (operation.has(kShowsOperands)) {
    if (node.op == graph::Op::dynamic_reshape) add_check(node, operation);
    std::vector<SlotId> views;
    for (std::size_t i = 0; i < node.results.size(); ++i) views.push_back(same_bytes(node, i));
    slots_of_[id] = std::move(views);
    return;
  }
  if (node.op == graph::Op::slice) {
    if (const std::optional<SlotId> view = column_view(node)) {
      slots_of_[id] = {*view};
      return;
    }
  }
  slots_of_[id] = instructions_[id] ? std::vector<SlotId>{add_chain(id, operation)} : add_step(node, operation);
}

SlotId Planner::slot_of(graph::Value value) {
  place(value.node);
  return slots_of_[value.node][value.result];
}

SlotId Planner::add_slot(Slot slot) {
  plan_.slots.push_back(std::move(slot));
  return static_cast<SlotId>(plan_.slots.size() - 1);
}

Tensor Planner::value_of(const graph::ConstantPtr& constant) {
  if (counted_.add(constant)) {
    plan_.weight_bytes += constant->shape.byte_count();
    if (!constant->is_leaf()) plan_.owned_weight_bytes += constant->shape.byte_count();
  }
  if (constant->is_leaf()) return constant->tensor;
  return weights_ != nullptr ? weights_->value(constant) : Tensor();
}

void Planner::add_owned(const graph::ConstantPtr& constant, const WeightLayout& layout, std::size_t bytes) {
  if (!counted_.add(constant, layout)) return;
  plan_.weight_bytes += bytes;
  plan_.owned_weight_bytes += bytes;
}

Tensor Planner::packed_value(const Operation& operation, const PackedOperand& operand, SlotId from,
                             const graph::Attributes& attributes) {
  const graph::ConstantPtr& constant = graph_.constants()[slot(from).index];
  const WeightLayout layout = layout_of(operation, operand, attributes);
  const std::size_t bytes = operand.bytes(constant->shape, attributes);
  add_owned(constant, layout, bytes);
  if (operand.role == WeightLayout::Role::elements) plan_.packed_weight_bytes += bytes;
  if (weights_ == nullptr) return {};
  return weights_->in_layout(constant, layout, [&](const Tensor& value) { return operand.pack(value, attributes); });
}

SlotId Planner::readable(SlotId id) {
  if (slot(id).kind == SlotKind::packed) {
    slot(id).constant = value_of(graph_.constants()[slot(id).index]);
    slot(id).kind = SlotKind::constant;
  }
  return id;
}

SlotId Planner::dense(SlotId id) {
  readable(id);
  if (slot(id).format.is_row_major()) return id;
  return copy(id, {.kind = SlotKind::arena, .shape = slot(id).shape});
}

SlotId Planner::copy(SlotId from, Slot to) {
  const SlotId out = add_slot(std::move(to));
  Step step;
  step.operation = &copy_operation();
  step.inputs = {from};
  step.outputs = {out};
  plan_.steps.push_back(std::move(step));
  return out;
}

// A view of `from` under another shape.
SlotId Planner::view_of(SlotId from, Shape shape, std::int64_t offset, SlotFormat format) {
  Slot view{.kind = SlotKind::view, .shape = std::move(shape)};
  const Slot& source = slot(readable(from));
  view.base = source.kind == SlotKind::view ? source.base : from;
  view.offset = source.offset + offset;
  view.format = format;
  return add_slot(std::move(view));
}

SlotId Planner::same_bytes(const graph::Node& node, std::size_t result) {
  SlotId from = operand(node, result);
  const Shape& shape = node.results[result];
  const bool keeps_rows = shape.dtype == slot(from).shape.dtype && shape.rank() > 0 && slot(from).shape.rank() > 0 &&
                          shape.dims[0] == slot(from).shape.dims[0];
  if (!keeps_rows) from = dense(from);
  return view_of(from, shape, 0, slot(from).format);
}

// Adds a step that checks values and produces none.
void Planner::add_check(const graph::Node& node, const Operation& operation) {
  const SlotId like = add_slot({.kind = SlotKind::packed, .shape = node.results[0]});  // only there for its shape
  Step step;
  step.operation = &operation;
  step.attributes = node.attributes;
  step.source = graph_.source(node.source);
  step.inputs = {like, dense(operand(node, 1))};
  plan_.steps.push_back(std::move(step));
}

// A view of some columns of a matrix, with all rows.
std::optional<SlotId> Planner::column_view(const graph::Node& node) {
  const Shape& whole = graph_.shape(node.operands[0]);
  const auto& slice = std::get<graph::Slice>(node.attributes);
  const bool is_columns = whole.rank() == 2 && slice.starts[0] == Dim(0) && slice.limits[0] == whole.dims[0] &&
                          whole.dims[1].is_number() && slice.starts[1].is_number() &&
                          node.results[0].dims[1].is_number() && bits_of(whole.dtype) >= 8 &&
                          (slice.strides.empty() || slice.strides == graph::Numbers{1, 1});
  if (!is_columns) return std::nullopt;
  const SlotId from = operand(node, 0);
  const std::int64_t stride = slot(from).format.is_row_major() ? whole.dims[1].number() : slot(from).format.row_stride;
  return view_of(from, node.results[0], slice.starts[1].number(), SlotFormat::strided_rows(stride));
}

std::vector<SlotId> Planner::add_step(const graph::Node& node, const Operation& operation) {
  Step step;
  step.operation = &operation;
  step.attributes = node.attributes;
  step.epilogue = epilogue_of(node.attributes);
  step.source = graph_.source(node.source);
  step.packed.resize(operation.packed.size());
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const SlotId in = operand(node, i);
    if (const std::optional<std::size_t> packed = operation.packed_at(i, node.attributes)) {
      step.packed[*packed] = packed_value(operation, operation.packed[*packed], in, node.attributes);
      step.inputs.push_back(in);
    } else {
      step.inputs.push_back(operation.reads_as(kStridedRows, i, node.attributes) ? readable(in) : dense(in));
    }
  }
  if (operation.has(kReadsGraphs)) step.graphs = node.regions;
  for (const graph::Region& region : node.regions) {
    if (operation.has(kReadsGraphs)) break;
    step.regions.push_back(std::make_shared<const Plan>(plan_of(*region, weights_, counted_)));
    plan_.weight_bytes += step.regions.back()->weight_bytes;
    plan_.owned_weight_bytes += step.regions.back()->owned_weight_bytes;
    plan_.packed_weight_bytes += step.regions.back()->packed_weight_bytes;
  }
  const SlotId first = step.inputs.empty() ? 0 : step.inputs.front();
  const bool may_run_in_place = operation.has(kRunsInPlace) && uses_[node.operands[0].node] == 1 &&
                                slot(first).kind == SlotKind::arena && slot(first).shape == node.results[0];
  if (may_run_in_place) {
    step.outputs = {first};
  } else {
    for (const Shape& shape : node.results) step.outputs.push_back(add_arena_slot(shape));
  }
  plan_.steps.push_back(std::move(step));
  return plan_.steps.back().outputs;
}

void Planner::place_output(std::size_t index) {
  const graph::Output& output = graph_.outputs()[index];
  const SlotId id = slot_of(output.value);
  const Slot& found = slot(id);
  const bool is_whole_view = found.kind == SlotKind::view && found.offset == 0 && found.format.is_row_major() &&
                             find_operation(graph_, graph_.node(output.value.node)).has(kShowsOperands);
  const SlotId base = is_whole_view ? found.base : id;
  if (slot(base).kind == SlotKind::arena) {
    slot(base).kind = SlotKind::output;
    slot(base).index = index;
  } else {
    copy(readable(id), {.kind = SlotKind::output, .shape = found.shape, .index = index});
  }
}

}  // namespace alate::cpu
