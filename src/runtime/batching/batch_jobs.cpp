// A scheduler's jobs and their rows: how they enter, share rows, and end.
#include <algorithm>
#include <utility>

#include "runtime/batching/batch_scheduler_state.h"

namespace alate::runtime {

using RowState = SharedRow::State;

void place_values(QueuedJob& job, std::size_t i, std::span<const float> values) {
  BatchResult& result = job.result;
  const std::size_t begin = result.starts[i], width = result.starts[i + 1] - begin;
  if (width != values.size())
    throw make_error(ErrorCode::internal, "a row gave ", values.size(), " values where its job expects ", width);
  if (result.values.empty()) result.values.resize(result.starts.back());
  std::ranges::copy(values, result.values.begin() + static_cast<std::ptrdiff_t>(begin));
}

// Prepares a new job without the lock, as the one element of `out`.
QueuedJob& BatchScheduler::State::prepare(BatchJob&& job, Jobs& out) const {
  QueuedJob& made = out.emplace_back();
  made.job = std::move(job);
  made.submitted = Clock::now();
  made.slots.resize(made.job.rows.size());
  made.remaining = made.slots.size();
  made.result.starts.reserve(made.slots.size() + 1);
  made.result.starts.push_back(0);
  for (std::size_t i = 0; i < made.slots.size(); ++i) {
    auto row = std::make_shared<SharedRow>();
    row->program = made.job.program;
    row->width = row->program->width(made.job.rows[i]);
    made.result.starts.push_back(made.result.starts.back() + row->width);
    row->content = std::move(made.job.rows[i]);
    row->hash = hash_row(seed, row->program.get(), row->content);
    made.slots[i].job = &made;
    made.slots[i].row = std::move(row);
  }
  std::vector<BatchRow>().swap(made.job.rows);
  if (!made.is_task()) made.job.tokens = 0;
  return made;
}

// Returns how many rows need no computation. Throws when out of memory; the job is then not entered.
std::size_t BatchScheduler::State::enter(QueuedJob& job) {
  try {
    const std::size_t spared = enter_rows(job);
    if (job.is_task() || job.next_row() != nullptr) queue.add(job);
    task_tokens += job.job.tokens;
    next_deadline = std::min(next_deadline, job.job.deadline);
    return spared;
  } catch (...) {
    job.job.tokens = 0;
    detach(job);
    throw;
  }
}

// Answers rows from the cache, joins rows to equal unfinished ones, queues the others.
std::size_t BatchScheduler::State::enter_rows(QueuedJob& job) {
  std::size_t spared = 0, i = 0;
  try {
    for (; i < job.slots.size(); ++i) {
      RowSlot& slot = job.slots[i];
      SharedRow& row = *slot.row;
      if (const auto* values = cache.find(row.hash, row.program.get(), row.content, job.submitted)) {
        place_values(job, i, *values);
        slot.row.reset();
        --job.remaining;
        ++spared;
        continue;
      }
      const auto [place, is_new] = under_way.insert(&row);
      if (is_new) {
        row_tokens += row.tokens();
        queued_tokens += row.tokens();
      } else {
        if ((*place)->state != RowState::queued && !job.begun) job.begun = job.submitted;
        slot.row = (*place)->shared_from_this();
        ++spared;
      }
      slot.row->link(slot);
    }
  } catch (...) {
    for (; i < job.slots.size(); ++i) job.slots[i].row.reset();
    throw;
  }
  return spared;
}

// Removes the row from those that equal rows may join.
void BatchScheduler::State::close(SharedRow& row) {
  if (row.state == RowState::over) return;
  if (row.state == RowState::queued) queued_tokens -= row.tokens();
  row_tokens -= row.tokens();
  row.state = RowState::over;
  under_way.erase(&row);
}

void BatchScheduler::State::leave(RowSlot& slot) {
  const std::shared_ptr<SharedRow> row = std::move(slot.row);
  row->unlink(slot);
  if (row->waiting != nullptr || row->state == RowState::over) return;
  if (row->state == RowState::running) wanted.fetch_sub(1, std::memory_order_relaxed);
  close(*row);
}

void BatchScheduler::State::detach(QueuedJob& job) {
  for (RowSlot& slot : job.slots) {
    if (slot.row != nullptr) leave(slot);
  }
  queue.remove(job);
  task_tokens -= std::exchange(job.job.tokens, 0);
  if (running_task == &job) {
    wanted.store(0, std::memory_order_relaxed);
    running_task = nullptr;
  }
}

void BatchScheduler::State::finish(QueuedJob& job, std::exception_ptr error) {
  detach(job);
  if (error != nullptr) {
    job.result.error = std::move(error);
    job.result.values.clear();
  }
  const Clock::time_point now = Clock::now();
  job.result.queue = job.begun.value_or(now) - job.submitted;
  job.result.compute = job.begun ? now - *job.begun : Clock::duration{};
  job.finished = true;
  finished.splice(finished.end(), jobs, by_id.find(job.id)->second);
}

}  // namespace alate::runtime
