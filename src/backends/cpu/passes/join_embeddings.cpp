#include "backends/cpu/passes/join_embeddings.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/rows/embed_norm.h"
#include "backends/cpu/passes/slot_uses.h"
#include "backends/cpu/steps/embedding_sum.h"
#include "backends/cpu/steps/operations.h"
#include "backends/cpu/steps/tiles/tile_program.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

// A view from the base's start with its element type and width: from a reshape, which keeps the element count.
bool has_as_many_rows(const Slot& view, const Slot& base) {
  return view.offset == 0 && view.shape.dtype == base.shape.dtype && view.shape.rank() > 0 && base.shape.rank() > 0 &&
         view.shape.dims.back() == base.shape.dims.back();
}

// The step that makes the rows of a value whose only read is this one, if any: the slot is its result, or a view of
// the whole result as rows of the same width.
std::optional<std::size_t> maker_for_one_reader(const Plan& plan, const std::vector<SlotUses>& uses, SlotId id) {
  const SlotId base = base_of(plan, id);
  const Slot &slot = plan.slots[id], &whole = plan.slots[base];
  const bool has_one_reader = uses[base].readers.size() == 1 && uses[base].writers.size() == 1;
  if (whole.kind != SlotKind::arena || !has_one_reader) return std::nullopt;
  const bool is_whole = slot.kind != SlotKind::view || (slot.format.is_row_major() && has_as_many_rows(slot, whole));
  return is_whole ? std::optional(uses[base].writers.front()) : std::nullopt;
}

bool is_same(const TileKernel& a, const TileKernel& b) { return a && a.run == b.run && a.context == b.context; }

bool is_added_dtype(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16; }

// The inputs of a chain that only adds them one by one (halves as f32), in the order of addition; none for any other
// chain. The order of one addition's operands does not matter.
std::optional<std::vector<std::size_t>> added_inputs(const TileProgram& program) {
  std::vector<std::vector<std::size_t>> values(program.inputs.size() + program.registers);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.inputs[i].dtype == DType::f32) values[i] = {i};
  }
  const TileKernel add = tile_kernel(TileOp::add, DType::f32);
  for (const TileInstruction& instruction : program.instructions) {
    if (instruction.narrow || std::ranges::any_of(instruction.widen, [](const TileKernel& k) { return bool{k}; }))
      return std::nullopt;
    const std::size_t first = instruction.operands[0];
    std::vector<std::size_t> made;
    if (instruction.operand_count == 1 && first < program.inputs.size()) {
      const DType stored = program.inputs[first].dtype;
      if (!is_added_dtype(stored) || !is_same(instruction.kernel, tile_conversion(stored, DType::f32)))
        return std::nullopt;
      made = {first};
    } else if (instruction.operand_count == 2 && is_same(instruction.kernel, add)) {
      const auto &x = values[first], &y = values[instruction.operands[1]];
      const auto &sum = y.size() > 1 ? y : x, &addend = y.size() > 1 ? x : y;
      if (sum.empty() || addend.size() != 1) return std::nullopt;
      made = sum;
      made.push_back(addend.front());
    } else {
      return std::nullopt;
    }
    values[instruction.result] = std::move(made);
  }
  return values[program.instructions.back().result];
}

// Whether a gather takes whole rows of a matrix, one per index.
bool takes_whole_rows(const graph::Gather& gather, const Shape& table, const Shape& indices) {
  const auto rank = static_cast<std::int64_t>(indices.rank());
  const bool has_one_index =
      gather.index_vector_dim == rank || (gather.index_vector_dim == rank - 1 && indices.dims.back() == Dim(1));
  const std::int64_t axis = gather.index_vector_dim;  // the result's axis along a row
  return table.rank() == 2 && has_one_index && gather.operand_batching_dims.empty() &&
         gather.offset_dims == graph::Numbers{axis} && gather.collapsed_slice_dims == graph::Numbers{0} &&
         gather.start_index_map == graph::Numbers{0} && gather.slice_sizes == graph::Dims{Dim(1), table.dims[1]};
}

// Whether an embedding has rows of whole bytes with one scale per row.
bool has_scaled_rows(const graph::Dequantize& embedding, const Shape& table, const Shape& scales) {
  const bool has_row_scales = embedding.blocks == graph::Numbers{1, 0} && scales.dtype == DType::f32;
  return embedding.encoding == tensor::EncodingKind::linear && !embedding.has_zero_points &&
         embedding.dtype == DType::f32 && has_row_scales && table.rank() == 2 &&
         (table.dtype == DType::i8 || table.dtype == DType::u8);
}

// Builds the step that replaces a layer norm and the steps that feed it.
class Joining {
 public:
  Joining(const Plan& plan, const std::vector<SlotUses>& uses, const Step& norm)
      : plan_(plan), uses_(uses), norm_(norm) {}

  bool fits() {
    const bool is_norm = norm_.operation->norm == NormKind::layer && norm_.inputs.size() == 3 &&
                         std::ranges::all_of(norm_.inputs, [&](SlotId id) { return shape(id).dtype == DType::f32; });
    return is_norm && add_sum(norm_.inputs[0]) && replaced_.size() > (has_chain_ ? 1U : 0U);
  }

  /// The steps that the joined one replaces, besides the norm.
  const std::vector<std::size_t>& replaced() const { return replaced_; }

  Step joined() && {
    Step step = norm_;
    step.operation = &embed_norm_operation();
    step.inputs = std::move(inputs_);
    step.inputs.insert(step.inputs.end(), norm_.inputs.begin() + 1, norm_.inputs.end());
    step.embeddings = std::make_shared<const EmbeddingSum>(std::move(sum_));
    return step;
  }

 private:
  const Shape& shape(SlotId id) const { return plan_.slots[id].shape; }

  std::size_t input(SlotId id) {
    inputs_.push_back(id);
    return inputs_.size() - 1;
  }

  bool add_sum(SlotId id) {
    const std::optional<std::size_t> maker = maker_for_one_reader(plan_, uses_, id);
    if (!maker) return false;
    const Step& chain = plan_.steps[*maker];
    if (!chain.tiles) return add_lookup(id, 0);
    const std::optional<std::vector<std::size_t>> added = added_inputs(*chain.tiles);
    if (shape(chain.output()) != shape(id) || !added || added->empty() || added->size() > kMaxEmbeddingAddends)
      return false;
    has_chain_ = true;
    replaced_.push_back(*maker);
    return std::ranges::all_of(*added, [&](std::size_t place) {
      const TileInput& rows = chain.tiles->inputs[place];
      // Rows in the result's order, or repeated.
      if (rows.first_axis >= rows.last_axis || rows.last_axis != shape(id).rank()) return false;
      return add_lookup(chain.inputs[place], rows.first_axis) || add_rows(chain.inputs[place], rows.first_axis);
    });
  }

  bool add_rows(SlotId id, std::size_t first_axis) {
    sum_.addends.push_back({.table = input(id), .first_axis = first_axis});
    return true;
  }

  bool add_lookup(SlotId id, std::size_t first_axis) {
    const std::optional<std::size_t> maker = maker_for_one_reader(plan_, uses_, id);
    if (!maker) return false;
    const Step& lookup = plan_.steps[*maker];
    const bool is_quantized = lookup.operation->op == graph::Op::quantized_embedding;
    if ((!is_quantized && lookup.operation->op != graph::Op::gather) || lookup.inputs.size() < 2) return false;
    SlotId table = lookup.inputs[0], indices = lookup.inputs[1];
    std::optional<SlotId> scales;
    if (is_quantized) {
      const auto named =
          graph::QuantizedEmbeddingOperands<SlotId>::of(std::get<graph::Dequantize>(lookup.attributes), lookup.inputs);
      table = named.stored;
      indices = named.indices;
      scales = named.scales;
    }
    if (const DType dtype = shape(indices).dtype; dtype != DType::i32 && dtype != DType::i64) return false;
    if (is_quantized) {
      const auto& embedding = std::get<graph::Dequantize>(lookup.attributes);
      if (!scales || !has_scaled_rows(embedding, shape(table), shape(*scales))) return false;
    } else {
      const auto* gather = std::get_if<graph::Gather>(&lookup.attributes);
      const bool takes_rows = gather != nullptr && takes_whole_rows(*gather, shape(table), shape(indices));
      if (!takes_rows || !is_added_dtype(shape(table).dtype)) return false;
    }
    EmbeddingInput addend{.table = input(table), .indices = input(indices), .first_axis = first_axis};
    if (scales) addend.scales = input(*scales);
    sum_.addends.push_back(addend);
    if (std::ranges::find(replaced_, *maker) == replaced_.end()) replaced_.push_back(*maker);
    return true;
  }

  const Plan& plan_;
  const std::vector<SlotUses>& uses_;
  const Step& norm_;
  bool has_chain_ = false;
  std::vector<std::size_t> replaced_;
  std::vector<SlotId> inputs_;
  EmbeddingSum sum_;
};

}  // namespace

void join_embeddings(Plan& plan) {
  const std::vector<SlotUses> uses = slot_uses(plan);
  std::vector<bool> is_replaced(plan.steps.size(), false);
  for (Step& step : plan.steps) {
    Joining joining(plan, uses, step);
    if (!joining.fits()) continue;
    for (const std::size_t i : joining.replaced()) is_replaced[i] = true;
    step = std::move(joining).joined();
  }
  std::vector<Step> kept;
  kept.reserve(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (!is_replaced[i]) kept.push_back(std::move(plan.steps[i]));
  }
  plan.steps = std::move(kept);
}

}  // namespace alate::cpu
