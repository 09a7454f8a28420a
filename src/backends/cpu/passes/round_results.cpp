#include "backends/cpu/passes/round_results.h"

#include <algorithm>

#include "backends/cpu/passes/slot_uses.h"

namespace alate::cpu {
namespace {

// Whether rows of the slot consist of whole words of two numbers.
bool has_rows_of_words(const Shape& shape) {
  return shape.dtype == DType::f32 && shape.rank() > 1 && shape.dims.back().is_number() &&
         shape.dims.back().number() % 2 == 0;
}

// Whether the slot is no view, or a view of its whole base, in rows of any length.
bool is_whole(const Slot& slot) {
  return slot.kind != SlotKind::view || (slot.offset == 0 && slot.format.is_row_major());
}

// The kernel is chosen by a measurement once per process, for which models without such products are not to wait.
bool multiplies_bf16(const Step& product) { return product.operation->kernel().kind == WordKind::bf16; }

// Whether a product multiplies the slot as bf16, and reads it as nothing else.
bool multiplies_rounded(const Plan& plan, const SlotReader& reader) {
  const Step& step = plan.steps[reader.step];
  const SlotId id = step.inputs[reader.operand];
  return may_read_as(plan, reader, kBf16Rows) && multiplies_bf16(step) && std::ranges::count(step.inputs, id) == 1 &&
         is_whole(plan.slots[id]) && has_rows_of_words(plan.slots[id].shape);
}

// Products of other words only write floats.
bool may_round(const Step& writer) {
  return writer.outputs.size() == 1 && (writer.operation->kernel == nullptr || multiplies_bf16(writer));
}

// Adds a bf16 copy of the value, which the products then read.
void add_rounded(Plan& plan, SlotId base, Step& norm, const std::vector<SlotReader>& products) {
  const auto rounded_copy = [&plan](SlotId id) {
    plan.slots.push_back({.kind = SlotKind::arena, .shape = plan.slots[id].shape, .format = SlotFormat::bf16_rows()});
    return static_cast<SlotId>(plan.slots.size() - 1);
  };
  const SlotId rounded = rounded_copy(base);
  norm.epilogue.rounded = norm.outputs.size();
  norm.outputs.push_back(rounded);
  for (const SlotReader& product : products) {
    SlotId& read = plan.steps[product.step].inputs[product.operand];
    if (read == base) {
      read = rounded;
      continue;
    }
    read = rounded_copy(read);
    plan.slots[read].kind = SlotKind::view;
    plan.slots[read].base = rounded;
  }
}

}  // namespace

void round_results(Plan& plan) {
  const std::vector<SlotUses> uses = slot_uses(plan);
  for (SlotId id = 0; id < uses.size(); ++id) {
    std::vector<SlotReader> products;
    std::ranges::copy_if(uses[id].readers, std::back_inserter(products),
                         [&](const SlotReader& reader) { return multiplies_rounded(plan, reader); });
    if (products.empty() || plan.slots[id].shape.dtype != DType::f32) continue;
    Step* writer = writer_as(plan, uses, id, kBf16Rows);
    if (writer == nullptr || !may_round(*writer)) continue;
    const SlotKind kind = plan.slots[id].kind;
    if (kind != SlotKind::arena || products.size() < uses[id].readers.size()) {
      const bool may_be_twice = kind == SlotKind::arena || kind == SlotKind::output;
      if (may_be_twice && writer->operation->norm) add_rounded(plan, id, *writer, products);
      continue;
    }
    for (SlotId view = 0; view < uses.size(); ++view) {
      if (base_of(plan, view) == id) plan.slots[view].format = SlotFormat::bf16_rows();
    }
  }
}

}  // namespace alate::cpu
