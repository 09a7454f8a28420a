// A graph compiled for the CPU: slots for values, and steps that fill them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/tensor.h"
#include "backends/backend.h"
#include "backends/cpu/plan/epilogue.h"
#include "backends/cpu/plan/operation.h"
#include "backends/cpu/plan/slot_format.h"
#include "base/threads/thread_pool.h"
#include "graph/graph.h"

namespace alate::cpu {

enum class SlotKind : std::uint8_t {
  parameter,  // the caller's input `index`
  constant,   // a weight's bytes
  packed,     // a weight that only its steps hold, in packed layout: the slot has no bytes
  arena,      // an intermediate value of a run
  output,     // the caller's output `index`
  view,       // part of another slot
};

/// Where a value's bytes are, and in which format. A view is a set of rows of its base: it begins `offset` elements
/// after the base's start; in column blocks, `offset` is its first column, at which a block begins.
struct Slot {
  SlotKind kind = SlotKind::arena;
  Shape shape;
  std::size_t index = 0;
  Tensor constant = {};
  SlotId base = 0;
  std::int64_t offset = 0;
  SlotFormat format = {};
  std::optional<SlotId> overwritten_by =
      {};  // an output in the same memory that replaces the value: see place_aliases.h
};

struct Step;
struct Plan;
struct Binding;
struct TileProgram;
struct EmbeddingSum;

/// A step's view of a run: pointers and bound shapes by slot.
struct Frame {
  const Binding& binding;
  std::span<std::byte* const> pointers;
  base::ThreadPool& pool;
  std::size_t max_workers;
  const backends::RunOptions& options;
  std::byte* scratch = nullptr;  // of the size that the operation's `scratch` returned
  std::size_t step = 0;          // index of the running step in its plan

  template <typename T>
  const T* in(SlotId slot) const {
    return reinterpret_cast<const T*>(pointers[slot]);
  }
  template <typename T>
  T* out(SlotId slot) const {
    return reinterpret_cast<T*>(pointers[slot]);
  }
  const Slot& slot(SlotId slot) const;
  const Shape& shape(SlotId slot) const;
  /// Elements between the starts of two entries of the first axis.
  std::size_t row_stride(SlotId slot) const;
  /// Elements between the starts of two column blocks; only for slots stored in column blocks.
  std::size_t block_stride(SlotId slot) const;
};

/// One kernel call. Immutable after compile.
struct Step {
  const Operation* operation = nullptr;
  std::vector<SlotId> inputs;
  std::vector<SlotId> outputs;
  graph::Attributes attributes;
  std::vector<Tensor> packed;                        // the operation's packed operands, in its order
  std::shared_ptr<const TileProgram> tiles;          // for a chain of element-wise ops
  std::shared_ptr<const EmbeddingSum> embeddings;    // for lookups that are summed and normalized in one pass
  std::vector<std::shared_ptr<const Plan>> regions;  // of an op with regions
  std::vector<graph::Region> graphs;                 // the same regions as graphs, for operations with kReadsGraphs
  Epilogue epilogue;
  std::vector<Step> parts;  // of a joined step: run in order for each row; they use the joined step's slots
  std::string source;       // the graph node's source

  SlotId output() const { return outputs.front(); }
};

/// Steps [first, end), each of which computes row i of its results from row i of its row-wise inputs and from values
/// that are complete before the first step begins. Rows lie along the first axis, of extent `dim`. See row_groups.h.
struct RowGroup {
  std::size_t first = 0, end = 0;
  Dim dim;
  std::vector<SlotId> inner = {};  // arena slots that no other step touches: each thread has its own, for its rows
  std::vector<std::pair<std::size_t, std::size_t>> inner_steps = {};  // first and last step that touch each inner slot
  std::vector<SlotId> inner_views = {};                               // views of inner slots
  std::vector<SlotId> outer = {};  // row-wise slots that other steps or the caller also see
};

/// An output that aliases a donated parameter. If it is in place, the steps are also right where both are the same
/// memory.
struct PlanAlias {
  std::size_t output = 0, parameter = 0;
  bool in_place = false;
  std::string copy_reason = {};  // empty if it is in place
};

struct Plan {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<RowGroup> row_groups;
  std::vector<PlanAlias> aliases;
  std::shared_ptr<const graph::DimTable> dims;
  std::vector<backends::Port> inputs, outputs;
  std::size_t weight_bytes = 0;         // in memory: each weight once, however many steps share it
  std::size_t owned_weight_bytes = 0;   // the part that is packed or folded, not mapped
  std::size_t packed_weight_bytes = 0;  // packed weights that a run reads: those of each step
};

/// The slot that a view is part of; any other slot itself.
inline SlotId base_of(const Plan& plan, SlotId id) {
  return plan.slots[id].kind == SlotKind::view ? plan.slots[id].base : id;
}

/// A slot that stands for the memory of a slot: two slots with different ones never share bytes.
inline SlotId memory_of(const Plan& plan, SlotId id) {
  const SlotId base = base_of(plan, id);
  return plan.slots[base].overwritten_by.value_or(base);
}

/// A row group that runs in blocks of rows, each block on one thread. Every thread has its own part of the arena: slot
/// pointers, then scratch and inner slots for the rows of one block.
struct RowBlocks {
  const RowGroup* group = nullptr;
  std::size_t rows = 0, blocks = 0;
  std::shared_ptr<const Binding> shorter, longer;  // shapes of blocks of rows / blocks rows, and of one row more
  std::vector<std::size_t> inner_offsets, scratch_offsets;  // within a thread's part: of group->inner, and of each step
  std::size_t part_bytes = 0;
  std::size_t offset = 0;  // of the first thread's part in the arena
};

/// A plan bound to values of its dims and to a number of threads.
struct Binding {
  std::span<const Slot> slots;                // of the plan
  std::vector<Shape> shapes;                  // of each slot
  std::vector<Shape> outputs;                 // of each output port
  std::vector<std::size_t> offsets;           // of each arena slot
  std::vector<std::size_t> block_strides;     // of slots in column blocks; a block of rows has the strides of all rows
  std::vector<std::size_t> step_scratch;      // offset of each step's scratch in the arena
  std::vector<std::vector<Binding>> regions;  // of each step, empty for most
  std::optional<graph::DimValues> dims;
  std::vector<RowBlocks> row_blocks;  // of the row groups that run in blocks, in order
  std::size_t arena_bytes = 0;
};

}  // namespace alate::cpu
