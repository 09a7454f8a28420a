// The model that requests get without naming one, and the models that a server begins with.
#include <exception>
#include <mutex>
#include <set>

#include "base/log.h"
#include "folders/hub_models.h"
#include "server/models/model_host_state.h"

namespace alate::server {

// The model that requests get without naming one; nothing where they must name one.
std::optional<NamedFolder> ModelHost::State::default_model() const {
  try {
    return names.resolve_soon({});
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Runs on a loader thread, after a model was loaded where the settings say.
void ModelHost::State::note_load(const NamedFolder& model, const std::exception_ptr& error) {
  if (error == nullptr) return default_failure.clear(model.name);
  const std::optional<NamedFolder> usual = default_model();
  if (!usual || usual->name != model.name) return;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& failure) {
    default_failure.set(model, failure.what(), listings);
  }
}

// Runs on a loader thread.
void ModelHost::State::check_default() {
  const std::optional<NamedFolder> model = default_model();
  if (!model) return default_failure.clear();
  try {
    check_hosted_model(*model, hosting);
    default_failure.clear();
  } catch (const std::exception& failure) {
    default_failure.set(*model, failure.what(), listings);
  }
}

// Calls `done` afterwards, unless the host stops before.
void ModelHost::State::queue_check_of_default(const std::function<void()>& done) {
  const std::lock_guard lock(mutex);
  if (closed || (check_is_queued.exchange(true) && !done)) return;
  loaders.push([self = shared_from_this(), done] {
    self->check_default();
    self->check_is_queued = false;
    if (done) done();
  });
}

// A model of the hub is fetched and then loaded; one step that fails is the end of a server that begins with it.
void ModelHost::State::preload_one(const std::string& name, const std::function<void(const Error&)>& failed) {
  const auto loaded = [self = shared_from_this(), name, failed](const Hosted&, const std::exception_ptr& error) {
    try {
      if (error != nullptr) std::rethrow_exception(error);
    } catch (const Error& failure) {
      base::log(base::LogLevel::error, "preloading failed", {{"model", name}, {"error", failure.what()}});
      if (failed && name.starts_with(folders::kHubPrefix)) failed(failure);
    } catch (const std::exception& failure) {
      base::log(base::LogLevel::error, "preloading failed", {{"model", name}, {"error", failure.what()}});
    }
    --self->preloads_left;
  };
  std::optional<hub::PullReference> reference;
  try {
    if (pulls != nullptr) reference = names.to_fetch(name);
    if (!reference) return acquire_here({.name = name, .backend = {}}, loaded, {});
    fetch(*reference, {},
          [self = shared_from_this(), name, loaded](const PullResult& result) {
            if (result.cause) return loaded(nullptr, result.cause);
            self->acquire_here({.name = name, .backend = {}}, loaded, {});
          },
          {});
  } catch (...) {
    loaded(nullptr, std::current_exception());
  }
}

void ModelHost::preload(const std::function<void(const Error& error)>& failed) {
  std::set<std::string> wanted(state_->settings.preload.begin(), state_->settings.preload.end());
  for (const auto& [name, strategy] : state_->settings.model_strategies) {
    if (strategy == LoadStrategy::eager) wanted.insert(name);
  }
  if (!state_->settings.default_model.empty()) wanted.insert(state_->names.default_name());
  // One extra, until all have been requested.
  state_->preloads_left = static_cast<std::ptrdiff_t>(wanted.size()) + 1;
  if (wanted.empty() && state_->default_model()) {  // else it is among those that are loaded
    ++state_->preloads_left;
    state_->queue_check_of_default([state = state_.get()] { --state->preloads_left; });
  }
  for (const std::string& name : wanted) state_->preload_one(name, failed);
  --state_->preloads_left;
}

std::string ModelHost::default_failure() const { return state_->default_failure.reason(); }

bool ModelHost::preloaded() const { return state_->preloads_left == 0; }

}  // namespace alate::server
