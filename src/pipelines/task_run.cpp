#include "pipelines/task_run.h"

#include <string>
#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"

namespace alate::pipelines {

RowResults::RowResults(const TextRows& rows, std::span<const std::size_t> tokens, std::span<const std::size_t> numbers,
                       std::span<const float> values, const base::Cancellation& cancellation)
    : rows_(rows), tokens_(tokens), values_(values), starts_{0}, cancellation_(cancellation) {
  for (const std::size_t count : numbers) starts_.push_back(starts_.back() + count);
}

std::span<const float> RowResults::of(std::size_t row) const {
  return values_.subspan(starts_[row], starts_[row + 1] - starts_[row]);
}

void for_each_input(const RowResults& results,
                    const std::function<void(std::size_t input, std::size_t begin, std::size_t end)>& each) {
  for (std::size_t begin = 0, end = 0; begin < results.count(); begin = end) {
    results.cancellation().check();
    const std::size_t input = results.input(begin);
    while (end < results.count() && results.input(end) == input) ++end;
    each(input, begin, end);
  }
}

PreparedRows TaskRun::prepare(const base::Cancellation& cancellation) {
  rows_ = make_rows(cancellation);
  PreparedRows prepared = std::exchange(rows_.prepared, {});
  const runtime::RowWidth width = prepared.rows.empty() ? runtime::RowWidth() : program()->width();
  for (const runtime::BatchRow& row : prepared.rows) {
    row_tokens_.push_back(row.ids.size());
    row_numbers_.push_back(width.of(row));
  }
  truncated_ = prepared.truncated;
  tokens_ = prepared.tokens();
  return prepared;
}

void TaskRun::finish(std::span<const float> values, const base::Cancellation& cancellation) {
  take(RowResults(rows_, row_tokens_, row_numbers_, values, cancellation));
}

void run_prepared(TaskRun& task, PreparedRows prepared, const runtime::RowBudget& budget,
                  const backends::RunOptions& options, const std::function<void(std::size_t)>& computed) {
  const std::size_t texts = task.size(), rows = prepared.rows.size();
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
}

void run_task(TaskRun& task, const runtime::RowBudget& budget, const RunControl& control) {
  base::run_controlled(control, [&](const base::ControlledCall& call) {
    const auto computed = call.computed_of(task.size());
    PreparedRows prepared = task.prepare(call.cancellation());
    if (!task.too_long().empty())
      throw make_error(ErrorCode::invalid_argument, "text ", task.too_long().front() + 1, task.excess(),
                       "; shorten it, or let it be cut or read in windows");
    run_prepared(task, std::move(prepared), budget, {.cancellation = call.cancellation()}, computed);
  });
}

}  // namespace alate::pipelines
