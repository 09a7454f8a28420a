// Readiness check: whether the server's threads make progress.
#pragma once

#include <chrono>
#include <string>

#include "server/exchange/work_queue.h"
#include "server/models/model_host.h"

namespace alate::server {

/// Upper bounds on normal operation; anything slower is considered hung.
struct ReadinessLimits {
  std::chrono::nanoseconds wait = std::chrono::seconds(10);  // until a thread picks up work of a client that has none
  std::chrono::nanoseconds work = std::chrono::seconds(30);  // until work ends that nobody waits for any more
  std::chrono::nanoseconds load = std::chrono::minutes(10);  // loading a model
  std::chrono::nanoseconds batch = std::chrono::minutes(2);  // one batch of a model
};

/// Why the server makes no progress, for the operator or supervisor that restarts it; empty if it does. Reads only the
/// queues' clocks, so the cost is the same however often it is called. A single hung thread is reported even if other
/// threads still take work. Requests that take long, however many one client sends, are no obstacle.
std::string find_obstacle(const WorkQueue& work, const WorkQueue& loaders, const ModelHost& models,
                          const ReadinessLimits& limits = {});

}  // namespace alate::server
