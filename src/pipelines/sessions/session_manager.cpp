#include "alate/session.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"
#include "base/threads/mutex.h"
#include "machine/discovery.h"
#include "runtime/caching/model_cache.h"
#include "runtime/loading/loaded_model.h"

namespace alate {
namespace {

using runtime::ModelCache;

// How many models are loaded on each device. Thread-safe.
class SessionCounts {
 public:
  void add(const Selection& selection, std::ptrdiff_t change) {
    const std::lock_guard lock(mutex_);
    models_[{selection.backend, selection.device}] += change;
  }
  std::vector<SessionFacts> facts() const {
    std::vector<SessionFacts> all;
    const std::lock_guard lock(mutex_);
    for (const auto& [session, models] : models_)
      all.push_back({session.first, session.second, static_cast<std::size_t>(models)});
    return all;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::ptrdiff_t> models_;
};

class Session final : public runtime::CachedModel {
 public:
  Session(std::shared_ptr<const Model::State> loaded, std::shared_ptr<SessionCounts> counts)
      : model(std::move(loaded)), selection_(model->facts.selection), counts_(std::move(counts)) {
    counts_->add(selection_, 1);
  }
  ~Session() override {
    model.reset();  // before it is no longer counted
    counts_->add(selection_, -1);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::string place() const override { return selection_.backend + ":" + selection_.device_index; }
  std::size_t bytes() const override { return model->facts.weight_bytes; }

  std::shared_ptr<const Model::State> model;

 private:
  const Selection selection_;
  const std::shared_ptr<SessionCounts> counts_;
};

// Loads of a path with equal keys share a model.
std::string key_of(const LoadOptions& options, const std::vector<BackendPlace>& supported) {
  std::string key;
  const BackendChoice& choice = options.backend;
  for (const BackendPlace& place : choice.places) key += '\n' + to_string(place);
  key += "\n|" + choice.device + '|' + std::string(to_string(choice.accelerators)) + '|' + options.onnx_file.string() +
         '|' + options.dump_graphs.string() + '|' + std::string(to_string(options.dtype)) + '|' +
         std::to_string(options.threads) + (options.map_files ? "m" : "r") + std::string(to_string(choice.policy));
  for (const BackendPlace& place : supported) key += "\n?" + to_string(place);
  return key;
}

std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real;
}

// Whether it is the end that the caller's control asked for.
bool is_end_of_call(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const base::ThrownByCaller&) {
    return true;
  } catch (const Error& error) {
    return error.code() == ErrorCode::cancelled;
  } catch (...) {
    return false;
  }
}

// What a call waits for. Shared with the cache, which a call may leave before there is an answer.
class Answer {
 public:
  void set(ModelCache::Held model, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    model_ = std::move(model);
    error_ = std::move(error);
    is_there_ = true;
    changed_.notify_all();
  }
  // Waits until it is there, or the call is to end: null then. Throws its error.
  ModelCache::Held wait(const RunControl& control) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_there = [this] { return is_there_; };
    if (control.deadline) {
      changed_.wait_until(lock, control.stop, *control.deadline, is_there);
    } else {
      changed_.wait(lock, control.stop, is_there);
    }
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::move(model_);
  }

 private:
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  ModelCache::Held model_;
  std::exception_ptr error_;
  bool is_there_ = false;
};

}  // namespace

struct SessionManager::State {
  mutable base::Mutex mutex;
  std::vector<BackendPlace> priority;
  const std::shared_ptr<SessionCounts> counts = std::make_shared<SessionCounts>();
  ModelCache cache;

  // The session, or null where the load that this call waited for was ended by its own caller, or this call is to end:
  // then try again.
  ModelCache::Held load_or_wait(const std::filesystem::path& path, const std::vector<BackendPlace>& supported,
                                const runtime::LoadRequest& request, const base::ControlledCall& call,
                                const RunControl& control) {
    runtime::LoadWatch watch(call);
    bool loads = false;
    std::exception_ptr ended;  // by this call's own control
    ModelCache::Wanted wanted{.key = {.model = real_path(path).string(), .options = key_of(request.options, supported)},
                              .load = {}};
    wanted.load = [&]() -> std::unique_ptr<runtime::CachedModel> {
      loads = true;
      const auto prepare = [](const Model::State& on) { on.prepare_forward(); };
      try {
        return std::make_unique<Session>(Model::State::load(path, request, watch, prepare, supported), counts);
      } catch (...) {
        if (!is_end_of_call(std::current_exception())) throw;
        ended = std::current_exception();
        throw Error(ErrorCode::cancelled, "the call that loaded the model was ended");  // others try again
      }
    };
    const auto answer = std::make_shared<Answer>();
    cache.acquire(wanted, [answer](ModelCache::Held model, std::exception_ptr error) {
      answer->set(std::move(model), std::move(error));
    });
    ModelCache::Held held;
    try {
      held = answer->wait(control);
    } catch (const Error& error) {
      if (ended != nullptr) std::rethrow_exception(ended);
      if (loads || error.code() != ErrorCode::cancelled) throw;
    }
    if (held == nullptr) return held;
    if (!loads) watch.begin(held->bytes());
    watch.finish();
    return held;
  }
};

SessionManager::SessionManager() : state_(std::make_shared<State>()) {}
SessionManager::~SessionManager() = default;

void SessionManager::set_priority(std::vector<BackendPlace> priority) {
  machine::check_names(priority);
  const std::lock_guard lock(state_->mutex);
  state_->priority = std::move(priority);
}

std::vector<BackendPlace> SessionManager::priority() const {
  const std::lock_guard lock(state_->mutex);
  return state_->priority;
}

SessionModel SessionManager::load_model(const std::filesystem::path& path, const std::vector<BackendPlace>& supported,
                                        LoadOptions options, const RunControl& control) {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    runtime::LoadRequest request(std::move(options));
    if (request.options.backend.places.empty()) {
      request.options.backend.places = priority();
      request.origin.places = "the session manager's priority";
    }
    ModelCache::Held held;
    while (held == nullptr) {
      call.cancellation().check();
      held = state_->load_or_wait(path, supported, request, call, control);
    }
    // The model holds the session, which is counted while anybody holds the model.
    Model made(std::shared_ptr<const Model::State>(held, static_cast<const Session&>(*held).model.get()));
    const Selection& selection = made.facts().selection;
    return SessionModel{made, selection.backend, selection.device};
  });
}

bool SessionManager::unload(const std::filesystem::path& path, std::chrono::nanoseconds limit) {
  return state_->cache.forget(real_path(path).string(), limit);
}

std::vector<SessionFacts> SessionManager::sessions() const { return state_->counts->facts(); }

}  // namespace alate
