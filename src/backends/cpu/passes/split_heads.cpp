#include "backends/cpu/passes/split_heads.h"

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/passes/slot_uses.h"

namespace alate::cpu {
namespace {

// The head size of a view that is a range of columns, split into heads; 0: another kind of view, or cannot be split.
std::int64_t head_size_of(const Plan& plan, const Slot& view) {
  if (view.kind != SlotKind::view) return 0;
  const Slot& whole = plan.slots[view.base];
  const std::vector<Dim>&rows = whole.shape.dims, &heads = view.shape.dims;
  if (whole.kind != SlotKind::arena || whole.shape.dtype != DType::f32 || view.shape.dtype != DType::f32) return 0;
  if (rows.size() != 2 || heads.size() != 3 || heads[0] != rows[0]) return 0;
  if (!rows[1].is_number() || !heads[1].is_number() || !heads[2].is_number()) return 0;
  const std::int64_t columns = rows[1].number(), size = heads[2].number(), width = heads[1].number() * size;
  if ((view.format.is_row_major() ? width : view.format.row_stride) != columns) return 0;
  const bool is_split = size > 0 && size % static_cast<std::int64_t>(kColumnBlockUnit) == 0 && columns % size == 0 &&
                        view.offset % size == 0 && view.offset + width <= columns;
  return is_split ? size : 0;
}

// The head size that all readers of a slot split it into, or 0.
std::int64_t head_size_of_readers(const Plan& plan, const std::vector<SlotReader>& readers) {
  std::int64_t size = 0;
  for (const SlotReader& reader : readers) {
    const Slot& view = plan.slots[plan.steps[reader.step].inputs[reader.operand]];
    const std::int64_t next = may_read_as(plan, reader, kColumnBlocks) ? head_size_of(plan, view) : 0;
    if (next == 0 || (size != 0 && size != next)) return 0;
    size = next;
  }
  return size;
}

}  // namespace

void split_heads(Plan& plan) {
  const std::vector<SlotUses> uses = slot_uses(plan);
  for (SlotId id = 0; id < uses.size(); ++id) {
    const std::int64_t size = head_size_of_readers(plan, uses[id].readers);
    if (size == 0 || writer_as(plan, uses, id, kColumnBlocks) == nullptr) continue;
    for (Slot& view : plan.slots) {
      if (view.kind == SlotKind::view && view.base == id && head_size_of(plan, view) == size)
        view.format = SlotFormat::column_blocks(size);
    }
    plan.slots[id].format = SlotFormat::column_blocks(size);
  }
}

}  // namespace alate::cpu
