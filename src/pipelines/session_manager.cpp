#include <algorithm>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>

#include "alate/error.h"
#include "alate/session.h"
#include "base/error_copy.h"
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

}  // namespace

struct SessionManager::State {
  mutable base::Mutex mutex;
  std::condition_variable released;  // notified when a model has been destroyed
  std::vector<BackendPlace> priority;
  std::map<std::string, Entry> entries;
  std::map<const Model::State*, std::filesystem::path> alive;  // every loaded model, until its last user releases it
  std::map<std::pair<std::string, std::string>, std::size_t> sessions;

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
                                        LoadOptions options) {
  const std::filesystem::path real = real_path(path);
  std::promise<StatePtr> promise;
  std::shared_future<StatePtr> model;
  std::string key;
  machine::ChoiceOrigin origin;
  bool loads = false;
  {
    const std::lock_guard lock(state_->mutex);
    if (options.backend.places.empty()) {
      options.backend.places = state_->priority;
      origin.places = "the session manager's priority";
    }
    key = key_of(real, options);
    for (const BackendPlace& place : supported) key += "\n?" + to_string(place);
    const auto [place, is_new] = state_->entries.try_emplace(key);
    if (is_new) place->second = {real, promise.get_future().share()};
    model = place->second.model;
    loads = is_new;
  }
  if (loads) {
    try {
      const StatePtr loaded = Model::State::load(
          path, {options, origin}, [](const Model::State& on) { on.prepare_forward(); }, supported);
      promise.set_value(State::tracked(state_, real, loaded));
    } catch (...) {
      {
        const std::lock_guard lock(state_->mutex);
        state_->entries.erase(key);
      }
      promise.set_exception(std::current_exception());
    }
  }
  try {
    Model made(model.get());
    const Selection& selection = made.facts().selection;
    return {made, selection.backend, selection.device};
  } catch (...) {
    // Each waiter gets an exception object of its own.
    std::rethrow_exception(base::copy_of(std::current_exception()));
  }
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
