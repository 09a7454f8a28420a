// What one model has computed since the server began, as Triton's statistics extension counts it:
// https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_statistics.md
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/threads/mutex.h"
#include "server/exchange/exchange.h"

namespace alate::server {

/// Thread-safe.
class ModelStatistics {
 public:
  struct Total {
    std::uint64_t count = 0, nanoseconds = 0;
    void add(std::chrono::nanoseconds duration);
  };

  struct Snapshot {
    std::uint64_t inferences = 0;                   // rows of requests that succeeded
    std::uint64_t executions = 0;                   // batches that were computed
    std::chrono::milliseconds last_inference{};     // since 1970: when the last batch was done; 0: none was
    Total success, fail;                            // requests, from their arrival to their answer
    Total queue, input, compute, output;            // parts of requests that succeeded; input: tokenizing
    std::map<std::size_t, Total> computed_by_rows;  // batches by their number of rows
  };

  /// A request of `rows` rows has succeeded.
  void succeeded(std::size_t rows, std::chrono::nanoseconds duration, const StageTimes& stages);
  void failed(std::chrono::nanoseconds duration);
  void computed(std::size_t rows, std::chrono::nanoseconds duration);

  Snapshot snapshot() const;

 private:
  mutable base::Mutex mutex_;
  Snapshot totals_;
};

/// Counts the request when it ends: as a success if its answer is one. Call it before the work begins, at most once.
void count_request(Exchange& exchange, std::shared_ptr<ModelStatistics> statistics, std::size_t rows);

}  // namespace alate::server
