#include "pipelines/calls/prepared_rows.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "alate/error.h"
#include "base/threads/thread_pool.h"

namespace alate::pipelines {

std::size_t PreparedRows::tokens() const {
  std::size_t tokens = 0;
  for (const runtime::BatchRow& row : rows) tokens += row.ids.size();
  return tokens;
}

std::size_t PreparedRows::bytes() const {
  std::size_t bytes = rows.size() * sizeof(runtime::BatchRow);
  for (const runtime::BatchRow& row : rows) {
    bytes += (row.ids.size() + row.type_ids.size()) * sizeof(std::int32_t);
    for (const Tensor& part : row.parts) bytes += sizeof(Tensor) + part.byte_count();
  }
  return bytes;
}

PreparedRows prepare_rows(std::size_t count, std::size_t threads, const base::Cancellation& cancellation,
                          const std::function<PreparedRow(std::size_t)>& make) {
  PreparedRows result;
  result.rows.resize(count);
  std::vector<std::uint8_t> truncated(count);
  constexpr std::size_t kRowsAtATime = 16;
  base::ThreadPool::shared().parallel_for(
      (count + kRowsAtATime - 1) / kRowsAtATime, threads, [&](std::size_t part, std::size_t) {
        for (std::size_t i = part * kRowsAtATime; i < std::min((part + 1) * kRowsAtATime, count); ++i) {
          cancellation.check();
          PreparedRow made = make(i);
          result.rows[i] = std::move(made.row);
          truncated[i] = made.truncated ? 1 : 0;
        }
      });
  for (std::size_t i = 0; i < count; ++i) {
    if (truncated[i] != 0) result.truncated.push_back(i);
  }
  return result;
}

std::size_t row_limit(std::optional<std::size_t> asked, std::size_t usual, std::size_t positions) {
  const std::size_t limit = asked.value_or(usual);
  if (limit > positions)
    throw make_error(ErrorCode::invalid_argument, "max_length is ", limit, " but the model has ", positions,
                     " positions");
  return limit;
}

}  // namespace alate::pipelines
