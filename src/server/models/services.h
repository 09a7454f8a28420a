// Shared services that routes work with.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "server/clients/token_quota.h"
#include "server/exchange/route.h"
#include "server/exchange/work_queue.h"
#include "server/metrics/metrics.h"
#include "server/models/index_host.h"
#include "server/models/live_answers.h"
#include "server/models/model_host.h"
#include "server/settings/settings.h"

namespace alate::server {

/// Owned by the application. All members are thread-safe and outlive every request.
struct Services {
  const Settings& settings;
  ModelHost& models;
  IndexHost& indexes;
  Metrics& metrics;
  WorkQueue& work;
  std::span<const Route> routes;   // the whole table
  std::string_view base_path;      // prefix of their paths: "" or "/something"
  std::string version;             // the program's: "0.1.0"
  std::function<Gauges()> gauges;  // for /metrics
  std::atomic<bool> shutting_down = false;
  std::function<void()> stopping = {};         // the server has begun to stop
  std::function<std::string()> obstacle = {};  // why the server makes no progress at the moment; empty: it does
  LiveAnswers live_answers = {};
  TokenQuota quota{quota_limits(settings)};
};

}  // namespace alate::server
