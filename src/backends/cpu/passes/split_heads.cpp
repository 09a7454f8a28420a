#include "backends/cpu/passes/split_heads.h"

#include "backends/cpu/kernels/gemm/gemm.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

// Whether the operand is a query, key or value that attention reads head by head.
bool has_heads(const Step& step, std::size_t operand) {
  if (step.operation->op != graph::Op::ragged_attention) return false;
  const auto at = graph::places_of<graph::RaggedAttentionOperands>(std::get<graph::Attention>(step.attributes));
  return operand == at.query || operand == at.key || operand == at.value;
}

// Uses of an arena slot, collected step by step.
struct Uses {
  std::size_t products = 0;  // products that write it and can store column blocks
  std::int64_t head_size = 0;
  bool has_others = false;  // other uses need it row-major, or with another head size
};

// The head size of a view that is a range of columns, split into heads; 0: another kind of view, or cannot be split.
std::int64_t head_size_of(const Plan& plan, const Slot& view) {
  if (view.kind != SlotKind::view) return 0;
  const Slot& whole = plan.slots[view.base];
  const std::vector<Dim>&rows = whole.shape.dims, &heads = view.shape.dims;
  if (whole.kind != SlotKind::arena || whole.shape.dtype != DType::f32 || view.shape.dtype != DType::f32) return 0;
  if (rows.size() != 2 || heads.size() != 3 || heads[0] != rows[0]) return 0;
  if (!rows[1].is_number() || !heads[1].is_number() || !heads[2].is_number()) return 0;
  const std::int64_t columns = rows[1].number(), size = heads[2].number(), width = heads[1].number() * size;
  if (view.row_stride != columns && (view.row_stride != 0 || width != columns)) return 0;
  const bool is_split = size > 0 && size % static_cast<std::int64_t>(kColumnBlockUnit) == 0 && columns % size == 0 &&
                        view.offset % size == 0 && view.offset + width <= columns;
  return is_split ? size : 0;
}

std::vector<Uses> uses_of_slots(const Plan& plan) {
  std::vector<Uses> uses(plan.slots.size());
  const auto uses_of = [&](SlotId id) -> Uses& { return uses[base_of(plan, id)]; };
  for (const Step& step : plan.steps) {
    for (const SlotId id : step.outputs) {
      if (step.operation->stores_blocks && plan.slots[id].kind == SlotKind::arena)
        ++uses[id].products;
      else
        uses_of(id).has_others = true;
    }
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      Uses& use = uses_of(step.inputs[i]);
      const std::int64_t size = has_heads(step, i) ? head_size_of(plan, plan.slots[step.inputs[i]]) : 0;
      if (size == 0 || (use.head_size != 0 && use.head_size != size)) use.has_others = true;
      use.head_size = size;
    }
  }
  return uses;
}

}  // namespace

void split_heads(Plan& plan) {
  const std::vector<Uses> uses = uses_of_slots(plan);
  const auto split = [](Slot& slot, std::int64_t head_size) { slot.column_block = slot.row_stride = head_size; };
  for (Slot& view : plan.slots) {
    if (view.kind != SlotKind::view) continue;
    const Uses& use = uses[view.base];
    if (use.products == 1 && !use.has_others && use.head_size != 0 && head_size_of(plan, view) == use.head_size)
      split(view, use.head_size);
  }
  // Bases come after their views, because a base's layout determines the strides of its views.
  for (Slot& view : plan.slots) {
    if (view.kind == SlotKind::view && view.column_block != 0) split(plan.slots[view.base], view.column_block);
  }
}

}  // namespace alate::cpu
