#include "server/pulls/pulls.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "alate/error.h"
#include "base/log.h"
#include "base/threads/mutex.h"
#include "server/exchange/refuse.h"
#include "server/pulls/download_rights.h"
#include "server/pulls/pull_failure.h"

namespace alate::server {
namespace {

using Clock = std::chrono::steady_clock;
using Phase = PullState::Phase;

// What it throws ends neither the thread nor the calls of the others that wait.
void call(const Pulls::Done& done, const PullResult& result) {
  try {
    done(result);
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "the end of a download is not told", {{"reason", error.what()}});
  }
}

// Copying the list of files takes longer than most calls for progress have.
constexpr auto kProgressPeriod = std::chrono::milliseconds(50);

struct PullJob {
  std::string name;
  std::optional<ClientId> client;  // that began it
  std::stop_source stop;
  bool runs = false;
  std::shared_ptr<const PullState> progress = std::make_shared<const PullState>();
  Clock::time_point progress_made;
  std::size_t askers = 0;
  Clock::time_point left;  // when there was no asker any more
  std::vector<Pulls::Done> done;
};

struct PullWatcher {
  std::shared_ptr<PullJob> job;
  Pulls::Watch watch;
};

}  // namespace

struct Pulls::State : std::enable_shared_from_this<Pulls::State> {
  State(PullOptions given, PullLimits given_limits) : options(std::move(given)), limits(given_limits) {}

  void ask(const hub::PullReference& reference, const Asker& asker, Done done, Watch watch);
  std::shared_ptr<PullJob> find_or_begin(const hub::PullReference& reference, const std::optional<ClientId>& client);
  void leave(const std::weak_ptr<PullJob>& job);
  void begin_stop();
  void stop();
  void start_threads();
  void serve();
  std::shared_ptr<PullJob> next_job();
  void run(const std::shared_ptr<PullJob>& job);
  void note(PullJob& job, const PullProgress& progress);
  PulledModel fetch(PullJob& job);
  void end(const std::shared_ptr<PullJob>& job, std::shared_ptr<const PullState> ended, const PullResult& result);
  void watch();
  void end_left_jobs(Clock::time_point now);
  void call_watchers();

  const PullOptions options;
  const PullLimits limits;
  mutable base::Mutex mutex;
  std::condition_variable changed;
  std::list<std::shared_ptr<PullJob>> jobs;  // unfinished, in their order
  std::list<PullWatcher> watchers;           // only the watching thread removes some
  bool stopping = false, joining = false;
  std::vector<std::thread> threads;
};

void Pulls::State::ask(const hub::PullReference& reference, const Asker& asker, Done done, Watch watch_it) {
  std::shared_ptr<PullJob> job;
  {
    const std::lock_guard lock(mutex);
    if (stopping) refuse(Problem::Kind::not_ready, "the server is shutting down; ask another, or later");
    job = find_or_begin(reference, asker.client);
    ++job->askers;
    if (done) job->done.push_back(std::move(done));
    if (watch_it) watchers.push_back({job, std::move(watch_it)});
    start_threads();
    changed.notify_all();
  }
  if (asker.on_leave) {
    asker.on_leave([self = shared_from_this(), weak = std::weak_ptr(job)] { self->leave(weak); });
  }
}

// REQUIRES: the lock.
std::shared_ptr<PullJob> Pulls::State::find_or_begin(const hub::PullReference& reference,
                                                     const std::optional<ClientId>& client) {
  const std::string name = canonical_name(reference);
  for (const auto& job : jobs) {
    if (job->name == name && !job->stop.stop_requested()) return job;
  }
  if (client) {
    const auto own =
        static_cast<std::size_t>(std::ranges::count_if(jobs, [&](const auto& job) { return job->client == client; }));
    if (own >= limits.per_client) {
      refuse(Problem::Kind::overloaded,
             "this client has " + std::to_string(own) + " downloads under way; wait until one of them is done");
    }
    if (jobs.size() >= limits.unfinished)
      refuse(Problem::Kind::overloaded, "too many downloads are under way; try again later");
  }
  auto job = std::make_shared<PullJob>();
  job->name = name;
  job->client = client;
  jobs.push_back(job);
  return job;
}

void Pulls::State::leave(const std::weak_ptr<PullJob>& left) {
  const std::shared_ptr<PullJob> job = left.lock();
  if (!job) return;
  const std::lock_guard lock(mutex);
  if (--job->askers == 0) job->left = Clock::now();
}

// REQUIRES: the lock.
void Pulls::State::start_threads() {
  if (!threads.empty()) return;
  threads.emplace_back([this] { watch(); });
  for (std::size_t i = 0; i < limits.at_once; ++i) threads.emplace_back([this] { serve(); });
}

// The first one of a client that has none running, else the first. REQUIRES: the lock.
std::shared_ptr<PullJob> Pulls::State::next_job() {
  std::shared_ptr<PullJob> first;
  for (const auto& job : jobs) {
    if (job->runs) continue;
    if (!first) first = job;
    const bool has_running =
        std::ranges::any_of(jobs, [&](const auto& other) { return other->runs && other->client == job->client; });
    if (!has_running) return job;
  }
  return first;
}

void Pulls::State::serve() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    std::shared_ptr<PullJob> job;
    changed.wait(lock, [&] { return (job = next_job()) != nullptr || joining; });
    if (!job) return;
    job->runs = true;
    lock.unlock();
    run(job);
    job.reset();
    lock.lock();
  }
}

void Pulls::State::run(const std::shared_ptr<PullJob>& job) {
  std::optional<PulledModel> model;
  PullResult result;
  auto ended = std::make_shared<PullState>();
  try {
    if (job->stop.stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
    {
      const std::lock_guard lock(mutex);
      job->progress = std::make_shared<const PullState>(PullState{.phase = Phase::listing});
    }
    base::log(base::LogLevel::info, "download begun", {{"model", job->name}});
    model = fetch(*job);
    ended->phase = Phase::done;
    base::log(base::LogLevel::info, "download done",
              {{"model", job->name}, {"bytes", std::to_string(model->fetched_bytes)}});
  } catch (const std::exception& error) {
    base::log(base::LogLevel::warn, "download failed", {{"model", job->name}, {"reason", error.what()}});
    ended->phase = Phase::failed;
    result.cause = std::current_exception();
    ended->error = pull_failure(job->name, result.cause);
  }
  {
    const std::lock_guard lock(mutex);
    ended->files = job->progress->files;
    if (ended->phase == Phase::failed && stopping) ended->error = pulls_stopped();
  }
  if (ended->phase == Phase::done) {
    for (PulledPart& part : ended->files) {
      part.is_done = true;
      part.done_bytes = part.total_bytes;
    }
  }
  if (model) result.model = &*model;
  result.error = ended->error;
  end(job, std::move(ended), result);
}

PulledModel Pulls::State::fetch(PullJob& job) {
  PullOptions own = options;
  own.stop = job.stop.get_token();
  own.progress = [this, &job](const PullProgress& progress) { note(job, progress); };
  try {
    return pull_model(job.name, own);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable && error.code() != ErrorCode::deadline_exceeded) throw;
    own.offline = true;
    std::optional<PulledModel> cached;
    try {
      cached = pull_model(job.name, own);
    } catch (const Error&) {
      throw error;  // NOLINT(cert-err60-cpp,misc-throw-by-value-catch-by-reference): the first is what went wrong
    }
    base::log(base::LogLevel::warn, "the hub cannot be reached; the model is as it was fetched last",
              {{"model", job.name}, {"reason", error.what()}});
    return std::move(*cached);
  }
}

// On any thread of the download.
void Pulls::State::note(PullJob& job, const PullProgress& progress) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex);
  const bool is_whole = progress.done_files == progress.total_files;
  if (now - job.progress_made < kProgressPeriod && !is_whole) return;
  job.progress_made = now;
  job.progress = std::make_shared<const PullState>(
      PullState{.phase = Phase::fetching, .files = {progress.files.begin(), progress.files.end()}});
}

void Pulls::State::end(const std::shared_ptr<PullJob>& job, std::shared_ptr<const PullState> ended,
                       const PullResult& result) {
  // While those that wait are called, it can still be joined.
  for (;;) {
    std::vector<Done> done;
    {
      const std::lock_guard lock(mutex);
      done.swap(job->done);
      if (done.empty()) {
        job->progress = std::move(ended);
        jobs.remove(job);
        changed.notify_all();
        return;
      }
    }
    for (const Done& each : done) call(each, result);
  }
}

void Pulls::State::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!joining || !jobs.empty()) {
    if (jobs.empty() && watchers.empty()) {
      changed.wait(lock);
    } else {
      changed.wait_for(lock, limits.tick);
    }
    end_left_jobs(Clock::now());
    lock.unlock();
    call_watchers();
    lock.lock();
  }
  lock.unlock();
  call_watchers();
}

// REQUIRES: the lock.
void Pulls::State::end_left_jobs(Clock::time_point now) {
  for (const auto& job : jobs) {
    if (job->askers == 0 && now - job->left >= limits.grace) job->stop.request_stop();
  }
}

void Pulls::State::call_watchers() {
  std::list<PullWatcher> called;
  {
    const std::lock_guard lock(mutex);
    called.swap(watchers);
  }
  for (auto each = called.begin(); each != called.end();) {
    std::shared_ptr<const PullState> seen;
    {
      const std::lock_guard lock(mutex);
      seen = each->job->progress;
    }
    bool goes_on = false;
    try {
      goes_on = each->watch(*seen);
    } catch (const std::exception& error) {
      base::log(base::LogLevel::error, "progress is not told", {{"reason", error.what()}});
    }
    each = goes_on ? std::next(each) : called.erase(each);
  }
  const std::lock_guard lock(mutex);
  watchers.splice(watchers.begin(), called);
}

void Pulls::State::begin_stop() {
  const std::lock_guard lock(mutex);
  stopping = true;
  for (const auto& job : jobs) job->stop.request_stop();
  changed.notify_all();
}

void Pulls::State::stop() {
  begin_stop();
  std::vector<std::thread> own;
  {
    const std::lock_guard lock(mutex);
    joining = true;
    own.swap(threads);
    changed.notify_all();
  }
  for (std::thread& thread : own) thread.join();
  const std::lock_guard lock(mutex);
  watchers.clear();
}

Pulls::Pulls(PullOptions options, PullLimits limits) : state_(std::make_shared<State>(std::move(options), limits)) {}
Pulls::~Pulls() { state_->stop(); }

void Pulls::ask(const hub::PullReference& reference, const Asker& asker, Done done, Watch watch) {
  state_->ask(reference, asker, std::move(done), std::move(watch));
}
void Pulls::begin_stop() { state_->begin_stop(); }
void Pulls::stop() { state_->stop(); }
std::size_t Pulls::unfinished() const {
  const std::lock_guard lock(state_->mutex);
  return state_->jobs.size();
}

}  // namespace alate::server
