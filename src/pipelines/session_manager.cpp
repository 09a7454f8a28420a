#include <algorithm>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>

#include "alate/error.h"
#include "alate/session.h"
#include "base/error_copy.h"
#include "base/threads/controlled_call.h"
#include "base/threads/mutex.h"
#include "machine/discovery.h"
#include "runtime/loading/loaded_model.h"

namespace alate {
namespace {

using StatePtr = std::shared_ptr<const Model::State>;

// A model that is loaded or being loaded.
struct Entry {
  std::filesystem::path path;
  std::shared_future<StatePtr> model;
};

// The key of a load: loads with equal keys share a model.
std::string key_of(const std::filesystem::path& path, const LoadOptions& options) {
  std::string key = path.string();
  const BackendChoice& choice = options.backend;
  for (const BackendPlace& place : choice.places) key += '\n' + to_string(place);
  key += "\n|" + choice.device + '|' + std::string(to_string(choice.accelerators)) + '|' + options.onnx_file.string() +
         '|' + options.dump_graphs.string() + '|' + std::string(to_string(options.dtype)) + '|' +
         std::to_string(options.threads) + (options.map_files ? "m" : "r") + std::string(to_string(choice.policy));
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

// Each waiter gets an exception object of its own.
StatePtr result_of(const std::shared_future<StatePtr>& model) {
  try {
    return model.get();
  } catch (...) {
    std::rethrow_exception(base::copy_of(std::current_exception()));
  }
}

}  // namespace

struct SessionManager::State {
  mutable base::Mutex mutex;
  std::condition_variable released;    // notified when a model has been destroyed
  std::condition_variable_any loaded;  // notified when a load has ended
  std::vector<BackendPlace> priority;
  std::map<std::string, Entry> entries;
  std::map<const Model::State*, std::filesystem::path> alive;  // every loaded model, until its last user releases it
  std::map<std::pair<std::string, std::string>, std::size_t> sessions;

  // The model, or null where the load that this call waited for was ended by its own caller: then try again.
  static StatePtr load_or_wait(const std::shared_ptr<State>& state, const std::filesystem::path& path,
                               const std::filesystem::path& real, const std::vector<BackendPlace>& supported,
                               runtime::LoadRequest request, const base::ControlledCall& call,
                               const RunControl& control) {
    std::promise<StatePtr> promise;
    std::shared_future<StatePtr> model;
    std::string key;
    bool loads = false;
    {
      const std::lock_guard lock(state->mutex);
      BackendChoice& choice = request.options.backend;
      if (choice.places.empty()) {
        choice.places = state->priority;
        request.origin.places = "the session manager's priority";
      }
      key = key_of(real, request.options);
      for (const BackendPlace& place : supported) key += "\n?" + to_string(place);
      const auto [place, is_new] = state->entries.try_emplace(key);
      if (is_new) place->second = {real, promise.get_future().share()};
      model = place->second.model;
      loads = is_new;
    }
    runtime::LoadWatch watch(call);
    if (loads) {
      const auto prepare = [](const Model::State& on) { on.prepare_forward(); };
      try {
        promise.set_value(tracked(state, real, Model::State::load(path, request, watch, prepare, supported)));
      } catch (...) {
        const bool is_ended_by_caller = is_end_of_call(std::current_exception());
        {
          const std::lock_guard lock(state->mutex);
          state->entries.erase(key);
        }
        if (is_ended_by_caller) {
          promise.set_value(nullptr);
        } else {
          promise.set_exception(std::current_exception());
        }
        state->notify_loaded();
        if (is_ended_by_caller) throw;
      }
      state->notify_loaded();
    } else {
      state->wait(model, control);
      call.cancellation().check();
    }
    StatePtr made = result_of(model);
    if (made != nullptr) {
      if (!loads) watch.begin(made->facts.weight_bytes);
      watch.finish();
    }
    return made;
  }

  // Under the lock, so that nobody is between looking at the load and waiting for it.
  void notify_loaded() {
    const std::lock_guard lock(mutex);
    loaded.notify_all();
  }

  // Until the load has ended, or the waiting call is to.
  void wait(const std::shared_future<StatePtr>& model, const RunControl& control) {
    const auto is_done = [&] { return model.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
    std::unique_lock<std::mutex> lock(mutex);
    if (control.deadline) {
      loaded.wait_until(lock, control.stop, *control.deadline, is_done);
    } else {
      loaded.wait(lock, control.stop, is_done);
    }
  }

  // Counts the model, and notifies when it is destroyed.
  static StatePtr tracked(const std::shared_ptr<State>& state, const std::filesystem::path& path, StatePtr model) {
    const Model::State* key = model.get();
    const Selection& selection = model->facts.selection;
    const auto session = std::make_pair(selection.backend, selection.device);
    {
      const std::lock_guard lock(state->mutex);
      state->alive.emplace(key, path);
      ++state->sessions[session];
    }
    return {key, [state, session, held = std::move(model)](const Model::State* gone) mutable {
              held.reset();  // before waiters are notified
              const std::lock_guard lock(state->mutex);
              state->alive.erase(gone);
              --state->sessions[session];
              state->released.notify_all();
            }};
  }
};

SessionManager::SessionManager() : state_(std::make_shared<State>()) {}

// Models hold the state that counts them, and the state holds models: this breaks the cycle.
SessionManager::~SessionManager() {
  std::map<std::string, Entry> entries;  // let go of without the lock
  {
    const std::lock_guard lock(state_->mutex);
    entries.swap(state_->entries);
  }
}

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
    const std::filesystem::path real = real_path(path);
    runtime::LoadRequest request(std::move(options));
    StatePtr model;
    while (model == nullptr) {
      call.cancellation().check();
      model = state_->load_or_wait(state_, path, real, supported, request, call, control);
    }
    Model made(std::move(model));
    const Selection& selection = made.facts().selection;
    return SessionModel{made, selection.backend, selection.device};
  });
}

bool SessionManager::unload(const std::filesystem::path& path, std::chrono::nanoseconds limit) {
  const std::filesystem::path real = real_path(path);
  std::vector<Entry> forgotten;  // let go of without the lock
  {
    const std::lock_guard lock(state_->mutex);
    for (auto each = state_->entries.begin(); each != state_->entries.end();) {
      if (each->second.path == real) {
        forgotten.push_back(std::move(each->second));
        each = state_->entries.erase(each);
      } else {
        ++each;
      }
    }
  }
  for (Entry& entry : forgotten) entry.model.wait();
  forgotten.clear();
  std::unique_lock<std::mutex> lock(state_->mutex);
  return state_->released.wait_for(lock, limit, [&] {
    return std::ranges::none_of(state_->alive, [&](const auto& each) { return each.second == real; });
  });
}

std::vector<SessionFacts> SessionManager::sessions() const {
  std::vector<SessionFacts> all;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [session, models] : state_->sessions) all.push_back({session.first, session.second, models});
  return all;
}

}  // namespace alate
