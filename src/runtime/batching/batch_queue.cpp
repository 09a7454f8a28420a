#include "runtime/batching/batch_queue.h"

#include <algorithm>
#include <utility>

#include "runtime/batching/batch_work.h"

namespace alate::runtime {
namespace {

// Most jobs that are tried in vain for one batch, so that forming it takes microseconds with thousands waiting.
constexpr std::size_t kMostRefusals = 256;

constexpr std::size_t kMostBatchesCharged = 64;

}  // namespace

void SharedRow::link(RowSlot& slot) {
  slot.previous = nullptr;
  slot.next = waiting;
  if (waiting != nullptr) waiting->previous = &slot;
  waiting = &slot;
}

void SharedRow::unlink(RowSlot& slot) {
  if (slot.previous != nullptr) slot.previous->next = slot.next;
  if (slot.next != nullptr) slot.next->previous = slot.previous;
  if (waiting == &slot) waiting = slot.next;
  slot.previous = slot.next = nullptr;
}

SharedRow* QueuedJob::next_row() {
  for (; next < slots.size(); ++next) {
    SharedRow* row = slots[next].row.get();
    if (row != nullptr && row->state == SharedRow::State::queued) return row;
  }
  return nullptr;
}

BatchQueue::BatchQueue(const BatchSchedulerOptions& options)
    : max_tokens_(std::max<std::size_t>(options.max_tokens, 1)),
      even_row_length_(options.even_row_length),
      quantum_(static_cast<std::int64_t>(std::max<std::size_t>(options.max_tokens / 4, 1))) {}

// A client's charge for so many tokens in rows of this length. It is capped: however long a task claims to be, it sets
// its client back by a limited number of batches.
std::int64_t BatchQueue::charge(std::size_t tokens, std::size_t row_length) const {
  return static_cast<std::int64_t>(
      std::min(batch_work(tokens, row_length, even_row_length_), kMostBatchesCharged * max_tokens_));
}

void BatchQueue::add(QueuedJob& job) {
  const auto found = clients_.find(job.job.client);
  Ring::iterator client;
  if (found != clients_.end()) {
    client = found->second;
  } else {
    client = ring_.insert(ring_.end(), ClientQueue{.name = job.job.client, .jobs = {}});
    try {
      clients_.emplace(client->name, client);
    } catch (...) {
      ring_.erase(client);
      throw;
    }
  }
  job.place = client->jobs.insert(client->jobs.end(), &job);
  job.client = &*client;
  if (job.is_task()) ++tasks_;
}

void BatchQueue::remove(QueuedJob& job) {
  if (job.client == nullptr) return;
  ClientQueue& client = *std::exchange(job.client, nullptr);
  client.jobs.erase(job.place);
  if (job.is_task()) --tasks_;
  if (client.jobs.empty()) drop(clients_.find(client.name)->second);
}

void BatchQueue::drop(Ring::iterator client) {
  clients_.erase(client->name);
  ring_.erase(client);
}

BatchJob::Clock::time_point BatchQueue::oldest() const {
  auto oldest = BatchJob::Clock::time_point::max();
  for (const ClientQueue& client : ring_)
    for (const QueuedJob* job : client.jobs) oldest = std::min(oldest, job->submitted);
  return oldest;
}

void BatchQueue::take(NextBatch& batch) {
  passed_over_ = nullptr;
  refusals_ = 0;
  const auto has_room = [&] {
    return batch.task == nullptr && batch.tokens < max_tokens_ && refusals_ < kMostRefusals;
  };
  for (bool moved = true; moved && has_room();) {
    moved = false;
    // Clients that have had a turn are behind those that this pass has yet to visit.
    auto client = ring_.begin();
    for (std::size_t left = ring_.size(); left > 0 && has_room(); --left) {
      const auto current = client++;
      switch (turn(*current, batch)) {
        case Turn::moved:
          moved = true;
          ring_.splice(ring_.end(), ring_, current);
          break;
        case Turn::waits: break;
        case Turn::nothing: drop(current); break;
      }
    }
  }
  if (batch.task != nullptr) remove(*batch.task);
  // The first job passed over, for its kind or for lack of room, begins the next batch: else it could wait for ever.
  if (passed_over_ != nullptr && passed_over_->client != nullptr) {
    ClientQueue& client = *passed_over_->client;
    client.jobs.splice(client.jobs.begin(), client.jobs, passed_over_->place);
    ring_.splice(ring_.begin(), ring_, clients_.find(client.name)->second);
  }
}

bool BatchQueue::fits(QueuedJob& job, const NextBatch& batch) const {
  if (batch.empty()) return true;
  if (job.is_task() || job.job.program != batch.rows.front()->program) return false;
  const SharedRow* row = job.next_row();
  return row != nullptr && batch.tokens + row->tokens() <= max_tokens_;
}

// The client's first job that can add to the batch, or null. Jobs whose rows have all been taken for others leave the
// queue: they only wait for results.
QueuedJob* BatchQueue::next_job(ClientQueue& client, const NextBatch& batch) {
  for (auto place = client.jobs.begin(); place != client.jobs.end() && refusals_ < kMostRefusals;) {
    QueuedJob& job = **place;
    if (!job.is_task() && job.next_row() == nullptr) {
      job.client = nullptr;
      place = client.jobs.erase(place);
      continue;
    }
    if (fits(job, batch)) return &job;
    if (passed_over_ == nullptr) passed_over_ = &job;
    ++refusals_;
    ++place;
  }
  return nullptr;
}

BatchQueue::Turn BatchQueue::turn(ClientQueue& client, NextBatch& batch) {
  QueuedJob* job = next_job(client, batch);
  if (job == nullptr && client.jobs.empty()) return Turn::nothing;
  // A client that finds no room keeps the turn's quantum, up to half a batch.
  client.allowance = std::min(client.allowance + quantum_, 2 * quantum_);
  if (job == nullptr) return Turn::waits;
  for (; job != nullptr && client.allowance > 0; job = next_job(client, batch)) {
    if (job->is_task()) {
      client.allowance -= charge(job->job.tokens, job->job.row_length);
      batch.task = job;
      break;
    }
    take_rows(*job, batch);
    if (job->next_row() != nullptr) {
      client.jobs.splice(client.jobs.end(), client.jobs, job->place);
      break;
    }
    client.jobs.erase(job->place);
    job->client = nullptr;
  }
  return Turn::moved;
}

// Takes rows until the client's allowance is used up, the batch is full or the job has no more.
void BatchQueue::take_rows(QueuedJob& job, NextBatch& batch) {
  std::int64_t& allowance = job.client->allowance;
  while (allowance > 0 && fits(job, batch)) {
    SharedRow* row = job.next_row();
    if (row == nullptr) return;
    batch.rows.push_back(job.slots[job.next].row);
    row->state = SharedRow::State::running;
    batch.tokens += row->tokens();
    allowance -= charge(row->tokens(), row->tokens());
  }
}

}  // namespace alate::runtime
