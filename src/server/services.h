// Shared services that routes work with.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "server/metrics/metrics.h"
#include "server/models/index_host.h"
#include "server/models/model_host.h"
#include "server/route.h"
#include "server/settings/settings.h"
#include "server/work_queue.h"

namespace alate::server {

/// Owned by the application. All members are thread-safe and outlive every request.
struct Services {
  const Settings& settings;
  ModelHost& models;
  IndexHost& indexes;
  Metrics& metrics;
  WorkQueue& work;
  const Router& router;
  std::string version;             // the program's: "0.1.0"
  std::function<Gauges()> gauges;  // for /metrics
  std::atomic<bool> shutting_down = false;
  std::function<void()> stopping = {};         // the server has begun to stop
  std::function<std::string()> obstacle = {};  // why the server makes no progress at the moment; empty: it does
};

/// A JSON answer with status 200.
Response json_response(const formats::Json& body);
Response json_response(std::string text);

}  // namespace alate::server
