#include "server/metrics/metrics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/threads/shared_mutex.h"
#include "server/metrics/metric_process.h"
#include "server/metrics/metric_series.h"

namespace alate::server {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr std::uint64_t kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;

// From a short text on an idle server to a request that timed out.
constexpr std::array<std::uint64_t, 18> kDurations = {100 * kMicrosecond,
                                                      250 * kMicrosecond,
                                                      500 * kMicrosecond,
                                                      kMillisecond,
                                                      2'500 * kMicrosecond,
                                                      5 * kMillisecond,
                                                      10 * kMillisecond,
                                                      25 * kMillisecond,
                                                      50 * kMillisecond,
                                                      100 * kMillisecond,
                                                      250 * kMillisecond,
                                                      500 * kMillisecond,
                                                      kSecond,
                                                      2'500 * kMillisecond,
                                                      5 * kSecond,
                                                      10 * kSecond,
                                                      30 * kSecond,
                                                      120 * kSecond};
constexpr std::array<std::uint64_t, 12> kRows = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
constexpr std::array<std::uint64_t, 13> kTokens = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536};

// Values outside these lists are counted as "other", so that clients cannot create unlimited series.
constexpr std::array<std::string_view, 8> kMethods = {"GET",   "HEAD",   "POST",    "PUT",
                                                      "PATCH", "DELETE", "OPTIONS", "other"};
constexpr std::array<int, 31> kCodes = {0,   200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 406, 408, 409, 411,
                                        413, 414, 415, 417, 421, 422, 426, 429, 431, 500, 501, 502, 503, 504, 505};
constexpr std::size_t kOtherCode = kCodes.size();
constexpr std::size_t kMaxRoutes = 256, kMaxReasons = 32;

std::size_t method_index(std::string_view method) {
  const auto found = std::ranges::find(kMethods, method);
  return found == kMethods.end() ? kMethods.size() - 1 : static_cast<std::size_t>(found - kMethods.begin());
}

std::size_t code_index(int status) {
  return static_cast<std::size_t>(std::ranges::find(kCodes, status) - kCodes.begin());
}

std::string code_name(std::size_t index) {
  if (index == kOtherCode) return "other";
  return kCodes.at(index) == 0 ? "gone" : std::to_string(kCodes.at(index));
}

bool is_error(std::size_t index) { return index == kOtherCode || kCodes.at(index) >= 400; }

std::uint64_t count_of(std::chrono::nanoseconds duration) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
}

using Counter = std::atomic<std::uint64_t>;

void add(Counter& counter, std::uint64_t count = 1) { counter.fetch_add(count, std::memory_order_relaxed); }
std::uint64_t value_of(const Counter& counter) { return counter.load(std::memory_order_relaxed); }

struct RouteSeries {
  std::array<std::array<Counter, kCodes.size() + 1>, kMethods.size()> requests{};
  Histogram duration{kDurations};
};

// Series by label. Existing ones are found under a shared lock; they are never removed.
template <typename Series, std::size_t most>
class Labelled {
 public:
  /// Labels beyond the limit share `overflow`.
  Series& at(std::string_view label, std::string_view overflow) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = series_.find(label); found != series_.end()) return *found->second;
    }
    const std::unique_lock lock(mutex_);
    auto& place = series_[std::string(series_.size() < most ? label : overflow)];
    if (!place) place = std::make_unique<Series>();
    return *place;
  }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [label, series] : series_) visit(std::string_view(label), *series);
  }

 private:
  mutable base::SharedMutex mutex_;
  std::map<std::string, std::unique_ptr<Series>, std::less<>> series_;
};

}  // namespace

struct Metrics::State {
  Labelled<RouteSeries, kMaxRoutes> routes;
  Labelled<Counter, kMaxReasons> rejected;
  Histogram queue{kDurations}, tokenize{kDurations}, compute{kDurations}, work_wait{kDurations};
  Histogram batch_rows{kRows}, batch_tokens{kTokens}, batch_duration{kDurations};
  Histogram first_token{kDurations}, next_token{kDurations};
  Counter prompt_tokens = 0, cached_tokens = 0, generated_tokens = 0;
  Counter batches = 0, tokens = 0, cache_hits = 0, expired = 0, truncated = 0, work_dropped = 0;

  void expose_requests(Exposition& out) const;
  void expose_work(Exposition& out) const;
  void expose_texts(Exposition& out) const;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::request(std::string_view method, std::string_view route, int status, std::chrono::nanoseconds duration,
                      const StageTimes& stages) {
  RouteSeries& series = state_->routes.at(route, "unknown");
  add(series.requests.at(method_index(method)).at(code_index(status)));
  series.duration.observe(count_of(duration));
  const auto observe = [&](Histogram& stage, std::chrono::nanoseconds time) {
    if (stages.computed || time.count() > 0) stage.observe(count_of(time));
  };
  observe(state_->queue, stages.queue);
  observe(state_->tokenize, stages.tokenize);
  observe(state_->compute, stages.compute);
}

void Metrics::batch(std::size_t rows, std::size_t tokens, std::chrono::nanoseconds compute) {
  add(state_->batches);
  add(state_->tokens, tokens);
  state_->batch_rows.observe(rows);
  state_->batch_tokens.observe(tokens);
  state_->batch_duration.observe(count_of(compute));
}

void Metrics::cache_hit() { add(state_->cache_hits); }
void Metrics::expired() { add(state_->expired); }
void Metrics::work_taken(std::chrono::nanoseconds waited) { state_->work_wait.observe(count_of(waited)); }
void Metrics::work_dropped() { add(state_->work_dropped); }
void Metrics::rejected(std::string_view reason) { add(state_->rejected.at(reason, "other")); }
void Metrics::truncated(std::size_t texts) { add(state_->truncated, texts); }

void Metrics::first_token(std::chrono::nanoseconds after_request) {
  state_->first_token.observe(count_of(after_request));
  add(state_->generated_tokens);
}
void Metrics::next_token(std::chrono::nanoseconds after_last) {
  state_->next_token.observe(count_of(after_last));
  add(state_->generated_tokens);
}
void Metrics::prompts(std::size_t tokens, std::size_t cached) {
  add(state_->prompt_tokens, tokens);
  add(state_->cached_tokens, cached);
}

void Metrics::State::expose_requests(Exposition& out) const {
  out.begin("alate_http_requests_total", "counter", "Requests that ended, by route and status.");
  routes.for_each([&](std::string_view route, const RouteSeries& series) {
    for (std::size_t method = 0; method < kMethods.size(); ++method) {
      for (std::size_t code = 0; code <= kOtherCode; ++code) {
        if (const auto count = value_of(series.requests[method][code]); count > 0)
          out.sample({{"method", kMethods[method]}, {"route", route}, {"code", code_name(code)}}, count);
      }
    }
  });
  out.begin("alate_http_errors_total", "counter", "Requests that were answered with an error (status 400 and above).");
  routes.for_each([&](std::string_view route, const RouteSeries& series) {
    for (std::size_t code = 0; code <= kOtherCode; ++code) {
      std::uint64_t count = 0;
      for (const auto& codes : series.requests) count += value_of(codes[code]);
      if (is_error(code) && count > 0) out.sample({{"route", route}, {"code", code_name(code)}}, count);
    }
  });
  out.begin("alate_request_duration_seconds", "histogram", "From a request's first byte to its answer's last.");
  routes.for_each([&](std::string_view route, const RouteSeries& series) {
    out.sample({{"route", route}}, series.duration, kNanosecondsPerSecond);
  });
  out.begin("alate_rejected_requests_total", "counter", "Requests that were refused to protect the server.");
  rejected.for_each([&](std::string_view reason, const Counter& count) {
    out.sample({{"reason", reason}}, value_of(count));
  });
}

void Metrics::State::expose_work(Exposition& out) const {
  out.begin("alate_stage_duration_seconds", "histogram", "How long requests were in each stage.");
  out.sample({{"stage", "queue"}}, queue, kNanosecondsPerSecond);
  out.sample({{"stage", "tokenize"}}, tokenize, kNanosecondsPerSecond);
  out.sample({{"stage", "compute"}}, compute, kNanosecondsPerSecond);
  out.begin("alate_work_wait_seconds", "histogram", "How long a request's work waited for a work thread each time.");
  out.sample({}, work_wait, kNanosecondsPerSecond);
  out.begin("alate_batch_rows", "histogram", "Texts that were computed together.");
  out.sample({}, batch_rows);
  out.begin("alate_batch_tokens", "histogram", "Tokens that were computed together.");
  out.sample({}, batch_tokens);
  out.begin("alate_batch_duration_seconds", "histogram", "How long a batch was computed.");
  out.sample({}, batch_duration, kNanosecondsPerSecond);
  const auto counter = [&](std::string_view name, std::string_view help, const Counter& count) {
    out.begin(name, "counter", help);
    out.sample({}, value_of(count));
  };
  counter("alate_batches_total", "Batches that were computed.", batches);
  counter("alate_tokens_total", "Tokens that were computed.", tokens);
  counter("alate_cache_hits_total", "Texts that needed no computing of their own.", cache_hits);
  counter("alate_expired_requests_total", "Requests whose time was up before they were computed.", expired);
  counter("alate_work_dropped_total", "Work that nobody waited for any more before a work thread took it.",
          work_dropped);
  counter("alate_truncated_texts_total", "Texts that were cut to the model's length.", truncated);
}

void Metrics::State::expose_texts(Exposition& out) const {
  out.begin("alate_time_to_first_token_seconds", "histogram", "From a request to a text's first token.");
  out.sample({}, first_token, kNanosecondsPerSecond);
  out.begin("alate_time_between_tokens_seconds", "histogram", "From one token of a text to the next.");
  out.sample({}, next_token, kNanosecondsPerSecond);
  const auto counter = [&](std::string_view name, std::string_view help, const Counter& count) {
    out.begin(name, "counter", help);
    out.sample({}, value_of(count));
  };
  counter("alate_prompt_tokens_total", "Tokens of prompts that were answered.", prompt_tokens);
  counter("alate_prompt_cached_tokens_total", "Of these, those that were not computed again.", cached_tokens);
  counter("alate_generated_tokens_total", "Tokens that were generated.", generated_tokens);
}

namespace {

// Of language models, since each was loaded.
void expose_steps(Exposition& out, const Gauges& gauges) {
  using runtime::StepCounts;
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help, const auto& value) {
    out.begin(name, type, help);
    for (const Gauges::Model& model : gauges.models) {
      if (model.steps) out.sample({{"model", model.name}}, std::uint64_t{value(*model.steps)});
    }
  };
  each("alate_sequences_running", "gauge", "Texts that get tokens.", [](const StepCounts& c) { return c.running; });
  each("alate_sequences_waiting", "gauge", "Texts that wait for a place.",
       [](const StepCounts& c) { return c.waiting; });
  each("alate_steps_total", "counter", "Steps of a model.", [](const StepCounts& c) { return c.steps; });
  each("alate_step_tokens_total", "counter", "Tokens that steps computed, of prompts and texts.",
       [](const StepCounts& c) { return c.computed_tokens; });
  each("alate_prefix_hit_tokens_total", "counter", "Tokens whose keys and values another text had computed.",
       [](const StepCounts& c) { return c.cached_tokens; });
  each("alate_preemptions_total", "counter", "Texts that gave up their place and were computed again.",
       [](const StepCounts& c) { return c.preemptions; });
  out.begin("alate_kv_cache_pages", "gauge", "Pages of keys and values that take memory, by what they are for.");
  for (const Gauges::Model& model : gauges.models) {
    if (!model.steps) continue;
    const StepCounts& counts = *model.steps;
    const auto pages = [&](std::string_view state, std::size_t count) {
      out.sample({{"model", model.name}, {"state", state}}, std::uint64_t{count});
    };
    pages("read", counts.pages_read);
    pages("kept", counts.pages_idle);
    pages("free", counts.pages - counts.pages_read - counts.pages_idle);
  }
  out.begin("alate_kv_cache_limit_bytes", "gauge", "Bytes that a model's keys and values may take.");
  for (const Gauges::Model& model : gauges.models) {
    if (model.steps) out.sample({{"model", model.name}}, std::uint64_t{model.cache_bytes});
  }
}

void expose_loads(Exposition& out, const runtime::ModelCache::Counts& counts) {
  out.begin("alate_model_loads_total", "counter", "Loads of models, by how they ended.");
  out.sample({{"result", "loaded"}}, counts.loaded);
  out.sample({{"result", "failed"}}, counts.failed);
  out.begin("alate_model_unloads_total", "counter", "Models that were unloaded, by the reason.");
  out.sample({{"reason", "evicted"}}, counts.evicted);
  out.sample({{"reason", "idle"}}, counts.idle);
  out.sample({{"reason", "asked_for"}}, counts.asked_for);
}

void expose_gauges(Exposition& out, const Gauges& gauges) {
  const auto gauge = [&](std::string_view name, std::string_view help, std::size_t value) {
    out.begin(name, "gauge", help);
    out.sample({}, std::uint64_t{value});
  };
  gauge("alate_requests_running", "Requests that are worked on.", gauges.requests_running);
  gauge("alate_requests_waiting", "Requests that wait to be taken up.", gauges.requests_waiting);
  gauge("alate_work_running", "Work threads that are at work.", gauges.work_running);
  gauge("alate_work_waiting", "Pieces of work that wait for a work thread.", gauges.work_waiting);
  gauge("alate_connections", "Open connections.", gauges.connections);
  gauge("alate_body_bytes", "Bytes of the bodies of requests under way.", gauges.body_bytes);
  gauge("alate_answer_bytes", "Bytes of answers that their clients have not taken yet.", gauges.answer_bytes);

  const auto of_models = [&](std::string_view name, std::string_view help, std::size_t Gauges::Model::*value) {
    out.begin(name, "gauge", help);
    for (const Gauges::Model& model : gauges.models) out.sample({{"model", model.name}}, std::uint64_t{model.*value});
  };
  of_models("alate_queue_jobs", "Requests in a model's queue, those under way included.", &Gauges::Model::jobs);
  of_models("alate_queue_rows", "Texts in a model's queue, those under way included.", &Gauges::Model::rows);
  of_models("alate_queue_tokens", "Tokens in a model's queue, those under way included.", &Gauges::Model::tokens);
  of_models("alate_model_memory_bytes", "Memory of a model's weights, and what its cache may take.",
            &Gauges::Model::bytes);
  out.begin("alate_model_info", "gauge", "The models that are loaded, and on what they run; always 1.");
  for (const Gauges::Model& model : gauges.models) {
    out.sample({{"model", model.name}, {"backend", model.backend}, {"device", model.device}, {"dtype", model.dtype}},
               std::uint64_t{1});
  }
}

void expose_process(Exposition& out, const std::string& version) {
  const ProcessFacts facts = process_facts();
  out.begin("process_cpu_seconds_total", "counter", "Processor time, user and system.");
  out.sample({}, facts.cpu_seconds);
  const auto gauge = [&](std::string_view name, std::string_view help, const auto& value) {
    if (!value) return;
    out.begin(name, "gauge", help);
    out.sample({}, *value);
  };
  gauge("process_resident_memory_bytes", "Memory that is resident.", facts.resident_bytes);
  gauge("process_start_time_seconds", "When the process began, in seconds since 1970.", facts.start_time);
  gauge("process_open_fds", "Open file descriptors.", facts.open_files);
  gauge("process_max_fds", "Most open file descriptors.", std::optional(facts.most_open_files));
  if (version.empty()) return;
  out.begin("alate_build_info", "gauge", "The version of the program; always 1.");
  out.sample({{"version", version}}, std::uint64_t{1});
}

}  // namespace

std::string Metrics::expose(const Gauges& gauges) const {
  Exposition out;
  state_->expose_requests(out);
  state_->expose_work(out);
  state_->expose_texts(out);
  expose_gauges(out, gauges);
  expose_steps(out, gauges);
  expose_loads(out, gauges.loads);
  expose_process(out, gauges.version);
  return out.take();
}

}  // namespace alate::server
