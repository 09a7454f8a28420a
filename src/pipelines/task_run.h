// A call of a task in stages, for all who run one: the library, the command line, a server that batches the rows of
// many clients.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "alate/run_control.h"
#include "backends/backend.h"
#include "base/threads/cancellation.h"
#include "pipelines/text_rows.h"
#include "runtime/batching/batch_program.h"
#include "runtime/run_rows.h"

namespace alate::pipelines {

/// What a program computed of a task's rows.
class RowResults {
 public:
  /// `tokens` and `numbers` are counts of each row.
  RowResults(const TextRows& rows, std::span<const std::size_t> tokens, std::span<const std::size_t> numbers,
             std::span<const float> values, const base::Cancellation& cancellation);

  std::size_t count() const { return rows_.inputs.size(); }
  std::size_t input(std::size_t row) const { return rows_.inputs[row]; }
  std::size_t tokens(std::size_t row) const { return tokens_[row]; }
  /// Only of rows with offsets.
  const Encoding& encoding(std::size_t row) const { return rows_.encodings[row]; }
  /// All numbers of a row: those of the first output, then those of the next.
  std::span<const float> of(std::size_t row) const;
  /// Of the call: whoever makes answers of the numbers asks it in long loops.
  const base::Cancellation& cancellation() const { return cancellation_; }

 private:
  const TextRows& rows_;
  std::span<const std::size_t> tokens_;
  std::span<const float> values_;
  std::vector<std::size_t> starts_;
  base::Cancellation cancellation_;
};

/// Calls `each` for each input that has rows, which are [begin, end). Throws cancelled between them.
void for_each_input(const RowResults& results,
                    const std::function<void(std::size_t input, std::size_t begin, std::size_t end)>& each);

/// One call. Its functions are called once each and in this order, on any threads.
class TaskRun {
 public:
  virtual ~TaskRun() = default;
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;

  /// Makes the rows. Throws as make_text_rows, and invalid_argument for options that the model cannot meet. The texts
  /// must live until it returns, or longer where the task says so.
  PreparedRows prepare(const base::Cancellation& cancellation);
  /// What computes them; compiled at its first use, which may be `prepare`.
  virtual std::shared_ptr<const runtime::BatchProgram> program() const = 0;
  /// Makes the answer of their numbers. Throws cancelled.
  void finish(std::span<const float> values, const base::Cancellation& cancellation);

  /// How many texts are asked about.
  virtual std::size_t size() const = 0;
  /// Indices of the texts that have no answer, because they are too long and are not to be cut; ascending.
  const std::vector<std::size_t>& too_long() const { return rows_.too_long; }
  /// What a message says of these: " has more than the 512 tokens that the model takes".
  virtual std::string excess() const = 0;
  /// Indices of the texts that were cut, ascending.
  const std::vector<std::size_t>& truncated() const { return truncated_; }
  std::size_t tokens() const { return tokens_; }

 protected:
  TaskRun() = default;
  virtual TextRows make_rows(const base::Cancellation& cancellation) = 0;
  virtual void take(const RowResults& results) = 0;

 private:
  TextRows rows_;  // without the rows themselves
  std::vector<std::size_t> row_tokens_, row_numbers_, truncated_;
  std::size_t tokens_ = 0;
};

/// Computes prepared rows and finishes. `computed` is told how many of the texts are done. Throws as
/// TaskRun::program and runtime::run_rows.
void run_prepared(TaskRun& task, PreparedRows prepared, const runtime::RowBudget& budget,
                  const backends::RunOptions& options, const std::function<void(std::size_t)>& computed = {});
/// A whole call of the library under its control. Throws invalid_argument for a text that is too long, as TaskRun and
/// as run_prepared.
void run_task(TaskRun& task, const runtime::RowBudget& budget, const RunControl& control);

}  // namespace alate::pipelines
