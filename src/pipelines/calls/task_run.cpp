#include "pipelines/calls/task_run.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"

namespace alate::pipelines {

namespace {

std::size_t bytes_of(const Encoding& encoding) {
  const std::size_t of_token =
      sizeof(std::int32_t) + (encoding.offsets.empty() ? 0 : 2 * sizeof(Encoding::Offsets) + 6);
  return sizeof(Encoding) + encoding.ids.size() * of_token;
}

}  // namespace

RowResults::RowResults(const TextRows& rows, std::size_t first, std::size_t end, std::size_t first_text,
                       std::span<const std::size_t> tokens, std::span<const std::size_t> numbers,
                       std::span<const float> values, const base::Cancellation& cancellation, std::vector<float>* kept)
    : rows_(rows),
      first_(first),
      end_(end),
      first_text_(first_text),
      tokens_(tokens),
      values_(values),
      kept_(kept),
      starts_{0},
      cancellation_(cancellation) {
  for (const std::size_t count : numbers.subspan(first, end - first)) starts_.push_back(starts_.back() + count);
}

std::span<const float> RowResults::of(std::size_t row) const {
  return values_.subspan(starts_[row], starts_[row + 1] - starts_[row]);
}

std::vector<float> RowResults::take_all() const {
  return kept_ != nullptr ? std::move(*kept_) : std::vector<float>(values_.begin(), values_.end());
}

void for_each_input(const RowResults& results, const std::function<void(const InputRange& range)>& each) {
  for (std::size_t begin = 0, end = 0; begin < results.count(); begin = end) {
    results.cancellation().check();
    const std::size_t input = results.input(begin);
    while (end < results.count() && results.input(end) == input) ++end;
    each({.input = input, .begin = begin, .end = end, .is_last = end < results.count() || !results.goes_on()});
  }
}

void TaskRun::limit(const CallLimits& limits) {
  limits_ = limits;
  token_budget_ = std::make_unique<TokenBudget>(limits.row_tokens);
  answer_budget_ = AnswerBudget(limits.answer_bytes);
}

std::span<const std::string_view> TaskRun::next_texts(std::span<const std::string_view> texts, LongTexts treatment) {
  const std::size_t first = next_text_;
  std::size_t bytes = 0;
  while (next_text_ < texts.size() && (next_text_ == first || treatment == LongTexts::error ||
                                       bytes + texts[next_text_].size() <= limits_.piece_bytes))
    bytes += texts[next_text_++].size();
  return texts.subspan(first, next_text_ - first);
}

void TaskRun::make_more(const base::Cancellation& cancellation) {
  first_text_ = next_text_;
  begin_ = end_ = 0;
  rows_ = {};  // not beside the next ones
  rows_ = make_rows(cancellation);
  if (pieces() != Pieces::rows) next_text_ = size();
  const std::shared_ptr<const runtime::BatchProgram> made = rows_.prepared.rows.empty() ? nullptr : program();
  row_tokens_.clear();
  row_numbers_.clear();
  for (const runtime::BatchRow& row : rows_.prepared.rows) {
    row_tokens_.push_back(row.ids.size());
    row_numbers_.push_back(made->width(row));
    tokens_ += row.ids.size();
  }
  for (const std::size_t text : rows_.prepared.truncated) truncated_.push_back(first_text_ + text);
  for (const std::size_t text : rows_.too_long) too_long_.push_back(first_text_ + text);
}

PreparedRows TaskRun::prepare(const base::Cancellation& cancellation) {
  begin_ = end_;
  const std::size_t cut_before = truncated_.size();
  while (begin_ == row_tokens_.size() && (!has_begun_ || next_text_ < size())) {
    has_begun_ = true;
    make_more(cancellation);
  }
  const bool is_whole = pieces() == Pieces::whole;
  std::size_t numbers = 0;
  while (end_ < row_tokens_.size() &&
         (is_whole || end_ == begin_ || numbers + row_numbers_[end_] <= limits_.piece_numbers))
    numbers += row_numbers_[end_++];
  PreparedRows piece;
  const auto from = rows_.prepared.rows.begin();
  piece.rows.assign(std::make_move_iterator(from + static_cast<std::ptrdiff_t>(begin_)),
                    std::make_move_iterator(from + static_cast<std::ptrdiff_t>(end_)));
  piece.truncated.assign(truncated_.begin() + static_cast<std::ptrdiff_t>(cut_before), truncated_.end());
  return piece;
}

bool TaskRun::has_more() const { return end_ < row_tokens_.size() || (has_begun_ && next_text_ < size()); }

std::size_t TaskRun::prepared_texts() const {
  return end_ < row_tokens_.size() ? first_text_ + rows_.inputs[end_] : next_text_;
}

std::size_t TaskRun::held_bytes() const {
  std::size_t bytes = 0;
  for (const Encoding& encoding : rows_.encodings) bytes += bytes_of(encoding);
  for (std::size_t row = end_; row < row_tokens_.size(); ++row) bytes += row_tokens_[row] * sizeof(std::int32_t);
  return bytes;
}

void TaskRun::finish(std::span<const float> values, const base::Cancellation& cancellation) {
  finish_piece(values, nullptr, cancellation);
}

void TaskRun::finish_in_place(std::vector<float> values, const base::Cancellation& cancellation) {
  finish_piece(values, &values, cancellation);
}

void TaskRun::finish_piece(std::span<const float> values, std::vector<float>* kept,
                           const base::Cancellation& cancellation) {
  take(RowResults(rows_, begin_, end_, first_text_, row_tokens_, row_numbers_, values, cancellation, kept));
  if (!has_more()) rows_ = {};
}

void run_prepared(TaskRun& task, PreparedRows prepared, const runtime::RowBudget& budget,
                  const backends::RunOptions& options, const std::function<void(std::size_t)>& computed) {
  for (std::size_t before = 0;; prepared = task.prepare(options.cancellation)) {
    const std::size_t texts = task.prepared_texts() - before, rows = prepared.rows.size();
    std::size_t rows_done = 0, told = 0;
    const auto told_of_texts = [&](std::size_t more) {
      rows_done += more;
      const std::size_t done = rows_done * texts / rows;
      if (done > told) computed(done - std::exchange(told, done));
    };
    const Tensor values = runtime::run_rows(*task.program(), prepared.rows, budget, options,
                                            computed ? std::function<void(std::size_t)>(told_of_texts) : nullptr)
                              .values;
    task.finish(values.values<float>(), options.cancellation);
    if (!task.has_more()) return;
    before += texts;
  }
}

void run_task(TaskRun& task, const runtime::RowBudget& budget, const backends::RunOptions& options,
              const std::function<void(std::size_t)>& computed) {
  PreparedRows prepared = task.prepare(options.cancellation);
  if (!task.too_long().empty())
    throw make_error(ErrorCode::invalid_argument, "text ", task.too_long().front() + 1, task.excess(),
                     "; shorten it, or let it be cut or read in windows");
  run_prepared(task, std::move(prepared), budget, options, computed);
}

void run_task(TaskRun& task, const runtime::RowBudget& budget, const RunControl& control) {
  base::run_controlled(control, [&](const base::ControlledCall& call) {
    const auto computed = call.computed_of(task.size());
    const backends::RunOptions options{.cancellation = call.cancellation()};
    run_task(task, budget, options, computed);
  });
}

}  // namespace alate::pipelines
