#include "server/metrics/model_statistics.h"

#include <mutex>
#include <utility>

namespace alate::server {
namespace {

// Batches have as many rows as fit their tokens, so that a large batch.max_tokens would allow a million sizes.
constexpr std::size_t kMostSizes = 4096;

}  // namespace

void ModelStatistics::Total::add(std::chrono::nanoseconds duration) {
  ++count;
  nanoseconds += static_cast<std::uint64_t>(duration.count());
}

void ModelStatistics::succeeded(std::size_t rows, std::chrono::nanoseconds duration, const StageTimes& stages) {
  const std::lock_guard lock(mutex_);
  totals_.inferences += rows;
  totals_.success.add(duration);
  totals_.queue.add(stages.queue);
  totals_.input.add(stages.tokenize);
  totals_.compute.add(stages.compute);
  totals_.output.add(stages.format);
}

void ModelStatistics::failed(std::chrono::nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  totals_.fail.add(duration);
}

void ModelStatistics::computed(std::size_t rows, std::chrono::nanoseconds duration) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::lock_guard lock(mutex_);
  ++totals_.executions;
  totals_.last_inference = std::chrono::duration_cast<std::chrono::milliseconds>(now);
  auto& sizes = totals_.computed_by_rows;
  if (sizes.size() < kMostSizes || sizes.contains(rows)) sizes[rows].add(duration);
}

ModelStatistics::Snapshot ModelStatistics::snapshot() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void count_request(Exchange& exchange, std::shared_ptr<ModelStatistics> statistics, std::size_t rows) {
  exchange.on_end([&exchange, statistics = std::move(statistics), rows](int status) {
    const auto duration = Clock::now() - exchange.received();
    if (status < 200 || status >= 400) return statistics->failed(duration);
    statistics->succeeded(rows, duration, exchange.stages);
  });
}

}  // namespace alate::server
