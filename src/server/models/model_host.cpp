#include "server/models/model_host.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "folders/model_reference.h"
#include "formats/json.h"
#include "server/models/model_host_state.h"
#include "server/pulls/download_rights.h"

namespace alate::server {
namespace {

using Hosted = std::shared_ptr<HostedModel>;

// Names that were found contain no line break, and purposes contain none.
std::string text_of(const ModelSpelling& spelling) {
  return spelling_of(spelling.purpose) + "\n" + spelling.name + "\n" + spelling.backend;
}

Hosted hosted(runtime::ModelCache::Held model) { return std::static_pointer_cast<HostedModel>(std::move(model)); }

// A caller waiting for a name look-up. If it is dropped because the host stops, the caller is notified.
class LookUp {
 public:
  explicit LookUp(ModelHost::Ready ready) : ready_(std::move(ready)) {}
  ~LookUp() {
    if (ready_) ready_(nullptr, std::make_exception_ptr(shutting_down()));
  }
  LookUp(const LookUp&) = delete;
  LookUp& operator=(const LookUp&) = delete;
  ModelHost::Ready take() { return std::exchange(ready_, nullptr); }

 private:
  ModelHost::Ready ready_;
};

}  // namespace

Hosted ModelSpellings::find(const ModelSpelling& spelling) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(text_of(spelling));
  return found == models_.end() ? nullptr : found->second.lock();
}

void ModelSpellings::add(const ModelSpelling& spelling, const Hosted& model) {
  const std::lock_guard lock(mutex_);
  std::erase_if(models_, [](const auto& each) { return each.second.expired(); });
  models_.insert_or_assign(text_of(spelling), model);
}

void ModelHost::State::acquire(const ModelSpelling& spelling, Ready ready, const Asker& asker) {
  // A model that only its users still hold is loaded anew.
  if (Hosted known = spellings.find(spelling); known && cache.use(*known)) return ready(std::move(known), nullptr);
  try {
    const auto reference = pulls == nullptr ? std::nullopt : names.to_fetch(spelling.name);
    if (reference) {
      return fetch(*reference, asker,
                   [self = shared_from_this(), spelling, ready, client = asker.client](const PullResult& result) {
                     if (result.error) return ready(nullptr, result.error);
                     self->acquire_here(spelling, ready, client);
                   },
                   {});
    }
  } catch (...) {
    return ready(nullptr, std::current_exception());
  }
  acquire_here(spelling, std::move(ready), asker.client);
}

// `done` gets the result after the model has become known.
void ModelHost::State::fetch(const hub::PullReference& reference, const Asker& asker,
                             std::function<void(const PullResult& result)> done, Pulls::Watch watch) {
  auto known = [self = shared_from_this(), reference, done = std::move(done)](const PullResult& result) {
    PullResult end = result;
    try {
      if (result.model != nullptr) self->names.add_fetched(reference, result.model->folder);
    } catch (const Error& error) {
      end = {.model = nullptr, .error = std::make_exception_ptr(error), .cause = std::make_exception_ptr(error)};
    }
    done(end);
  };
  pulls->ask(reference, asker, std::move(known), std::move(watch));
}

void ModelHost::State::acquire_here(const ModelSpelling& spelling, Ready ready, const std::optional<ClientId>& client) {
  std::exception_ptr error;
  try {
    // Only the files say what models are for.
    const auto model = spelling.purpose.tasks.empty() ? names.find_in_memory(spelling.name) : std::nullopt;
    const auto backend = backends.find_in_memory(spelling.backend);
    if (model && backend) return enter(spelling, *model, *backend, ready, client);
    const std::lock_guard lock(mutex);
    if (closed) throw shutting_down();
    auto waits = std::make_shared<LookUp>(std::move(ready));
    look_ups.push(client, [self = shared_from_this(), spelling, since = Clock::now(), waits = std::move(waits),
                           client] { self->look_up(spelling, since, waits->take(), client); });
    return;
  } catch (...) {
    error = std::current_exception();
  }
  ready(nullptr, std::move(error));
}

// Runs on the look-up thread.
void ModelHost::State::look_up(const ModelSpelling& spelling, Clock::time_point since, const Ready& ready,
                               const std::optional<ClientId>& client) {
  std::exception_ptr error;
  try {
    const NamedFolder model =
        spelling.purpose.tasks.empty() ? names.resolve(spelling.name, since) : choice.choose(spelling.purpose, since);
    const std::string backend = backends.resolve(spelling.backend, model.name);
    return enter(spelling, model, backend, ready, client);
  } catch (...) {
    error = std::current_exception();
  }
  ready(nullptr, std::move(error));
}

// If it throws, the caller must call `ready`.
void ModelHost::State::enter(const ModelSpelling& spelling, const NamedFolder& model, const std::string& backend,
                             const Ready& ready, const std::optional<ClientId>& client) {
  auto found = [self = shared_from_this(), spelling, ready](runtime::ModelCache::Held held, std::exception_ptr error) {
    Hosted given = hosted(std::move(held));
    if (given != nullptr) self->spellings.add(spelling, given);
    ready(std::move(given), std::move(error));
  };
  cache.acquire(wanted(model, backend, client), std::move(found));
}

// The name under which a model was loaded, even if its folder has disappeared since.
std::string ModelHost::State::canonical(std::string_view name) {
  if (const Hosted known = spellings.find({.name = std::string(name), .backend = {}})) return known->name;
  for (const runtime::ModelCache::Kept& kept : cache.kept()) {
    if (kept.key.model == name) return kept.key.model;
  }
  try {
    return names.resolve_soon(name).name;
  } catch (const Error&) {
    return {};
  }
}

ModelHost::ModelHost(const Settings& settings, WorkQueue& loaders, runtime::BatchObserver observer, Pulls* pulls)
    : look_ups_(1), state_(std::make_shared<State>(settings, loaders, look_ups_, std::move(observer), pulls)) {}

void ModelHost::State::close() {
  {
    const std::lock_guard lock(mutex);
    closed = true;
  }
  look_ups.stop();
  cache.close();
}

ModelHost::~ModelHost() {
  state_->close();
  state_->cache.finish_deletions();
}

void ModelHost::stop() noexcept {
  state_->close();
  for (const runtime::ModelCache::Held& each : state_->cache.alive()) hosted(each)->stop();
  state_->cache.finish_deletions();
}

void ModelHost::acquire(std::string_view name, std::string_view backend, Ready ready, const Asker& asker,
                        const ModelPurpose& purpose) {
  state_->acquire(
      {.name = std::string(name), .backend = std::string(backend), .purpose = name.empty() ? purpose : ModelPurpose()},
      std::move(ready), asker);
}

void ModelHost::pull(std::string_view name, const Asker& asker, std::function<void(std::exception_ptr error)> done,
                     Pulls::Watch watch) {
  const hub::PullReference reference = permitted_reference(name, state_->settings);
  if (state_->pulls == nullptr) throw shutting_down();
  state_->fetch(
      reference, asker, [done = std::move(done)](const PullResult& result) { done(result.error); }, std::move(watch));
}

void ModelHost::touch(const HostedModel& model, std::optional<std::chrono::nanoseconds> keep_alive) {
  if (!keep_alive) {
    state_->cache.use(model);
    return;
  }
  state_->cache.use(model, state_->permitted_keep_alive(*keep_alive));
}

bool ModelHost::lengthen(const HostedModel& model, std::chrono::nanoseconds keep_alive) {
  return state_->cache.lengthen(model, state_->permitted_keep_alive(keep_alive));
}

std::string ModelHost::hung_model(std::chrono::nanoseconds limit) const {
  for (const LoadedListing& each : loaded()) {
    if (each.model->running() > limit) return each.model->name;
  }
  return {};
}

bool ModelHost::unload(std::string_view name) { return state_->cache.unload(state_->canonical(name)); }

void ModelHost::unload_idle() {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->closed && !state_->refresh_is_queued.exchange(true)) {
      look_ups_.push([state = state_] {
        state->refresh_is_queued = false;
        state->names.refresh_if_requested();
        state->find_changed();
        if (state->default_failure.is_due(state->listings)) state->queue_check_of_default();
      });
    }
  }
  state_->cache.unload_idle();
}

runtime::ModelCache::Counts ModelHost::load_counts() const { return state_->cache.counts(); }

std::vector<LoadedListing> ModelHost::loaded() const {
  std::vector<LoadedListing> all;
  const auto now = runtime::ModelCache::Clock::now();
  for (runtime::ModelCache::Kept& kept : state_->cache.kept()) {
    if (kept.model == nullptr) continue;
    LoadedListing& listing =
        all.emplace_back(LoadedListing{.model = hosted(std::move(kept.model)), .expires = {}, .bytes = kept.bytes});
    if (kept.expires) {
      listing.expires = std::chrono::system_clock::now() +
                        std::chrono::duration_cast<std::chrono::system_clock::duration>(*kept.expires - now);
    }
  }
  return all;
}

ModelStatistics::Snapshot ModelHost::statistics(std::string_view name) const {
  std::shared_ptr<ModelStatistics> found;
  {
    const std::lock_guard lock(state_->mutex);
    if (const auto known = state_->statistics.find(name); known != state_->statistics.end()) found = known->second;
  }
  return found == nullptr ? ModelStatistics::Snapshot() : found->snapshot();
}

std::vector<ModelListing> ModelHost::listed() const {
  std::vector<ModelListing> all;
  for (const NamedFolder& model : state_->names.all()) all.push_back(state_->listings.of(model));
  return all;
}

ModelListing ModelHost::describe(std::string_view name) const {
  const NamedFolder model = state_->names.resolve_soon(name);
  if (!folders::is_model_folder(model.folder)) {
    throw make_error(ErrorCode::not_found, "the files of the model ", formats::quoted_name(model.name),
                     " have gone; GET /api/models lists what there is");
  }
  return state_->listings.of(model);
}

}  // namespace alate::server
