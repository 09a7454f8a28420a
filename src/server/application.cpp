#include "server/application.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "alate/error.h"
#include "base/log.h"
#include "base/os/heap.h"
#include "base/threads/mutex.h"
#include "pipelines/generate/generator_state.h"
#include "server/api/family_routes.h"
#include "server/clients/admission.h"
#include "server/clients/api_keys.h"
#include "server/dispatcher.h"
#include "server/exchange/work_queue.h"
#include "server/http/http_server.h"
#include "server/http/open_files.h"
#include "server/http/shutdown_watchdog.h"
#include "server/metrics/metrics.h"
#include "server/models/index_host.h"
#include "server/models/model_host.h"
#include "server/models/services.h"
#include "server/pulls/pulls.h"
#include "server/readiness.h"
#include "server/router.h"

namespace alate::server {
namespace {

// Threads for what touches a model and for large bodies and answers; they run beside the model, not in its place. One
// client has at most two of them.
constexpr std::size_t kWorkThreads = 3;
constexpr std::size_t kLoadThreads = 2;
constexpr auto kHousekeeping = std::chrono::seconds(1);
constexpr auto kShutdownGrace = std::chrono::seconds(5);  // for running batches to finish and memory to be freed
constexpr std::size_t kOtherFiles = 256;                  // models, the health port's connections, the log
constexpr std::size_t kMegabyte = std::size_t{1} << 20;

std::vector<Route> all_routes() {
  std::vector<Route> routes;
  for (auto family : {native_routes(), openai_routes(), anthropic_routes(), tei_routes(), cohere_routes(),
                      jina_routes(), ollama_routes(), kserve_routes(), operations_routes()}) {
    std::ranges::move(family, std::back_inserter(routes));
  }
  return routes;
}

TransportSettings transport_settings(const Settings& settings) {
  TransportSettings transport;
  transport.host = settings.listens_on_tcp ? settings.host : std::string();
  transport.port = settings.port;
  if (settings.health_port != 0) transport.health_port = settings.health_port;
  transport.unix_socket = settings.unix_socket;
  transport.tls_certificate = settings.tls_certificate;
  transport.tls_key = settings.tls_key;
  transport.header_timeout = settings.header_timeout;
  transport.idle_timeout = settings.idle_timeout;
  transport.request_timeout = settings.request_timeout;
  transport.transfer_timeout = settings.transfer_timeout;
  transport.shutdown_timeout = settings.shutdown_timeout;
  transport.max_body_bytes = settings.max_body_mb * kMegabyte;
  transport.max_total_body_bytes = settings.max_total_body_mb * kMegabyte;
  transport.max_total_answer_bytes = settings.max_total_answer_mb * kMegabyte;
  transport.max_connections = settings.max_connections;
  transport.max_client_percent = settings.max_client_percent;
  return transport;
}

PullOptions pull_options(const Settings& settings) {
  PullOptions pulls;
  if (settings.offline) pulls.offline = true;
  pulls.max_bytes = settings.max_download_mb * kMegabyte;
  return pulls;
}

// Calls a function about every second until destroyed.
class Housekeeping {
 public:
  explicit Housekeeping(std::function<void()> work) : work_(std::move(work)), thread_([this] { serve(); }) {}
  ~Housekeeping() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Housekeeping(const Housekeeping&) = delete;
  Housekeeping& operator=(const Housekeeping&) = delete;

 private:
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, kHousekeeping, [this] { return stopping_; })) {
      lock.unlock();
      work_();
      lock.lock();
    }
  }

  std::function<void()> work_;
  base::Mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

struct Application::State {
  State(const Settings& given, std::string version)
      : settings(given),
        keys(settings.api_keys),
        work(kWorkThreads, {.taken = [this](std::chrono::nanoseconds waited) { metrics.work_taken(waited); },
                            .dropped = [this] { metrics.work_dropped(); }}),
        loaders(kLoadThreads),
        pulls(pull_options(settings)),
        models(settings, loaders, observer(), &pulls),
        indexes(settings.indexes),
        router(all_routes(), settings.base_path),
        services{settings,
                 models,
                 indexes,
                 metrics,
                 work,
                 router.routes(),
                 router.base_path(),
                 std::move(version),
                 [this] { return gauges(); },
                 false,
                 [this] { pulls.begin_stop(); },
                 [this] { return find_obstacle(work, loaders, models); }},
        admission(settings.max_concurrent_requests, settings.max_queue_size, settings.max_client_percent, work),
        dispatcher(services, router, admission, keys, origins()),
        http(transport_settings(settings), dispatcher) {}

  // Work that is running or queued uses the members declared below the queues. So do the callbacks of the models'
  // schedulers, which also push work to the queue.
  ~State() {
    pulls.stop();
    models.stop();
    work.stop();
    loaders.stop();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  runtime::BatchObserver observer() {
    return {.ran = [this](std::size_t rows, std::size_t tokens,
                          std::chrono::nanoseconds compute) { metrics.batch(rows, tokens, compute); },
            .cache_hit = [this] { metrics.cache_hit(); },
            .expired = [this] { metrics.expired(); }};
  }

  WebOrigins origins() const {
    std::vector<std::string> hosts = settings.allowed_hosts;
    // A foreign page cannot own the machine's configured name, nor the name configured as the listening address.
    hosts.push_back(machine_name());
    if (settings.listens_on_tcp) hosts.push_back(settings.host);
    const bool local = !settings.listens_on_tcp || is_loopback(settings.host);
    return WebOrigins({.origins = settings.cors,
                       .hosts = std::move(hosts),
                       .checks_host = settings.api_keys.empty(),
                       .allows_local_pages = local && settings.api_keys.empty()});
  }

  Gauges gauges() const {
    Gauges gauges;
    gauges.version = services.version;
    for (const LoadedListing& each : models.loaded()) {
      const ModelFacts& facts = each.model->pipelines.facts();
      const auto depth = each.model->scheduler->depth();
      const TextGenerator* generator = each.model->pipelines.find_generator();
      gauges.models.push_back(
          {.name = each.model->name,
           .backend = facts.backend,
           .device = facts.device,
           .dtype = facts.dtype,
           .bytes = each.bytes,
           .jobs = depth.jobs,
           .rows = depth.rows,
           .tokens = depth.tokens,
           .steps = generator == nullptr ? std::nullopt : std::optional(generator->state().steps->counts()),
           .cache_bytes = each.model->pipelines.cache_bytes()});
    }
    gauges.loads = models.load_counts();
    const Admission::Counts counts = admission.counts();
    gauges.requests_running = counts.running;
    gauges.requests_waiting = counts.waiting;
    const WorkQueue::Counts pieces = work.counts();
    gauges.work_running = pieces.running;
    gauges.work_waiting = pieces.waiting;
    gauges.connections = http.connections();
    gauges.body_bytes = http.body_bytes();
    gauges.answer_bytes = http.answer_bytes();
    return gauges;
  }

  const Settings settings;
  const ApiKeys keys;
  Metrics metrics;
  WorkQueue work;
  WorkQueue loaders;
  Pulls pulls;
  ModelHost models;
  IndexHost indexes;
  Router router;
  Services services;
  Admission admission;
  Dispatcher dispatcher;
  HttpServer http;
};

Application::Application(const Settings& settings, std::string version)
    : state_(std::make_unique<State>(settings, std::move(version))) {
  if (!allow_open_files(settings.max_connections + kOtherFiles)) {
    base::log(base::LogLevel::warn, "fewer connections than max_connections will fit: raise the limit of open files",
              {{"max_connections", std::to_string(settings.max_connections)}});
  }
}

Application::~Application() = default;

std::vector<std::string> Application::endpoints() const { return state_->http.endpoints(); }

void Application::handle_signals() {
  state_->http.handle_signals([] { base::log(base::LogLevel::info, "certificate read anew"); });
  watchdog_ = std::make_unique<ShutdownWatchdog>(state_->settings.shutdown_timeout + kShutdownGrace);
}

void Application::run() {
  // A server that begins with a model of the hub does not go on without it.
  struct Failure {
    base::Mutex mutex;
    std::optional<Error> error;
  };
  const auto failure = std::make_shared<Failure>();  // loading may end later than this function
  state_->models.preload([failure, state = state_.get()](const Error& error) {
    if (error.code() == ErrorCode::cancelled) return;  // since the server stops
    const std::lock_guard lock(failure->mutex);
    if (!failure->error) failure->error = error;
    state->http.stop_now();
  });
  const Housekeeping housekeeping([this, memory = base::FreeMemoryReturn()]() mutable {
    state_->models.unload_idle();
    state_->admission.wake();
    state_->services.live_answers.tick(Clock::now());
    memory.tick();
  });
  state_->http.run();
  const std::lock_guard lock(failure->mutex);
  if (failure->error) throw Error(*failure->error);
}

void Application::stop() {
  state_->services.shutting_down = true;
  state_->http.stop();
}

}  // namespace alate::server
