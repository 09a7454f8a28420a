#include "runtime/run_rows.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "alate/error.h"

namespace alate::runtime {
namespace {

// Longest first; rows of equal length keep their order.
std::vector<const BatchRow*> by_length(std::span<const BatchRow> rows) {
  std::vector<const BatchRow*> order;
  order.reserve(rows.size());
  for (const BatchRow& row : rows) order.push_back(&row);
  std::ranges::stable_sort(order, std::ranges::greater(), [](const BatchRow* row) { return row->ids.size(); });
  return order;
}

// How many of the next rows fit into a batch, at least one.
std::size_t batch_of(std::span<const BatchRow* const> next, const RowBudget& budget) {
  std::size_t tokens = 0, count = 0;
  for (const BatchRow* row : next) {
    tokens += row->size();
    const bool is_full = tokens > budget.tokens || (budget.rows > 0 && count >= budget.rows);
    if (is_full && count > 0) break;
    ++count;
  }
  return count;
}

}  // namespace

RowValues run_rows(const BatchProgram& program, std::span<const BatchRow> rows, const RowBudget& budget,
                   const backends::RunOptions& options, const std::function<void(std::size_t)>& computed) {
  if (budget.tokens < 1) throw Error(ErrorCode::invalid_argument, "batch_tokens must be at least 1");
  RowValues result;
  result.starts.reserve(rows.size() + 1);
  result.starts.push_back(0);
  for (const BatchRow& row : rows) result.starts.push_back(result.starts.back() + program.width(row));
  result.values = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(result.starts.back())}});
  const std::span<float> all = result.values.mutable_values<float>();
  const std::vector<const BatchRow*> order = by_length(rows);
  for (std::span<const BatchRow* const> next = order; !next.empty();) {
    const std::span<const BatchRow* const> batch = next.first(batch_of(next, budget));
    const Tensor outputs = program.run_rows(batch, options);
    std::span<const float> values = outputs.values<float>();
    for (const BatchRow* row : batch) {
      const auto place = static_cast<std::size_t>(row - rows.data());
      const std::size_t begin = result.starts[place], count = result.starts[place + 1] - begin;
      std::ranges::copy(values.first(count), all.subspan(begin).begin());
      values = values.subspan(count);
    }
    next = next.subspan(batch.size());
    if (computed) computed(batch.size());
  }
  return result;
}

}  // namespace alate::runtime
