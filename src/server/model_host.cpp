#include "server/model_host.h"

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
#include "formats/json.h"
#include "runtime/discovery.h"
#include "runtime/loaded_model.h"
#include "server/model_listing.h"
#include "server/model_loading.h"
#include "server/model_names.h"
#include "server/settings_loading.h"

namespace alate::server {
namespace {

using Clock = std::chrono::steady_clock;
using Hosted = std::shared_ptr<HostedModel>;
using KeepAlive = std::optional<std::chrono::nanoseconds>;  // none: for ever

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

BackendPolicy policy_of(const Settings& settings) {
  if (settings.policy == "strict") return BackendPolicy::strict;
  if (settings.policy == "allow") return BackendPolicy::allow;
  if (settings.policy == "warn") return BackendPolicy::warn;
  throw make_error(ErrorCode::invalid_argument, "policy is ", formats::quoted_name(settings.policy),
                   "; it must be strict, warn or allow");
}

LoadOptions load_options(const Settings& settings) {
  return {.backends = settings.backend_priority,
          .asked_by = settings.backend_priority_origin.empty() ? "backend_priority" : settings.backend_priority_origin,
          .is_wish = is_foreign_variable(settings.backend_priority_origin),
          .device = settings.device,
          .gpu = settings.gpu,
          .gpu_is_wish = is_foreign_variable(settings.gpu_origin),
          .policy = policy_of(settings),
          .threads = settings.threads,
          .map_files = settings.map_files};
}

HostingOptions hosting_options(const Settings& settings, runtime::BatchObserver observer) {
  LoadOptions load = load_options(settings);
  // What can never work is said before anything is served.
  const runtime::Preferences preferences = runtime::preferences_of(load);
  runtime::log_backends(runtime::discover_for(preferences), preferences);
  return {.load = std::move(load),
          .batches = {.max_tokens = settings.batch_max_tokens,
                      .max_wait = settings.batch_max_wait,
                      .cache_size = settings.cache_size,
                      .cache_ttl = settings.cache_ttl},
          .observer = std::move(observer)};
}

Error shutting_down() { return Error(ErrorCode::unavailable, "the server is shutting down; ask another, or later"); }

// A model that is loaded, or on its way.
struct Entry {
  NamedFolder model;
  Hosted hosted;  // null while it is loading
  std::vector<ModelHost::Ready> waiting;
  std::size_t bytes = 0;    // of its weights: of the files, then in memory
  bool takes_room = false;  // loading has begun, or it is loaded
  Clock::time_point used;
  KeepAlive keep_alive;

  bool is_used() const { return hosted.use_count() > 1 || hosted->scheduler->depth().jobs > 0; }
};

}  // namespace

struct ModelHost::State : std::enable_shared_from_this<ModelHost::State> {
  State(const Settings& given, WorkQueue& queue, runtime::BatchObserver observer)
      : settings(given),
        names(given),
        hosting(hosting_options(given, std::move(observer))),
        loaders(queue),
        graveyard(std::make_shared<ModelGraveyard>(queue)) {}

  const Settings settings;
  const ModelNames names;
  const HostingOptions hosting;
  WorkQueue& loaders;  // not to be used once `closed`
  const std::shared_ptr<ModelGraveyard> graveyard;
  ModelListings listings;
  std::atomic<std::ptrdiff_t> preloads_left = -1;

  std::mutex mutex;
  std::condition_variable room;  // a model that took room is loaded or has failed
  bool closed = false;
  std::map<std::string, Entry, std::less<>> entries;        // by canonical names
  std::map<std::string, std::string, std::less<>> aliases;  // of loaded models: as asked for, canonical

  void acquire(std::string_view name, Ready ready);
  Hosted find_loaded(std::string_view asked);
  void begin_loading(const NamedFolder& model, Ready ready);
  void load(const std::string& name);
  Hosted load_in_room(const NamedFolder& model);
  void make_room(std::unique_lock<std::mutex>& lock, const std::string& name);
  bool fits(const std::string& name) const;
  Hosted evict_one(const std::string& spared);
  Hosted remove(std::string_view name, std::string_view why);
  KeepAlive initial_keep_alive(const std::string& name) const;
  std::string canonical(std::string_view name);
};

KeepAlive ModelHost::State::initial_keep_alive(const std::string& name) const {
  const bool stays = std::ranges::any_of(settings.model_strategies, [&](const auto& each) {
    // Keys may leave out the owner, as requests may.
    return each.second == LoadStrategy::eager && (each.first == name || name.ends_with("/" + each.first));
  });
  if (stays || settings.keep_alive == std::chrono::nanoseconds{0}) return {};
  return settings.keep_alive;
}

// The loaded model that was asked for by this name before.
Hosted ModelHost::State::find_loaded(std::string_view asked) {
  const std::lock_guard lock(mutex);
  const auto alias = aliases.find(asked);
  if (alias == aliases.end()) return nullptr;
  Entry& entry = entries.find(alias->second)->second;
  entry.used = Clock::now();
  return entry.hosted;
}

void ModelHost::State::acquire(std::string_view name, Ready ready) {
  if (Hosted hosted = find_loaded(name)) return ready(std::move(hosted), nullptr);
  std::exception_ptr error;
  Hosted hosted;
  try {
    const NamedFolder model = names.resolve(name);
    const std::lock_guard lock(mutex);
    if (closed) throw shutting_down();
    const auto found = entries.find(model.name);
    if (found != entries.end() && found->second.hosted != nullptr) {
      hosted = found->second.hosted;
      found->second.used = Clock::now();
      aliases.emplace(name, model.name);
    } else {
      return begin_loading(model, std::move(ready));
    }
  } catch (...) {
    error = std::current_exception();
  }
  ready(std::move(hosted), std::move(error));
}

// With the lock.
void ModelHost::State::begin_loading(const NamedFolder& model, Ready ready) {
  const auto [place, is_new] = entries.try_emplace(model.name);
  Entry& entry = place->second;
  entry.waiting.push_back(std::move(ready));
  if (!is_new) return;
  entry.model = model;
  entry.keep_alive = initial_keep_alive(model.name);
  loaders.push([self = shared_from_this(), name = model.name] { self->load(name); });
}

// On a loader's thread.
void ModelHost::State::load(const std::string& name) {
  NamedFolder model;
  {
    const std::lock_guard lock(mutex);
    if (closed) return;
    model = entries.find(name)->second.model;
  }
  Hosted hosted;
  std::exception_ptr error;
  try {
    hosted = load_in_room(model);
  } catch (...) {
    error = std::current_exception();
  }
  std::vector<Ready> waiting;
  std::vector<Hosted> evicted;
  {
    const std::lock_guard lock(mutex);
    room.notify_all();
    if (closed) return;
    const auto place = entries.find(name);
    waiting.swap(place->second.waiting);
    if (error != nullptr) {
      entries.erase(place);
    } else {
      Entry& entry = place->second;
      entry.hosted = hosted;
      entry.bytes = bytes_in_memory(*hosted);
      entry.used = Clock::now();
      // Weights may take more room than their files: stored as float16, computed in float32.
      while (!fits(name)) {
        evicted.push_back(evict_one(name));
        if (evicted.back() == nullptr) break;
      }
    }
  }
  evicted.clear();
  // The last one gets this thread's share too: nobody but those who wait holds the model any more.
  for (std::size_t i = 0; i + 1 < waiting.size(); ++i) waiting[i](hosted, base::copy_of(error));
  if (!waiting.empty()) waiting.back()(std::move(hosted), std::move(error));
}

Hosted ModelHost::State::load_in_room(const NamedFolder& model) {
  const std::size_t bytes = weight_file_bytes(model.folder);
  if (settings.max_memory_mb > 0 && bytes > settings.max_memory_mb * kMegabyte) {
    throw make_error(ErrorCode::resource_exhausted, "the model ", formats::quoted_name(model.name), " has ",
                     (bytes + kMegabyte - 1) / kMegabyte, " MB of weights; this server's limit for all models is ",
                     settings.max_memory_mb, " MB");
  }
  {
    std::unique_lock lock(mutex);
    if (!closed) {
      entries.find(model.name)->second.bytes = bytes;
      make_room(lock, model.name);
    }
    if (closed) throw shutting_down();
  }
  Hosted hosted = load_hosted_model(model, hosting, graveyard);
  base::log(base::LogLevel::info, "model loaded",
            {{"model", model.name},
             {"ms", std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(hosted->load_time).count())},
             {"bytes", std::to_string(bytes_in_memory(*hosted))}});
  return hosted;
}

// Whether this model and all that take room besides are within the limits.
bool ModelHost::State::fits(const std::string& name) const {
  std::size_t models = 0, bytes = 0;
  for (const auto& [key, entry] : entries) {
    if (key != name && !entry.takes_room) continue;
    ++models;
    bytes += entry.bytes;
  }
  return (settings.max_loaded_models == 0 || models <= settings.max_loaded_models) &&
         (settings.max_memory_mb == 0 || bytes <= settings.max_memory_mb * kMegabyte);
}

// Evicts until the model fits; waits for others that are loading, where they are in the way.
void ModelHost::State::make_room(std::unique_lock<std::mutex>& lock, const std::string& name) {
  while (!closed && !fits(name)) {
    if (Hosted evicted = evict_one(name)) {
      lock.unlock();
      evicted.reset();
      lock.lock();
      continue;
    }
    const bool others_are_loading =
        std::ranges::any_of(entries, [&](const auto& each) { return each.first != name && each.second.takes_room; });
    if (!others_are_loading) break;
    room.wait(lock);
  }
  if (!closed) entries.find(name)->second.takes_room = true;
}

// The least recently used model, one that nobody uses at the moment where there is one.
Hosted ModelHost::State::evict_one(const std::string& spared) {
  const Entry* victim = nullptr;
  for (const auto& [key, entry] : entries) {
    if (key == spared || entry.hosted == nullptr) continue;
    if (victim == nullptr || std::pair(entry.is_used(), entry.used) < std::pair(victim->is_used(), victim->used))
      victim = &entry;
  }
  return victim == nullptr ? nullptr : remove(std::string(victim->model.name), "evicted");
}

// With the lock. Who gets the model must let go of it without the lock.
Hosted ModelHost::State::remove(std::string_view name, std::string_view why) {
  const auto found = entries.find(name);
  if (found == entries.end() || found->second.hosted == nullptr) return nullptr;
  base::log(base::LogLevel::info, "model unloaded", {{"model", found->first}, {"why", std::string(why)}});
  Hosted hosted = std::move(found->second.hosted);
  std::erase_if(aliases, [&](const auto& alias) { return alias.second == found->first; });
  entries.erase(found);
  return hosted;
}

// The name that a model is loaded by, also when its folder has gone meanwhile.
std::string ModelHost::State::canonical(std::string_view name) {
  {
    const std::lock_guard lock(mutex);
    if (const auto alias = aliases.find(name); alias != aliases.end()) return alias->second;
    if (entries.contains(name)) return std::string(name);
  }
  try {
    return names.resolve(name).name;
  } catch (const Error&) {
    return {};
  }
}

ModelHost::ModelHost(const Settings& settings, WorkQueue& loaders, runtime::BatchObserver observer)
    : state_(std::make_shared<State>(settings, loaders, std::move(observer))) {}

ModelHost::~ModelHost() {
  std::map<std::string, Entry, std::less<>> entries;
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    entries.swap(state_->entries);
    state_->aliases.clear();
    state_->room.notify_all();
  }
  for (const auto& [name, entry] : entries) {
    for (const Ready& ready : entry.waiting) ready(nullptr, std::make_exception_ptr(shutting_down()));
  }
  entries.clear();
  state_->graveyard->close();
}

void ModelHost::acquire(std::string_view name, Ready ready) { state_->acquire(name, std::move(ready)); }

void ModelHost::touch(const HostedModel& model, std::optional<std::chrono::nanoseconds> keep_alive) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->entries.find(model.name);
  if (found == state_->entries.end() || found->second.hosted.get() != &model) return;
  Entry& entry = found->second;
  entry.used = Clock::now();
  if (keep_alive) entry.keep_alive = *keep_alive < std::chrono::nanoseconds{0} ? KeepAlive{} : keep_alive;
}

bool ModelHost::unload(std::string_view name) {
  const std::string canonical = state_->canonical(name);
  Hosted hosted;
  {
    const std::lock_guard lock(state_->mutex);
    hosted = state_->remove(canonical, "asked for");
  }
  return hosted != nullptr;
}

void ModelHost::unload_idle() {
  std::vector<Hosted> idle;
  const std::lock_guard lock(state_->mutex);
  const Clock::time_point now = Clock::now();
  std::vector<std::string> over;
  for (auto& [name, entry] : state_->entries) {
    if (entry.hosted == nullptr) continue;
    if (entry.hosted->scheduler->depth().jobs > 0) entry.used = now;
    if (entry.keep_alive && now - entry.used >= *entry.keep_alive && !entry.is_used()) over.push_back(name);
  }
  for (const std::string& name : over) idle.push_back(state_->remove(name, "idle"));
}

std::vector<LoadedListing> ModelHost::loaded() const {
  std::vector<LoadedListing> all;
  const std::lock_guard lock(state_->mutex);
  const Clock::time_point now = Clock::now();
  for (const auto& [name, entry] : state_->entries) {
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

std::vector<ModelListing> ModelHost::listed() const {
  std::vector<ModelListing> all;
  for (const NamedFolder& model : state_->names.all()) all.push_back(state_->listings.of(model));
  return all;
}

ModelListing ModelHost::describe(std::string_view name) const {
  return state_->listings.of(state_->names.resolve(name));
}

std::string ModelHost::default_name() const { return state_->names.default_name(); }

void ModelHost::preload() {
  std::set<std::string> wanted(state_->settings.preload.begin(), state_->settings.preload.end());
  for (const auto& [name, strategy] : state_->settings.model_strategies) {
    if (strategy == LoadStrategy::eager) wanted.insert(name);
  }
  if (!state_->settings.default_model.empty()) wanted.insert(state_->names.default_name());
  // One more than there are, until all have been asked for.
  state_->preloads_left = static_cast<std::ptrdiff_t>(wanted.size()) + 1;
  for (const std::string& name : wanted) {
    state_->acquire(name, [state = state_.get(), name](const Hosted&, const std::exception_ptr& error) {
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

bool ModelHost::preloaded() const { return state_->preloads_left == 0; }

}  // namespace alate::server
