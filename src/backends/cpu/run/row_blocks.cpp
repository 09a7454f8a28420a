#include "backends/cpu/run/row_blocks.h"

// Row groups in blocks of rows: memory and execution.
#include <algorithm>
#include <numeric>

#include "backends/cpu/kernels/gemm/cache_blocks.h"
#include "backends/cpu/plan/run_plan.h"
#include "backends/cpu/run/arena_layout.h"
#include "backends/cpu/run/rows_per_worker.h"

namespace alate::cpu {
namespace {

// With fewer rows, a thread would spend more time fetching weights, all of which every thread reads, than multiplying.
// With more than fit its L2 cache, intermediate values would be evicted from it.
constexpr std::size_t kFewestRows = 16;
// The same where weights come from memory. With 32 rows on two threads, BERT-base is 1.1 to 1.7 times as fast if each
// thread reads half of the weights, more so the faster a CPU multiplies; with 256 rows it is 0.95 to 1.0 times as fast.
constexpr std::size_t kFewestRowsFromMemory = 128;

std::shared_ptr<const Binding> shapes_of_block(const Plan& plan, const Binding& whole, Dim dim, std::size_t rows) {
  const std::span<const std::int64_t> values = whole.dims->raw();
  graph::DimValues block(*plan.dims);
  for (std::size_t id = 0; id < values.size(); ++id) {
    const Dim each = Dim::of_id(static_cast<DimId>(id));
    if (whole.dims->is_bound(each))
      block.set(each.id(), each == dim ? static_cast<std::int64_t>(rows) : values[id], "block");
  }
  auto binding = std::make_shared<Binding>();
  binding->slots = plan.slots;
  binding->shapes.reserve(plan.slots.size());
  for (const Slot& slot : plan.slots) binding->shapes.push_back(block(slot.shape));
  binding->block_strides = whole.block_strides;
  binding->regions.resize(plan.steps.size());
  binding->dims = block;
  return binding;
}

// Lays out a thread's part of the arena: pointers, then memory for the longer blocks.
void lay_out_part(const Plan& plan, RowBlocks& blocks) {
  const RowGroup& group = *blocks.group;
  const Binding& longest = *blocks.longer;
  std::vector<ArenaInterval> intervals;
  blocks.scratch_offsets.assign(group.end - group.first, 0);
  blocks.inner_offsets.assign(group.inner.size(), 0);
  for (std::size_t i = group.first; i < group.end; ++i) {
    const Step& step = plan.steps[i];
    const std::size_t scratch = step.operation->scratch != nullptr ? step.operation->scratch(step, longest, i) : 0;
    if (scratch > 0) intervals.push_back({arena_aligned(scratch), i, i, &blocks.scratch_offsets[i - group.first]});
  }
  for (std::size_t k = 0; k < group.inner.size(); ++k) {
    const SlotId id = group.inner[k];
    const std::size_t bytes = plan.slots[id].format.bytes(longest.shapes[id]);
    if (bytes > 0)
      intervals.push_back(
          {arena_aligned(bytes), group.inner_steps[k].first, group.inner_steps[k].second, &blocks.inner_offsets[k]});
  }
  const std::size_t pointers = arena_aligned(plan.slots.size() * sizeof(std::byte*));
  blocks.part_bytes = pointers + lay_out(intervals);
  for (const ArenaInterval& interval : intervals) *interval.offset += pointers;
}

// Sets the pointers of one block: the whole plan's, except for row-wise slots.
void point_block(const Plan& plan, const RowBlocks& blocks, const Frame& frame, std::size_t first_row, std::byte* part,
                 std::span<std::byte*> pointers) {
  std::ranges::copy(frame.pointers, pointers.begin());
  const RowGroup& group = *blocks.group;
  for (std::size_t k = 0; k < group.inner.size(); ++k) pointers[group.inner[k]] = part + blocks.inner_offsets[k];
  for (const SlotId id : group.inner_views) {
    const Slot& view = plan.slots[id];
    pointers[id] = pointers[view.base] + bytes_for(view.shape.dtype, view.offset);
  }
  for (const SlotId id : group.outer) pointers[id] += first_row * plan.slots[id].format.row_bytes(frame.shape(id));
}

// Merges the blocks' step times into the profile. The blocks run in parallel, so their total is divided by `threads`.
void merge_block_times(const std::vector<std::vector<backends::StepTime>>& told, std::size_t threads,
                       std::vector<backends::StepTime>& profile) {
  for (std::size_t i = 0; i < told.front().size(); ++i) {
    backends::StepTime sum = told.front()[i];
    for (std::size_t block = 1; block < told.size(); ++block) {
      sum.time += told[block][i].time;
      sum.work.flops += told[block][i].work.flops;
      sum.work.bytes += told[block][i].work.bytes;
    }
    sum.time /= threads;
    profile.push_back(sum);
  }
}

}  // namespace

std::size_t row_block_count(std::size_t rows, std::size_t workers, std::size_t weight_bytes) {
  const std::size_t fewest = weight_bytes > kCachedWeightBytes ? kFewestRowsFromMemory : kFewestRows;
  if (workers < 2 || rows < workers * fewest) return 1;
  const std::size_t most = workers * cache_blocks().token_rows;
  return (rows + most - 1) / most * workers;
}

void bind_row_groups(const Plan& plan, std::size_t workers, Binding& binding) {
  for (const RowGroup& group : plan.row_groups) {
    const auto rows = static_cast<std::size_t>((*binding.dims)(group.dim));
    const std::size_t count = row_block_count(rows, workers, plan.packed_weight_bytes);
    const std::int64_t fewest = plan.dims->entry(group.dim.id()).bounds.least;
    if (count < 2 || static_cast<std::int64_t>(rows / count) < fewest) continue;
    RowBlocks blocks;
    blocks.group = &group;
    blocks.rows = rows;
    blocks.blocks = count;
    const auto known =
        std::ranges::find_if(binding.row_blocks, [&](const RowBlocks& other) { return other.group->dim == group.dim; });
    if (known != binding.row_blocks.end()) {
      blocks.shorter = known->shorter;
      blocks.longer = known->longer;
    } else {
      blocks.shorter = shapes_of_block(plan, binding, group.dim, rows / count);
      blocks.longer = rows % count == 0 ? blocks.shorter : shapes_of_block(plan, binding, group.dim, rows / count + 1);
    }
    lay_out_part(plan, blocks);
    binding.row_blocks.push_back(std::move(blocks));
  }
}

void run_row_group(const Plan& plan, const RowBlocks& blocks, const Frame& frame, std::byte* arena) {
  const RowGroup& group = *blocks.group;
  std::vector<std::vector<backends::StepTime>> told(frame.options.profile != nullptr ? blocks.blocks : 0);
  frame.pool.parallel_for(blocks.blocks, frame.max_workers, [&](std::size_t block, std::size_t worker) {
    const std::size_t begin = blocks.rows * block / blocks.blocks, end = blocks.rows * (block + 1) / blocks.blocks;
    std::byte* part = arena + blocks.offset + worker * blocks.part_bytes;
    const std::span pointers(reinterpret_cast<std::byte**>(part), plan.slots.size());
    point_block(plan, blocks, frame, begin, part, pointers);
    backends::RunOptions options = frame.options;
    options.profile = told.empty() ? nullptr : &told[block];
    const bool is_short = end - begin == blocks.rows / blocks.blocks;
    Frame inner{is_short ? *blocks.shorter : *blocks.longer, pointers, frame.pool, 1, options};
    for (std::size_t i = group.first; i < group.end; ++i) {
      inner.scratch = part + blocks.scratch_offsets[i - group.first];
      run_step(plan, i, inner);
    }
  });
  if (!told.empty()) merge_block_times(told, std::min(frame.max_workers, blocks.blocks), *frame.options.profile);
}

}  // namespace alate::cpu
