// Whether the server's threads do their work.
#pragma once

#include <chrono>
#include <string>

#include "server/models/model_host.h"
#include "server/work_queue.h"

namespace alate::server {

/// Longer than these nothing takes unless it hangs.
struct ReadinessLimits {
  std::chrono::nanoseconds wait = std::chrono::seconds(10);  // until a thread takes up what would be given to it now
  std::chrono::nanoseconds work = std::chrono::seconds(30);  // large bodies and answers
  std::chrono::nanoseconds load = std::chrono::minutes(10);  // of a model
  std::chrono::nanoseconds batch = std::chrono::minutes(2);  // of a model's run
};

/// Why the server does not work, for whoever restarts it; empty where it does. Looks at the queues' clocks, and so
/// costs the same however often it is asked: what waits at the head of a queue has waited as long as anything given to
/// it then. A single thread that hangs shows too, although others still take work.
std::string find_obstacle(const WorkQueue& work, const WorkQueue& loaders, const ModelHost& models,
                          const ReadinessLimits& limits = {});

}  // namespace alate::server
