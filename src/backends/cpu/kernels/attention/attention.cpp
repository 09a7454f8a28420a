#include "backends/cpu/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/vectors/scratch.h"

namespace alate::cpu {
namespace {

// A task should take microseconds: long enough to be worth handing out, short enough to share the work evenly.
constexpr std::size_t kTaskCost = std::size_t{1} << 20;  // multiply-adds

// Fewer queries do not fill a vector of queries, and are not what packing a tile costs.
constexpr std::size_t kFewQueries = 8, kKeysPerFewQuery = 4;

/// One sequence's tasks: groups of its heads times blocks of its queries.
struct SequenceWork {
  std::size_t sequence = 0;
  std::size_t first_query = 0;
  std::size_t queries = 0;
  std::size_t first_key = 0;
  std::size_t first_place = 0;
  std::size_t keys = 0;  // visible keys
  std::size_t seen = 0;  // those that a query sees by its window, at most
  bool has_few_queries = false;
  std::size_t heads_per_task = 0;
  std::size_t queries_per_task = 0;
  std::size_t head_groups = 0;
  std::size_t first_task = 0;

  std::size_t scores() const { return queries * seen; }
};

WordKind kind_of(const AttentionArguments& a, const SequenceWork& work, const Kernels& set) {
  return a.rounds_operands ? rounded_operands(work.keys, a.rounds_to_bf16, set) : WordKind::f32;
}

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
  const std::ptrdiff_t right = a.causal ? 0 : a.window_right;
  work.seen = work.keys;
  if (a.window_left >= 0 && right >= 0)
    work.seen = std::min(work.seen, static_cast<std::size_t>(a.window_left + right) + 1);
  return work;
}

bool has_few_queries(const AttentionArguments& a, const SequenceWork& work, const Kernels& set) {
  return work.queries <= kFewQueries && work.keys >= kKeysPerFewQuery * work.queries && a.bias == nullptr &&
         a.query_distances == nullptr && a.key_distances == nullptr && kind_of(a, work, set) == WordKind::f32;
}

// Tasks are ranges of query heads: `share` tells how many, the sequence's part of all work times the workers. A task
// has whole groups of heads, which share keys and values, unless that leaves a worker much more than another.
void split_few_queries(const AttentionArguments& a, SequenceWork& work, double share) {
  // Keys and values of a tile, as many again that are fetched meanwhile, and the state stay in the second-level cache.
  constexpr std::size_t kTileBytes = std::size_t{1} << 18;
  const std::size_t group = a.heads / a.kv_heads;
  const std::size_t head_bytes = (a.head_size + a.value_size) * bytes_of(a.k.numbers) * kAttentionKeys;
  const auto parts = static_cast<std::size_t>(std::clamp(std::ceil(share), 1.0, static_cast<double>(a.heads)));
  std::size_t heads = (a.heads + parts - 1) / parts;
  if (a.kv_heads >= 4 * parts) heads = (heads + group - 1) / group * group;
  heads = std::min(heads, std::max<std::size_t>(kTileBytes / head_bytes, 1) * group);
  work.heads_per_task = std::min(heads, kMostFewRows / work.queries);
  work.queries_per_task = work.queries;
  work.head_groups = (a.heads + work.heads_per_task - 1) / work.heads_per_task;
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

AttentionTask task_of(const SequenceWork& work) {
  AttentionTask task;
  task.sequence = work.sequence;
  task.first_query = work.first_query;
  task.first_key = work.first_key;
  task.first_place = work.first_place;
  task.keys = work.keys;
  return task;
}

void run_few_queries(const AttentionArguments& a, const SequenceWork& work, std::size_t index, const Kernels& set) {
  const AttentionKernel& kernel = attention_kernel_for(WordKind::f32, set);
  AttentionTask task = task_of(work);
  task.query_end = work.queries;
  task.head = index * work.heads_per_task;
  task.heads = std::min(work.heads_per_task, a.heads - task.head);
  kernel.attend_few(a, task, thread_scratch(kernel.few_scratch_floats(a.head_size, a.value_size)));
}

void run_task(const AttentionArguments& a, const SequenceWork& work, std::size_t index, const Kernels& set) {
  if (work.has_few_queries) return run_few_queries(a, work, index, set);
  const AttentionKernel& kernel = attention_kernel_for(kind_of(a, work, set), set);
  float* scratch = thread_scratch(kernel.scratch_floats(a.head_size, a.value_size));
  AttentionTask task = task_of(work);
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
  std::size_t scores = 0;
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  for (std::size_t s = 0; s < arguments.sequences; ++s) {
    SequenceWork work = rows_of_sequence(arguments, s);
    if (work.queries == 0 || arguments.heads == 0) continue;
    work.has_few_queries = has_few_queries(arguments, work, set);
    plan.push_back(work);
    scores += work.scores();
  }
  // One for each worker, or so many that they end at about the same time.
  const double wanted_tasks = static_cast<double>(workers * (plan.size() > 1 ? 2 : 1));
  const std::size_t cost = scores * (arguments.head_size + arguments.value_size) * arguments.heads;
  for (SequenceWork& work : plan) {
    if (work.has_few_queries)
      split_few_queries(arguments, work,
                        wanted_tasks * static_cast<double>(work.scores()) / static_cast<double>(scores));
    else
      split_sequence(arguments, work);
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
