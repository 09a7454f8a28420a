#include "backends/cpu/kernels/attention/attention.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/vectors/scratch.h"

namespace alate::cpu {
namespace {

// A task should take microseconds: long enough to be worth handing out, short enough to share the work evenly.
constexpr std::size_t kTaskCost = std::size_t{1} << 20;  // multiply-adds

/// One sequence's tasks: groups of its heads times blocks of its queries.
struct SequenceWork {
  std::size_t sequence = 0;
  std::size_t first_query = 0;
  std::size_t queries = 0;
  std::size_t first_key = 0;
  std::size_t first_place = 0;
  std::size_t keys = 0;  // visible keys
  std::size_t heads_per_task = 0;
  std::size_t queries_per_task = 0;
  std::size_t head_groups = 0;
  std::size_t first_task = 0;

  std::size_t scores() const { return queries * keys; }
};

SequenceWork rows_of_sequence(const AttentionArguments& a, std::size_t sequence) {
  SequenceWork work;
  work.sequence = sequence;
  if (a.starts == nullptr) {
    work.queries = a.queries;
    work.keys = a.keys;
    work.first_query = sequence * a.queries;
    work.first_key = sequence * a.keys;
  } else {
    work.queries = work.keys = static_cast<std::size_t>(std::max(a.lengths[sequence], 0));
    work.first_query = work.first_key = static_cast<std::size_t>(a.starts[sequence]);
  }
  if (a.k.table != nullptr) {
    work.first_key = 0;
    work.keys = static_cast<std::size_t>(a.key_lengths[sequence]);
    work.first_place = work.keys - work.queries;
  } else if (a.key_lengths != nullptr) {
    work.keys = std::min(work.keys, static_cast<std::size_t>(std::max(a.key_lengths[sequence], 0)));
  }
  return work;
}

void split_sequence(const AttentionArguments& a, SequenceWork& work) {
  const std::size_t query_cost = std::max<std::size_t>(work.keys * (a.head_size + a.value_size), 1);
  const std::size_t block = std::max<std::size_t>(kTaskCost / query_cost, 1);
  // Multiples of 32 fill the vectors of every instruction set.
  work.queries_per_task = std::clamp<std::size_t>(block / 32 * 32, 64, kAttentionQueries);
  const std::size_t head_cost = query_cost * std::min(work.queries, work.queries_per_task);
  work.heads_per_task = std::clamp<std::size_t>(kTaskCost / 4 / std::max<std::size_t>(head_cost, 1), 1, a.heads);
  work.head_groups = (a.heads + work.heads_per_task - 1) / work.heads_per_task;
}

std::size_t tasks_of(const SequenceWork& work) {
  return work.head_groups * ((work.queries + work.queries_per_task - 1) / work.queries_per_task);
}

void run_task(const AttentionArguments& a, const SequenceWork& work, std::size_t index, const Kernels& set) {
  const WordKind kind = a.rounds_operands ? rounded_operands(work.keys, a.rounds_to_bf16, set) : WordKind::f32;
  const AttentionKernel& kernel = attention_kernel_for(kind, set);
  float* scratch = thread_scratch(kernel.scratch_floats(a.head_size, a.value_size));
  AttentionTask task;
  task.sequence = work.sequence;
  task.first_query = work.first_query;
  task.first_key = work.first_key;
  task.first_place = work.first_place;
  task.keys = work.keys;
  task.query_begin = index / work.head_groups * work.queries_per_task;
  task.query_end = std::min(task.query_begin + work.queries_per_task, work.queries);
  const std::size_t first_head = index % work.head_groups * work.heads_per_task;
  const std::size_t end_head = std::min(first_head + work.heads_per_task, a.heads);
  for (task.head = first_head; task.head < end_head; ++task.head) kernel.attend(a, task, scratch);
}

}  // namespace

WordKind rounded_operands(std::size_t keys, bool rounds_to_bf16, const Kernels& set) {
  // With few keys, rounding costs as much as it saves.
  constexpr std::size_t kFewestKeys = 24;
  if (keys < kFewestKeys) return WordKind::f32;
  if (rounds_to_bf16 && attention_kernel_for(WordKind::bf16, set).attend != nullptr) return WordKind::bf16;
  return attention_kernel_for(WordKind::shorts, set).attend != nullptr ? WordKind::shorts : WordKind::f32;
}

void attend_sequences(const AttentionArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                      const Kernels& set) {
  // Kept between calls, so that runs do not allocate. Workers read the caller's copy through `plan`.
  thread_local std::vector<SequenceWork> plan_storage;
  std::vector<SequenceWork>& plan = plan_storage;
  plan.clear();
  std::size_t cost = 0;
  for (std::size_t s = 0; s < arguments.sequences; ++s) {
    SequenceWork work = rows_of_sequence(arguments, s);
    if (work.queries == 0 || arguments.heads == 0) continue;
    split_sequence(arguments, work);
    plan.push_back(work);
    cost += work.scores() * (arguments.head_size + arguments.value_size) * arguments.heads;
  }
  // Longest first, so that small tasks are left for the end.
  std::sort(plan.begin(), plan.end(), [](const SequenceWork& a, const SequenceWork& b) {
    return a.scores() != b.scores() ? a.scores() > b.scores() : a.sequence < b.sequence;
  });
  std::size_t tasks = 0;
  for (SequenceWork& work : plan) {
    work.first_task = tasks;
    tasks += tasks_of(work);
  }
  const auto run = [&](std::size_t index, std::size_t) {
    const auto next = std::upper_bound(plan.begin(), plan.end(), index,
                                       [](std::size_t i, const SequenceWork& work) { return i < work.first_task; });
    const SequenceWork& work = *(next - 1);
    run_task(arguments, work, index - work.first_task, set);
  };
  if (cost < kParallelThreshold * 8) {
    for (std::size_t index = 0; index < tasks; ++index) run(index, 0);
  } else {
    pool.parallel_for(tasks, max_workers, run);
  }
}

}  // namespace alate::cpu
