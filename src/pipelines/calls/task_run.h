// A call of a task in stages, for all who run one: the library, the command line, a server that batches the rows of
// many clients.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/run_control.h"
#include "backends/backend.h"
#include "base/threads/cancellation.h"
#include "pipelines/calls/call_limits.h"
#include "pipelines/calls/text_rows.h"
#include "runtime/batching/batch_program.h"
#include "runtime/run_rows.h"

namespace alate::pipelines {

/// What a program computed of a piece of a task's rows.
class RowResults {
 public:
  /// The rows [first, end) of `rows`, whose texts are counted from `first_text` on. `tokens` and `numbers` are counts
  /// of each row of `rows`.
  RowResults(const TextRows& rows, std::size_t first, std::size_t end, std::size_t first_text,
             std::span<const std::size_t> tokens, std::span<const std::size_t> numbers, std::span<const float> values,
             const base::Cancellation& cancellation, std::vector<float>* kept = nullptr);

  std::size_t count() const { return end_ - first_; }
  /// The first row's index among those that make_rows gave, and the first text that these are made of.
  std::size_t first_row() const { return first_; }
  std::size_t first_text() const { return first_text_; }
  /// The text that a row is read from, among all texts of the call.
  std::size_t input(std::size_t row) const { return first_text_ + rows_.inputs[first_ + row]; }
  std::size_t tokens(std::size_t row) const { return tokens_[first_ + row]; }
  /// Only of rows with details.
  const Encoding& encoding(std::size_t row) const { return rows_.encodings[first_ + row]; }
  /// All numbers of a row: those of the first output, then those of the next.
  std::span<const float> of(std::size_t row) const;
  /// The numbers of all rows; not copied after TaskRun::finish_in_place. They can be taken once.
  std::vector<float> take_all() const;
  /// Of the call: whoever makes answers of the numbers asks it in long loops.
  const base::Cancellation& cancellation() const { return cancellation_; }
  /// Whether the text of the last row has more rows, in the next piece.
  bool goes_on() const { return end_ < rows_.inputs.size() && rows_.inputs[end_] == rows_.inputs[end_ - 1]; }

 private:
  const TextRows& rows_;
  std::size_t first_, end_, first_text_;
  std::span<const std::size_t> tokens_;
  std::span<const float> values_;
  std::vector<float>* kept_;  // has them too; null: the caller keeps them
  std::vector<std::size_t> starts_;
  base::Cancellation cancellation_;
};

/// The rows [begin, end) of one text.
struct InputRange {
  std::size_t input = 0, begin = 0, end = 0;
  bool is_last = true;  // no rows of the text follow in the next piece
};

/// Calls `each` for each input that has rows.
void for_each_input(const RowResults& results, const std::function<void(const InputRange& range)>& each);

/// One call. A task that answers text by text makes its rows in pieces, so that rows and numbers of a piece are all
/// that is held: `prepare`, then `finish` with the numbers of these rows, as long as there is more.
class TaskRun {
 public:
  virtual ~TaskRun() = default;
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;

  /// Limits in place of the library's. Call before `prepare`.
  void limit(const CallLimits& limits);

  /// Makes the rows of the first piece, or the next one. Throws as make_text_rows, invalid_argument for options that
  /// the model cannot meet, and resource_exhausted over a limit. The texts must live until the last piece is prepared,
  /// or longer where the task says so.
  PreparedRows prepare(const base::Cancellation& cancellation);
  /// What computes them; compiled at its first use, which may be `prepare`.
  virtual std::shared_ptr<const runtime::BatchProgram> program() const = 0;
  /// Reads their numbers; the answer is made when there is no more. Throws resource_exhausted over a limit, and
  /// cancelled.
  void finish(std::span<const float> values, const base::Cancellation& cancellation);
  /// The same with numbers that the answer may be made in, so that those of a large answer are there once.
  void finish_in_place(std::vector<float> values, const base::Cancellation& cancellation);
  /// Whether there is another piece; after `prepare`.
  bool has_more() const;
  /// Bytes that are held until the piece is finished, besides its prepared rows and their numbers: an estimate.
  std::size_t held_bytes() const;

  /// How many texts are asked about.
  virtual std::size_t size() const = 0;
  /// Indices of the texts that have no answer, because they are too long and are not to be cut; ascending.
  const std::vector<std::size_t>& too_long() const { return too_long_; }
  /// What a message says of these: " has more than the 512 tokens that the model takes".
  virtual std::string excess() const = 0;
  /// Indices of the texts that were cut, ascending.
  const std::vector<std::size_t>& truncated() const { return truncated_; }
  std::size_t tokens() const { return tokens_; }
  /// Of the answer so far, as AnswerBudget counts.
  std::size_t answer_bytes() const { return answer_budget_.taken(); }
  /// The texts, from the first on, of which all rows have been prepared.
  std::size_t prepared_texts() const;

 protected:
  /// What a piece is: all rows, or any that follow each other, of texts that are all read at first or piece by piece.
  enum class Pieces { whole, of_all_texts, rows };

  TaskRun() = default;
  virtual Pieces pieces() const { return Pieces::whole; }
  /// Where pieces are rows, those of the next texts (`next_texts`), which have indices from 0 on, else the rows of all
  /// texts.
  virtual TextRows make_rows(const base::Cancellation& cancellation) = 0;
  virtual void take(const RowResults& results) = 0;

  /// The texts that the next rows are to be made of: one at least, and as many as are tokenized at a time. All, where a
  /// text that is too long ends the call, which is then found before anything is computed.
  std::span<const std::string_view> next_texts(std::span<const std::string_view> texts, LongTexts treatment);

  const CallLimits& limits() const { return limits_; }
  TokenBudget& token_budget() { return *token_budget_; }
  AnswerBudget& answer_budget() { return answer_budget_; }

 private:
  void make_more(const base::Cancellation& cancellation);
  void finish_piece(std::span<const float> values, std::vector<float>* kept, const base::Cancellation& cancellation);

  CallLimits limits_;
  std::unique_ptr<TokenBudget> token_budget_ = std::make_unique<TokenBudget>();
  AnswerBudget answer_budget_;
  TextRows rows_;                               // those that make_rows gave last; of `prepared` those that are left
  std::size_t first_text_ = 0, next_text_ = 0;  // of these rows, and of the next ones
  std::size_t begin_ = 0, end_ = 0;             // the piece
  bool has_begun_ = false;
  std::vector<std::size_t> row_tokens_, row_numbers_, truncated_, too_long_;
  std::size_t tokens_ = 0;
};

/// Computes prepared rows, and those of the other pieces, and finishes. `computed` is told how many of the texts are
/// done. Throws as TaskRun and runtime::run_rows.
void run_prepared(TaskRun& task, PreparedRows prepared, const runtime::RowBudget& budget,
                  const backends::RunOptions& options, const std::function<void(std::size_t)>& computed = {});
/// A whole call. Throws invalid_argument for a text that is too long, as TaskRun and as run_prepared.
void run_task(TaskRun& task, const runtime::RowBudget& budget, const backends::RunOptions& options,
              const std::function<void(std::size_t)>& computed = {});
/// A whole call of the library under its control. Throws as the function before.
void run_task(TaskRun& task, const runtime::RowBudget& budget, const RunControl& control);

}  // namespace alate::pipelines
