// The metrics of /metrics, in Prometheus's text format.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/caching/model_cache.h"
#include "runtime/decoding/step_loop.h"
#include "server/exchange/exchange.h"

namespace alate::server {

/// Values sampled at the time of a scrape.
struct Gauges {
  struct Model {
    std::string name, backend, device, dtype;
    std::size_t bytes = 0;                          // of weights and of cache_bytes
    std::size_t jobs = 0, rows = 0, tokens = 0;     // waiting or in flight
    std::optional<runtime::StepCounts> steps = {};  // of a language model
    std::size_t cache_bytes = 0;                    // that its keys and values may take
  };
  std::string version;  // the program's; empty: not shown
  std::vector<Model> models;
  runtime::ModelCache::Counts loads;
  std::size_t requests_running = 0, requests_waiting = 0;
  std::size_t work_running = 0, work_waiting = 0;  // pieces of work of the work threads
  std::size_t connections = 0;
  std::size_t body_bytes = 0;    // of requests in flight
  std::size_t answer_bytes = 0;  // not yet read by their clients
};

/// Thread-safe; counting takes no lock that is held for long. The number of series is bounded: labels are names from
/// our tables, statuses and loaded models, never values chosen by a client.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  /// `route` is a path of the route table, or "unknown"; status 0 is shown as "gone".
  void request(std::string_view method, std::string_view route, int status, std::chrono::nanoseconds duration,
               const StageTimes& stages);
  void batch(std::size_t rows, std::size_t tokens, std::chrono::nanoseconds compute);
  void cache_hit();
  void expired();
  /// Of a text: its first token came so long after its request, another so long after the one before.
  void first_token(std::chrono::nanoseconds after_request);
  void next_token(std::chrono::nanoseconds after_last);
  /// Tokens of prompts, of which so many were not computed again.
  void prompts(std::size_t tokens, std::size_t cached);
  /// Of the work threads' queue: a thread took work that had waited so long, or work was dropped that nobody waited
  /// for.
  void work_taken(std::chrono::nanoseconds waited);
  void work_dropped();
  /// `reason`: queue_full, body_budget, connections, unauthenticated, shutting_down …
  void rejected(std::string_view reason);
  void truncated(std::size_t texts);

  std::string expose(const Gauges& gauges) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate::server
