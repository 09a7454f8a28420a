// The queue of a scheduler's waiting jobs, and the choice of their next rows. Not synchronized: the scheduler holds its
// lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/batching/batch_scheduler.h"

namespace alate::runtime {

struct QueuedJob;
struct SharedRow;

/// A job's slot for one row: a link in the list of slots that wait for the row.
struct RowSlot {
  QueuedJob* job = nullptr;
  std::shared_ptr<SharedRow> row;  // null once the slot no longer waits
  RowSlot* previous = nullptr;
  RowSlot* next = nullptr;
};

/// A row that is computed once, for all jobs that wait for it.
struct SharedRow : std::enable_shared_from_this<SharedRow> {
  enum class State {
    queued,   // in the queues of all jobs that wait for it; the first one whose turn comes takes it
    taken,    // from a batch that failed: will be retried alone
    running,  // in the current call of the model
    over,     // computed, failed, or abandoned
  };

  std::shared_ptr<const BatchProgram> program;
  BatchRow content;
  std::size_t width = 0;   // its number of values
  std::uint64_t hash = 0;  // of program and content
  State state = State::queued;
  RowSlot* waiting = nullptr;  // the slots that wait for it, latest first

  /// Its cost.
  std::size_t tokens() const { return content.size(); }
  void link(RowSlot& slot);
  void unlink(RowSlot& slot);
};

struct ClientQueue;

struct QueuedJob {
  std::uint64_t id = 0;
  BatchJob job;  // its rows have been moved into the slots
  std::vector<RowSlot> slots;
  std::size_t next = 0;       // slots before this one are taken or done
  std::size_t remaining = 0;  // slots that have no value yet
  BatchResult result;
  BatchJob::Clock::time_point submitted;
  std::optional<BatchJob::Clock::time_point> begun;  // when the first of its rows was taken into a batch
  bool finished = false;                             // only the call of `done` is left
  ClientQueue* client = nullptr;                     // whose list holds the job, at `place`
  std::list<QueuedJob*>::iterator place;

  bool is_task() const { return static_cast<bool>(job.task); }
  /// Its next queued row, or null. Advances `next` past the rows before it.
  SharedRow* next_row();
};

/// A client's jobs, the one whose turn is next first.
struct ClientQueue {
  std::string name;
  std::list<QueuedJob*> jobs;
  std::int64_t allowance = 0;  // work it may still take this turn; negative: overdrawn by a large row
};

/// The next batch: rows of one program, or a task, or nothing.
struct NextBatch {
  std::vector<std::shared_ptr<SharedRow>> rows;
  std::size_t tokens = 0;
  QueuedJob* task = nullptr;

  bool empty() const { return rows.empty() && task == nullptr; }
};

/// Round robin over clients, and over each client's jobs. A turn adds a quantum of tokens to the client's allowance,
/// and one of its jobs takes rows until their work (batch_work.h) has used it up; a row that exceeds it is charged to
/// later turns.
class BatchQueue {
 public:
  explicit BatchQueue(const BatchSchedulerOptions& options);

  void add(QueuedJob& job);
  /// Does nothing for a job that is not in the queue (any more).
  void remove(QueuedJob& job);
  bool empty() const { return ring_.empty(); }
  /// Submission time of the job that has waited longest; time_point::max() when none waits.
  BatchJob::Clock::time_point oldest() const;
  bool has_task() const { return tasks_ > 0; }

  /// Fills `batch`, which must be empty. Its rows are no longer queued; a task is removed from the queue.
  void take(NextBatch& batch);

 private:
  using Ring = std::list<ClientQueue>;
  enum class Turn {
    moved,    // took something, or paid for what it took before
    waits,    // its next row or task does not fit into this batch
    nothing,  // had nothing left, and was removed
  };

  Turn turn(ClientQueue& client, NextBatch& batch);
  QueuedJob* next_job(ClientQueue& client, const NextBatch& batch);
  bool fits(QueuedJob& job, const NextBatch& batch) const;
  void take_rows(QueuedJob& job, NextBatch& batch);
  void drop(Ring::iterator client);
  std::int64_t charge(std::size_t tokens, std::size_t row_length) const;

  const std::size_t max_tokens_;
  const std::size_t even_row_length_;
  const std::int64_t quantum_;
  std::size_t tasks_ = 0;
  // For the batch being taken: the first job that does not fit into it, and how many did not.
  QueuedJob* passed_over_ = nullptr;
  std::size_t refusals_ = 0;
  Ring ring_;
  std::unordered_map<std::string_view, Ring::iterator> clients_;  // keys are the names in the ring
};

}  // namespace alate::runtime
