#include "backends/cpu/passes/row_groups.h"

#include <algorithm>
#include <optional>

#include "backends/cpu/steps/embedding_sum.h"
#include "backends/cpu/steps/norm_arguments.h"
#include "backends/cpu/steps/operations.h"
#include "backends/cpu/steps/tiles/tile_program.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

constexpr std::uint32_t kFirst = 1;

std::uint32_t bit_of(std::size_t operand) { return std::uint32_t{1} << operand; }

// The operands of a product at these places.
template <typename Places>
std::uint32_t product_rows(const Places& at) {
  return bit_of(at.x) | (at.residual ? bit_of(*at.residual) : 0);
}

// Whether each slice belongs to one entry of the indices' first axis, which is also the result's first axis.
bool takes_rows(const graph::Gather& gather) {
  return gather.operand_batching_dims.empty() && gather.index_vector_dim != 0 &&
         std::ranges::find(gather.offset_dims, 0) == gather.offset_dims.end();
}

std::uint32_t tiled_rows(const TileProgram& program) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.inputs[i].first_axis == 0 && program.inputs[i].last_axis > 0) mask |= std::uint32_t{1} << i;
  }
  return mask;
}

std::uint32_t joined_rows(const Step& step);

// Bit i: row r of the results depends only on row r of operand i; operands without a bit are read whole. 0: it depends
// on other rows, or this is not known.
std::uint32_t row_operands(const Step& step) {
  if (step.tiles) return tiled_rows(*step.tiles);
  if (step.embeddings) return embedding_rows(*step.embeddings);
  if (!step.parts.empty()) return joined_rows(step);
  if (step.operation == &copy_operation()) return kFirst;
  switch (step.operation->op) {
    case graph::Op::layer_norm: {
      const std::optional<std::size_t> sums = row_sums_operand(step);
      return kFirst | (sums ? bit_of(*sums) : 0);
    }
    case graph::Op::rms_norm:
    case graph::Op::normalize:
    case graph::Op::softmax:
    case graph::Op::log_softmax: return kFirst;
    case graph::Op::dense:
      return product_rows(graph::places_of<graph::DenseOperands>(std::get<graph::Dense>(step.attributes)));
    case graph::Op::quantized_dense:
      return product_rows(
          graph::places_of<graph::QuantizedDenseOperands>(std::get<graph::QuantizedDense>(step.attributes)));
    case graph::Op::quantized_embedding: return kFirst;
    case graph::Op::gather: return takes_rows(std::get<graph::Gather>(step.attributes)) ? 2 : 0;
    default: return 0;
  }
}

// Each part reads the previous part's result row by row, or they would not be joined.
std::uint32_t joined_rows(const Step& step) {
  std::uint32_t by_row = 0, whole = 0;
  for (const Step& part : step.parts) {
    const std::uint32_t mask = row_operands(part);
    if (mask == 0) return 0;
    for (std::size_t k = 0; k < part.inputs.size(); ++k) {
      for (std::size_t place = 0; place < step.inputs.size(); ++place) {
        if (step.inputs[place] == part.inputs[k]) ((mask >> k & 1) != 0 ? by_row : whole) |= std::uint32_t{1} << place;
      }
    }
  }
  return (by_row & whole) == 0 ? by_row : 0;
}

bool names(const Shape& shape, Dim dim) { return std::ranges::find(shape.dims, dim) != shape.dims.end(); }

bool has_rows(const Shape& shape, Dim dim) { return !shape.dims.empty() && shape.dims[0] == dim; }

// Whether `dim` is the extent of only the first axis, and rows begin at whole bytes.
bool is_of_rows(const Shape& shape, Dim dim) {
  return has_rows(shape, dim) && bits_of(shape.dtype) >= 8 && std::ranges::count(shape.dims, dim) == 1;
}

// The dim of the rows that a step processes independently, if it does.
std::optional<Dim> step_rows(const Plan& plan, const Step& step) {
  const std::uint32_t mask = row_operands(step);
  if (mask == 0 || step.outputs.empty() || !step.regions.empty() || step.inputs.size() > 32) return std::nullopt;
  const Shape& result = plan.slots[step.output()].shape;
  if (result.dims.empty() || result.dims[0].is_number()) return std::nullopt;
  const Dim dim = result.dims[0];
  const auto has_its_rows = [&](SlotId id) { return is_of_rows(plan.slots[id].shape, dim); };
  if (!std::ranges::all_of(step.outputs, has_its_rows)) return std::nullopt;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const Shape& shape = plan.slots[step.inputs[i]].shape;
    if ((mask >> i & 1) != 0 ? !is_of_rows(shape, dim) : names(shape, dim)) return std::nullopt;
  }
  return dim;
}

// First and last steps that access each slot, directly or by a view.
struct Touches {
  std::vector<std::size_t> first, last;
  explicit Touches(const Plan& plan) : first(plan.slots.size(), SIZE_MAX), last(plan.slots.size(), 0) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      for (const auto* slots : {&plan.steps[i].inputs, &plan.steps[i].outputs}) {
        for (const SlotId id : *slots) {
          const SlotId base = base_of(plan, id);
          first[base] = std::min(first[base], i);
          last[base] = std::max(last[base], i);
        }
      }
    }
  }
};

void add_once(std::vector<SlotId>& slots, SlotId id) {
  if (std::ranges::find(slots, id) == slots.end()) slots.push_back(id);
}

// Fills in the slots of a group.
void list_slots(const Plan& plan, const Touches& touches, RowGroup& group) {
  for (std::size_t i = group.first; i < group.end; ++i) {
    const Step& step = plan.steps[i];
    const std::uint32_t mask = row_operands(step);
    const auto take = [&](SlotId id) {
      const SlotId base = base_of(plan, id);
      const bool is_inner = plan.slots[base].kind == SlotKind::arena && touches.first[base] >= group.first &&
                            touches.last[base] < group.end && is_of_rows(plan.slots[base].shape, group.dim);
      if (!is_inner) {
        add_once(group.outer, id);
      } else {
        add_once(group.inner, base);
        if (id != base) add_once(group.inner_views, id);
      }
    };
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if ((mask >> k & 1) != 0) take(step.inputs[k]);
    }
    for (const SlotId output : step.outputs) take(output);
  }
  for (const SlotId id : group.inner) group.inner_steps.emplace_back(touches.first[id], touches.last[id]);
}

}  // namespace

std::vector<RowGroup> find_row_groups(const Plan& plan) {
  std::vector<RowGroup> groups;
  const Touches touches(plan);
  for (std::size_t i = 0; i < plan.steps.size();) {
    const std::optional<Dim> dim = step_rows(plan, plan.steps[i]);
    if (!dim) {
      ++i;
      continue;
    }
    RowGroup group{.first = i, .end = i, .dim = *dim};
    std::vector<SlotId> written, read_whole;
    const auto contains = [&](const std::vector<SlotId>& slots, SlotId id) {
      return std::ranges::find(slots, memory_of(plan, id)) != slots.end();
    };
    // Other threads may be at any other step of the group.
    const auto fits = [&](const Step& step) {
      const std::uint32_t mask = row_operands(step);
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        if ((mask >> k & 1) == 0 && contains(written, step.inputs[k])) return false;
      }
      return std::ranges::none_of(step.outputs, [&](SlotId output) { return contains(read_whole, output); });
    };
    for (; group.end < plan.steps.size(); ++group.end) {
      const Step& step = plan.steps[group.end];
      if (step_rows(plan, step) != dim || !fits(step)) break;
      const std::uint32_t mask = row_operands(step);
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        if ((mask >> k & 1) == 0) read_whole.push_back(memory_of(plan, step.inputs[k]));
      }
      for (const SlotId output : step.outputs) written.push_back(memory_of(plan, output));
    }
    i = group.end;
    if (group.end - group.first < 2) continue;
    list_slots(plan, touches, group);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace alate::cpu
