#include "server/models/model_host.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "alate/error.h"
#include "base/error_copy.h"
#include "base/log.h"
#include "base/threads/mutex.h"
#include "formats/json.h"
#include "hub/model_reference.h"
#include "runtime/loading/loaded_model.h"
#include "server/models/backend_choices.h"
#include "server/models/default_model_failure.h"
#include "server/models/host_limits.h"
#include "server/models/model_deleter.h"
#include "server/models/model_listing.h"
#include "server/models/model_loading.h"
#include "server/models/model_names.h"
#include "server/models/model_table.h"
#include "server/settings/hosting_options.h"

namespace alate::server {
namespace {

using Clock = std::chrono::steady_clock;
using Hosted = std::shared_ptr<HostedModel>;
using KeepAlive = HostEntry::KeepAlive;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

Error shutting_down() { return Error(ErrorCode::unavailable, "the server is shutting down; ask another, or later"); }

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

struct ModelHost::State : std::enable_shared_from_this<ModelHost::State> {
  State(const Settings& given, WorkQueue& queue, WorkQueue& look_up_queue, runtime::BatchObserver observer)
      : settings(given),
        names(given),
        backends(given),
        hosting(hosting_options(given, std::move(observer))),
        loaders(queue),
        look_ups(look_up_queue),
        deleter(std::make_shared<DeferredDeleter>()),
        table(host_limits(given, base::memory_facts())) {}

  const Settings settings;
  const ModelNames names;
  BackendChoices backends;
  const HostingOptions hosting;
  WorkQueue& loaders;   // not to be used once `closed`
  WorkQueue& look_ups;  // the same
  const std::shared_ptr<DeferredDeleter> deleter;
  ModelListings listings;
  std::atomic<std::ptrdiff_t> preloads_left = -1;
  std::atomic<bool> refresh_is_queued = false;
  DefaultModelFailure default_failure;
  std::atomic<bool> check_is_queued = false;

  base::Mutex mutex;
  std::condition_variable room;  // signals that a model that took room has loaded or failed
  bool closed = false;
  ModelTable table;                                                                 // guarded by the mutex
  std::map<std::string, std::shared_ptr<ModelStatistics>, std::less<>> statistics;  // by model name, for good
  std::vector<std::weak_ptr<HostedModel>> made;  // includes models no longer in `table.entries`

  void acquire(std::string_view name, std::string_view backend, Ready ready);
  void look_up(const std::string& name, const std::string& backend, Clock::time_point since, const Ready& ready);
  void enter(std::string_view name, std::string_view asked, const NamedFolder& model, const std::string& backend,
             const Ready& ready);
  Hosted find_loaded(std::string_view asked);
  void begin_loading(const NamedFolder& model, std::string_view backend, Ready ready);
  void load(const std::string& key);
  Hosted load_in_room(const std::string& key, const NamedFolder& model, const std::string& backend);
  void make_room(std::unique_lock<std::mutex>& lock, const std::string& key);
  std::optional<NamedFolder> default_model() const;
  void note_load(const NamedFolder& model, const std::exception_ptr& error);
  void check_default();
  void queue_check_of_default(const std::function<void()>& done = {});
  bool is_eager(const std::string& name) const;
  KeepAlive longest_keep_alive() const;
  std::string canonical(std::string_view name);
  ModelTable::Entries close();
};

bool ModelHost::State::is_eager(const std::string& name) const {
  return std::ranges::any_of(settings.model_strategies, [&](const auto& each) {
    // Keys may omit the owner, as in requests.
    return each.second == LoadStrategy::eager && (each.first == name || name.ends_with("/" + each.first));
  });
}

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

// The longest keep-alive that a request may ask for.
KeepAlive ModelHost::State::longest_keep_alive() const {
  if (settings.keep_alive == std::chrono::nanoseconds{0}) return {};
  return std::max(settings.keep_alive, settings.max_keep_alive);
}

// The loaded model previously requested under this name.
Hosted ModelHost::State::find_loaded(std::string_view asked) {
  const std::lock_guard lock(mutex);
  const auto alias = table.aliases.find(asked);
  if (alias == table.aliases.end()) return nullptr;
  HostEntry& entry = table.entries.find(alias->second)->second;
  entry.used = Clock::now();
  return entry.hosted;
}

void ModelHost::State::acquire(std::string_view name, std::string_view asked, Ready ready) {
  if (Hosted hosted = find_loaded(model_key(name, asked))) return ready(std::move(hosted), nullptr);
  std::exception_ptr error;
  try {
    const auto model = names.find_in_memory(name);
    const auto backend = backends.find_in_memory(asked);
    if (model && backend) return enter(name, asked, *model, *backend, ready);
    const std::lock_guard lock(mutex);
    if (closed) throw shutting_down();
    auto waits = std::make_shared<LookUp>(std::move(ready));
    look_ups.push([self = shared_from_this(), name = std::string(name), asked = std::string(asked),
                   since = Clock::now(),
                   waits = std::move(waits)] { self->look_up(name, asked, since, waits->take()); });
    return;
  } catch (...) {
    error = std::current_exception();
  }
  ready(nullptr, std::move(error));
}

// Runs on the look-up thread.
void ModelHost::State::look_up(const std::string& name, const std::string& asked, Clock::time_point since,
                               const Ready& ready) {
  std::exception_ptr error;
  try {
    const NamedFolder model = names.resolve(name, since);
    const std::string backend = backends.resolve(asked, model.name);
    return enter(name, asked, model, backend, ready);
  } catch (...) {
    error = std::current_exception();
  }
  ready(nullptr, std::move(error));
}

// Passes on the model if it is loaded, else starts loading it. If it throws, the caller must call `ready`.
void ModelHost::State::enter(std::string_view name, std::string_view asked, const NamedFolder& model,
                             const std::string& backend, const Ready& ready) {
  Hosted hosted;
  {
    const std::lock_guard lock(mutex);
    if (closed) throw shutting_down();
    std::string key = model_key(model.name, backend);
    if (const auto alias = table.aliases.find(key); alias != table.aliases.end()) key = alias->second;
    const auto found = table.entries.find(key);
    HostEntry* entry = found != table.entries.end() && found->second.hosted != nullptr ? &found->second : nullptr;
    if (entry == nullptr && !backend.empty()) entry = table.find_on(model.name, backend);
    if (entry == nullptr) return begin_loading(model, backend, ready);
    entry->used = Clock::now();
    hosted = entry->hosted;
    table.aliases.emplace(model_key(name, asked), hosted->key);
  }
  ready(std::move(hosted), nullptr);
}

// Requires the lock.
void ModelHost::State::begin_loading(const NamedFolder& model, std::string_view backend, Ready ready) {
  const std::string key = model_key(model.name, backend);
  const auto [place, is_new] = table.entries.try_emplace(key);
  HostEntry& entry = place->second;
  entry.waiting.push_back(std::move(ready));
  if (!is_new) return;
  entry.model = model;
  entry.backend = backend;
  entry.stays = is_eager(model.name);
  if (!entry.stays && settings.keep_alive != std::chrono::nanoseconds{0}) entry.keep_alive = settings.keep_alive;
  loaders.push([self = shared_from_this(), key] { self->load(key); });
}

// Runs on a loader thread.
void ModelHost::State::load(const std::string& key) {
  NamedFolder model;
  std::string backend;
  {
    const std::lock_guard lock(mutex);
    if (closed) return;
    const HostEntry& entry = table.entries.find(key)->second;
    model = entry.model;
    backend = entry.backend;
  }
  Hosted hosted;
  std::exception_ptr error;
  try {
    hosted = load_in_room(key, model, backend);
  } catch (...) {
    error = std::current_exception();
  }
  if (backend.empty()) note_load(model, error);
  std::vector<Ready> waiting;
  std::vector<Hosted> evicted;
  {
    const std::lock_guard lock(mutex);
    room.notify_all();
    if (closed) return;
    const auto place = table.entries.find(key);
    waiting.swap(place->second.waiting);
    if (error != nullptr) {
      table.entries.erase(place);
    } else if (const HostEntry* twin = table.find_on(place->second.model.name, place_of(*hosted), hosted.get())) {
      // The settings' choice resolved to a device that a request had already named, or vice versa.
      evicted.push_back(std::exchange(hosted, twin->hosted));
      table.aliases.emplace(key, hosted->key);
      table.entries.erase(place);
    } else {
      HostEntry& entry = place->second;
      entry.hosted = hosted;
      entry.bytes = bytes_in_memory(*hosted);
      entry.used = Clock::now();
      std::erase_if(made, [](const auto& each) { return each.expired(); });
      made.push_back(hosted);
      // Weights may take more memory than their files, for example when stored as float16 and computed in float32.
      while (!table.fits(key)) {
        evicted.push_back(table.evict_one(key));
        if (evicted.back() == nullptr) break;
      }
    }
  }
  evicted.clear();
  // The last waiter also gets this thread's reference, so that only the waiters hold the model.
  for (std::size_t i = 0; i + 1 < waiting.size(); ++i) waiting[i](hosted, base::copy_of(error));
  if (!waiting.empty()) waiting.back()(std::move(hosted), std::move(error));
}

Hosted ModelHost::State::load_in_room(const std::string& key, const NamedFolder& model, const std::string& backend) {
  const std::size_t bytes = weight_file_bytes(model.folder);
  if (table.limits.bytes > 0 && bytes > table.limits.bytes) {
    throw make_error(ErrorCode::resource_exhausted, "the model ", formats::quoted_name(model.name), " has ",
                     (bytes + kMegabyte - 1) / kMegabyte, " MB of weights; this server's limit for all models is ",
                     table.limits.bytes / kMegabyte, " MB (max_memory_mb)");
  }
  std::shared_ptr<ModelStatistics> counted;
  {
    std::unique_lock<std::mutex> lock(mutex);
    if (!closed) {
      auto& known = statistics[model.name];
      if (known == nullptr) known = std::make_shared<ModelStatistics>();
      counted = known;
      table.entries.find(key)->second.bytes = bytes;
      make_room(lock, key);
    }
    if (closed) throw shutting_down();
  }
  Hosted hosted = load_hosted_model(model, key, on_backend(hosting, backend), std::move(counted), deleter);
  base::log(base::LogLevel::info, "model loaded",
            {{"model", model.name},
             {"backend", hosted->pipelines.facts().backend},
             {"ms", std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(hosted->load_time).count())},
             {"bytes", std::to_string(bytes_in_memory(*hosted))}});
  return hosted;
}

// Evicts models until this one fits; waits for others that are loading if they are in the way.
void ModelHost::State::make_room(std::unique_lock<std::mutex>& lock, const std::string& key) {
  while (!closed && !table.fits(key)) {
    if (Hosted evicted = table.evict_one(key)) {
      lock.unlock();
      evicted.reset();
      lock.lock();
      continue;
    }
    const bool others_are_loading = std::ranges::any_of(
        table.entries, [&](const auto& each) { return each.first != key && each.second.takes_room; });
    if (!others_are_loading) break;
    room.wait(lock);
  }
  if (!closed) table.entries.find(key)->second.takes_room = true;
}

// The name under which a model was loaded, even if its folder has disappeared since.
std::string ModelHost::State::canonical(std::string_view name) {
  {
    const std::lock_guard lock(mutex);
    if (const auto alias = table.aliases.find(name); alias != table.aliases.end())
      return table.entries.find(alias->second)->second.model.name;
    if (std::ranges::any_of(table.entries, [&](const auto& each) { return each.second.model.name == name; }))
      return std::string(name);
  }
  try {
    return names.resolve_soon(name).name;
  } catch (const Error&) {
    return {};
  }
}

ModelHost::ModelHost(const Settings& settings, WorkQueue& loaders, runtime::BatchObserver observer)
    : look_ups_(1), state_(std::make_shared<State>(settings, loaders, look_ups_, std::move(observer))) {}

// Returns the models that were loaded.
ModelTable::Entries ModelHost::State::close() {
  ModelTable::Entries left;
  {
    const std::lock_guard lock(mutex);
    closed = true;
    left.swap(table.entries);
    table.aliases.clear();
    room.notify_all();
  }
  look_ups.stop();
  for (const auto& [name, entry] : left) {
    for (const Ready& ready : entry.waiting) ready(nullptr, std::make_exception_ptr(shutting_down()));
  }
  return left;
}

ModelHost::~ModelHost() {
  state_->close();
  state_->deleter->close();
}

void ModelHost::stop() noexcept {
  ModelTable::Entries left = state_->close();
  std::vector<std::weak_ptr<HostedModel>> made;
  {
    const std::lock_guard lock(state_->mutex);
    made.swap(state_->made);
  }
  for (const std::weak_ptr<HostedModel>& each : made) {
    if (const Hosted hosted = each.lock()) hosted->scheduler->stop();
  }
  left.clear();
  state_->deleter->close();  // after destroying the models released before
}

void ModelHost::acquire(std::string_view name, std::string_view backend, Ready ready) {
  state_->acquire(name, backend, std::move(ready));
}

void ModelHost::touch(const HostedModel& model, std::optional<std::chrono::nanoseconds> keep_alive) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->table.entries.find(model.key);
  if (found == state_->table.entries.end() || found->second.hosted.get() != &model) return;
  HostEntry& entry = found->second;
  entry.used = Clock::now();
  if (!keep_alive || entry.stays) return;
  const bool is_for_ever = *keep_alive < std::chrono::nanoseconds{0};
  const KeepAlive longest = state_->longest_keep_alive();
  entry.keep_alive = is_for_ever ? longest : longest ? std::min(*keep_alive, *longest) : *keep_alive;
}

std::string ModelHost::hung_model(std::chrono::nanoseconds limit) const {
  const std::lock_guard lock(state_->mutex);
  for (const auto& [key, entry] : state_->table.entries) {
    if (entry.hosted != nullptr && entry.hosted->scheduler->depth().running > limit) return entry.model.name;
  }
  return {};
}

bool ModelHost::unload(std::string_view name) {
  const std::string canonical = state_->canonical(name);
  std::vector<Hosted> removed;
  {
    const std::lock_guard lock(state_->mutex);
    std::vector<std::string> keys;
    for (const auto& [key, entry] : state_->table.entries) {
      if (entry.model.name == canonical && entry.hosted != nullptr) keys.push_back(key);
    }
    for (const std::string& key : keys) removed.push_back(state_->table.remove(key, "asked for"));
  }
  return !removed.empty();
}

void ModelHost::unload_idle() {
  std::vector<Hosted> idle;
  const std::lock_guard lock(state_->mutex);
  if (!state_->closed && !state_->refresh_is_queued.exchange(true)) {
    look_ups_.push([state = state_] {
      state->refresh_is_queued = false;
      state->names.refresh_if_requested();
      if (state->default_failure.is_due(state->listings)) state->queue_check_of_default();
    });
  }
  const Clock::time_point now = Clock::now();
  std::vector<std::string> over;
  for (auto& [name, entry] : state_->table.entries) {
    if (entry.hosted == nullptr) continue;
    if (entry.hosted->scheduler->depth().jobs > 0) entry.used = now;
    if (entry.keep_alive && now - entry.used >= *entry.keep_alive && !entry.is_used()) over.push_back(name);
  }
  for (const std::string& name : over) idle.push_back(state_->table.remove(name, "idle"));
}

std::vector<LoadedListing> ModelHost::loaded() const {
  std::vector<LoadedListing> all;
  const std::lock_guard lock(state_->mutex);
  const Clock::time_point now = Clock::now();
  for (const auto& [name, entry] : state_->table.entries) {
    if (entry.hosted == nullptr) continue;
    LoadedListing& listing =
        all.emplace_back(LoadedListing{.model = entry.hosted, .expires = {}, .bytes = entry.bytes});
    if (entry.keep_alive) {
      listing.expires =
          std::chrono::system_clock::now() +
          std::chrono::duration_cast<std::chrono::system_clock::duration>(entry.used + *entry.keep_alive - now);
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
  if (!hub::is_model_folder(model.folder)) {
    throw make_error(ErrorCode::not_found, "the files of the model ", formats::quoted_name(model.name),
                     " have gone; GET /api/models lists what there is");
  }
  return state_->listings.of(model);
}

void ModelHost::preload() {
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
  for (const std::string& name : wanted) {
    state_->acquire(name, {}, [state = state_.get(), name](const Hosted&, const std::exception_ptr& error) {
      try {
        if (error != nullptr) std::rethrow_exception(error);
      } catch (const std::exception& failure) {
        base::log(base::LogLevel::error, "preloading failed", {{"model", name}, {"error", failure.what()}});
      }
      --state->preloads_left;
    });
  }
  --state_->preloads_left;
}

std::string ModelHost::default_failure() const { return state_->default_failure.reason(); }

bool ModelHost::preloaded() const { return state_->preloads_left == 0; }

}  // namespace alate::server
