// A graph compiled for the processor: slots for values, and steps that fill them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/tensor.h"
#include "backends/backend.h"
#include "base/threads/thread_pool.h"
#include "graph/graph.h"

namespace alate::cpu {

using SlotId = std::uint32_t;

enum class SlotKind : std::uint8_t {
  parameter,  // the caller's input `index`
  constant,   // a weight's bytes
  packed,     // a weight that steps hold in a layout of their own: has no bytes here
  arena,      // scratch of a run
  output,     // the caller's output `index`
  view,       // part of another slot
};

/// Where a value's bytes are. A view is rows of its base: row i (along the first axis) begins `offset + i * row_stride`
/// elements after the base's start; a row_stride of 0 means that the whole view is dense. Matrices may be stored in
/// blocks of some of their columns, each with all rows, [column / block][row][column % block]: the row_stride is
/// column_block then, and a view of whole blocks has the offset of its first column. See split_heads.h.
struct Slot {
  SlotKind kind = SlotKind::arena;
  Shape shape;
  std::size_t index = 0;
  Tensor constant = {};
  SlotId base = 0;
  std::int64_t offset = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_block = 0;  // 0: columns lie side by side
};

struct Step;
struct Plan;
struct Binding;
struct TileProgram;
struct EmbeddingSum;

/// What a step sees of a run: pointers and bound shapes by slot.
struct Frame {
  const std::vector<Slot>& slots;
  const Binding& binding;
  std::span<std::byte* const> pointers;
  base::ThreadPool& pool;
  std::size_t max_workers;
  const backends::RunOptions& options;
  std::byte* scratch = nullptr;  // of the size that the step's operation asked for
  std::size_t step = 0;          // the place of the step that runs in its plan

  template <typename T>
  const T* in(SlotId slot) const {
    return reinterpret_cast<const T*>(pointers[slot]);
  }
  template <typename T>
  T* out(SlotId slot) const {
    return reinterpret_cast<T*>(pointers[slot]);
  }
  const Shape& shape(SlotId slot) const;
  /// Elements between the starts of two entries of the first axis.
  std::size_t row_stride(SlotId slot) const;
  /// Elements between the starts of two blocks of columns, of a slot that has these.
  std::size_t block_stride(SlotId slot) const;
};

/// How the processor runs one op for some dtypes: a row of the backend's spelling table.
struct Operation {
  graph::Op op;
  graph::DTypeSet dtypes;  // of the first operand, or of the result where there is none
  std::string_view spelling;
  void (*run)(const Step&, const Frame&);
  std::uint32_t strided_operands = 0;  // bit i: operand i may be a view with a row stride
  int packed_operand = -1;             // the constant that the step takes in a layout of its own
  Tensor (*pack)(const Tensor& value, const graph::Attributes&) = nullptr;
  std::size_t (*packed_bytes)(const Shape& shape, const graph::Attributes&) = nullptr;  // of what pack makes
  int packed_scales = -1;  // another constant, of as many bytes in its layout
  Tensor (*pack_scales)(const Tensor& value) = nullptr;
  std::string (*layout)(const graph::Attributes&) = nullptr;  // what else that depends on; nothing: on no attribute
  std::size_t (*scratch)(const Step&, const Binding&, std::size_t step) = nullptr;  // bytes that a run needs
  bool (*fits)(const graph::Graph&, const graph::Node&) = nullptr;  // what else must hold of a node; nothing: all fit
  bool writes_over_first = false;  // its one result may lie where operand 0 does, which nothing else reads then
  bool stores_blocks = false;      // its result may be in blocks of columns
  bool rounds_result = false;      // its result of f32 may be stored as bf16
  bool reads_graphs = false;       // takes regions as graphs, not as plans
  backends::Work (*work)(const Step&, const Frame&) = nullptr;  // of a call; nothing: moved_bytes of steps/work.h
};

/// A result that is stored as the integers that the product which reads it multiplies: see quantize_results.h.
struct ResultIntegers {
  std::size_t runs = 1;                  // of a row
  std::optional<SlotId> smoothing = {};  // a constant
  std::size_t rotation = 0;              // see QuantizeArguments
};

/// One kernel call. Immutable after compile.
struct Step {
  const Operation* operation = nullptr;
  std::vector<SlotId> inputs;
  std::vector<SlotId> outputs;
  graph::Attributes attributes;
  Tensor packed, packed_scales;                      // a weight in the kernel's layout, and its scales
  std::shared_ptr<const TileProgram> tiles;          // of a chain of element-wise ops
  std::shared_ptr<const EmbeddingSum> embeddings;    // of lookups that are summed and normalized in one pass
  std::vector<std::shared_ptr<const Plan>> regions;  // of an op that has them
  std::vector<graph::Region> graphs;                 // the same as graphs, for steps that read them
  std::optional<ResultIntegers> integers;            // that the result becomes
  bool has_row_sums = false;                         // a norm whose last input is sums of the first: see sum_results.h
  bool feeds_integers = false;  // its result is read rounded to 8 bits alone: see quantize_results.h
  std::vector<Step> parts;  // what a joined step does, one after the other for each row; its slots are also in theirs
  std::string source;       // of the graph's node

  SlotId output() const { return outputs.front(); }
};

/// Steps [first, end) that make row i of each result of row i of what they read, and of values that are whole before
/// the first of them begins. Rows lie along the first axis, whose extent is `dim`. See row_groups.h.
struct RowGroup {
  std::size_t first = 0, end = 0;
  Dim dim;
  std::vector<SlotId> inner = {};  // of the arena, touched by no other step: a thread has its own for its rows
  std::vector<std::pair<std::size_t, std::size_t>> inner_steps = {};  // first and last that touch each of them
  std::vector<SlotId> inner_views = {};                               // of those
  std::vector<SlotId> outer = {};  // slots of rows whose bytes other steps or the caller see
};

struct Plan {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<RowGroup> row_groups;
  std::shared_ptr<const graph::DimTable> dims;
  std::vector<backends::Port> inputs, outputs;
  std::size_t weight_bytes = 0;
  std::size_t owned_weight_bytes = 0;   // of these, packed or folded, not mapped
  std::size_t packed_weight_bytes = 0;  // of these, packed: each run reads all of them
};

/// The slot that a view is part of; any other slot itself.
inline SlotId base_of(const Plan& plan, SlotId id) {
  return plan.slots[id].kind == SlotKind::view ? plan.slots[id].base : id;
}

/// A group of steps that runs in blocks of rows, each on one thread. Every thread has its own part of the arena, with
/// its slots' pointers, then scratch and inner slots for the rows of one block.
struct RowBlocks {
  const RowGroup* group = nullptr;
  std::size_t rows = 0, blocks = 0;
  std::shared_ptr<const Binding> shorter, longer;           // shapes of a block of rows / blocks rows, and of one more
  std::vector<std::size_t> inner_offsets, scratch_offsets;  // in a thread's part, of group->inner and of its steps
  std::size_t part_bytes = 0;
  std::size_t offset = 0;  // of the first thread's part in the arena
};

/// A plan for certain values of the dims, and for so many threads.
struct Binding {
  std::vector<Shape> shapes;                  // of each slot
  std::vector<Shape> outputs;                 // of each output port
  std::vector<std::size_t> offsets;           // of each arena slot
  std::vector<std::size_t> block_strides;     // of each slot in blocks of columns; those of all rows in a block of rows
  std::vector<std::size_t> step_scratch;      // offset of each step's scratch in the arena
  std::vector<std::vector<Binding>> regions;  // of each step, empty for most
  std::optional<graph::DimValues> dims;
  std::vector<RowBlocks> row_blocks;  // of the groups that run so, in order
  std::size_t arena_bytes = 0;
};

}  // namespace alate::cpu
