#include "runtime/caching/model_cache.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <utility>

#include "alate/error.h"
#include "base/error_copy.h"
#include "base/threads/mutex.h"
#include "runtime/caching/deferred_deleter.h"
#include "runtime/caching/model_census.h"
#include "runtime/caching/model_table.h"

namespace alate::runtime {
namespace {

using EntryPtr = std::shared_ptr<CacheEntry>;

}  // namespace

struct ModelCache::State : std::enable_shared_from_this<ModelCache::State> {
  explicit State(ModelCacheOptions given)
      : options(std::move(given)),
        deleter(options.deletes_elsewhere ? std::make_shared<DeferredDeleter>() : nullptr),
        table(options.most_models, options.most_bytes) {}

  const ModelCacheOptions options;
  const std::shared_ptr<ModelCensus> census = std::make_shared<ModelCensus>();
  const std::shared_ptr<DeferredDeleter> deleter;  // null: models are destroyed where they are let go of

  base::Mutex mutex;
  std::condition_variable room;  // signals that a model that took room has loaded or failed
  bool closed = false;
  ModelTable table;  // guarded by the mutex, as the counts
  Counts counts;

  std::exception_ptr closed_error() const { return std::make_exception_ptr(options.closed); }
  EntryPtr find(const ModelKey& key) const;
  Held held(std::unique_ptr<CachedModel> made, const ModelKey& key) const;
  void start(const EntryPtr& entry, const Wanted& wanted);
  void load(const EntryPtr& entry);
  Held load_in_room(const EntryPtr& entry, const Wanted& wanted);
  void make_room(std::unique_lock<std::mutex>& lock, CacheEntry& entry);
  Held keep(CacheEntry& entry, Held made, std::size_t bytes, std::vector<Held>& let_go);
};

ModelCache::ModelCache(ModelCacheOptions options) : state_(std::make_shared<State>(std::move(options))) {}

ModelCache::~ModelCache() {
  close();
  finish_deletions();
}

// Requires the lock. What is loaded or loading for the key.
EntryPtr ModelCache::State::find(const ModelKey& key) const {
  EntryPtr entry = table.find(key);
  if ((entry == nullptr || entry->model == nullptr) && !key.place.empty()) {
    if (EntryPtr other = table.find_on(key, key.place)) return other;
  }
  return entry;
}

// Counts the model until it is destroyed.
ModelCache::Held ModelCache::State::held(std::unique_ptr<CachedModel> made, const ModelKey& key) const {
  made->key_ = key;
  CachedModel* model = made.get();
  auto tracked = std::make_unique<TrackedModel>(std::move(made), census);
  std::shared_ptr<TrackedModel> counted;
  if (deleter == nullptr) {
    counted = std::move(tracked);
  } else {
    counted = {tracked.release(), [to = deleter](TrackedModel* released) noexcept { to->release(released); }};
  }
  census->add(counted);
  return {std::move(counted), model};
}

void ModelCache::acquire(const Wanted& wanted, Ready ready) {
  Held found;
  EntryPtr begun;
  bool is_closed = false;
  {
    const std::lock_guard lock(state_->mutex);
    is_closed = state_->closed;
    EntryPtr entry = is_closed ? nullptr : state_->find(wanted.key);
    if (entry != nullptr && entry->model == nullptr) {
      entry->waiting.push_back(ready);
      const bool has_turn = wanted.start && entry->to_load && entry->turns.insert(wanted.turn).second;
      if (!has_turn) return;
      begun = std::move(entry);
    } else if (entry != nullptr) {
      entry->used = Clock::now();
      found = entry->model;
      if (entry->key != wanted.key) state_->table.redirect(wanted.key, entry->key);
    } else if (!is_closed) {
      begun = std::make_shared<CacheEntry>(wanted);
      begun->waiting.push_back(ready);
      state_->table.add(begun);
      state_->census->loading_begins(wanted.key.model);
    }
  }
  if (is_closed) return ready(nullptr, state_->closed_error());
  if (begun == nullptr) return ready(std::move(found), nullptr);
  state_->start(begun, wanted);
}

void ModelCache::State::start(const EntryPtr& entry, const Wanted& wanted) {
  if (!wanted.start) return load(entry);
  wanted.start([state = shared_from_this(), entry] { state->load(entry); });
}

ModelCache::Held ModelCache::get(const Wanted& wanted) {
  // Shared with the callback, which may still be on its way out when the answer is there.
  const auto promise = std::make_shared<std::promise<Held>>();
  std::future<Held> answer = promise->get_future();
  acquire(wanted, [promise](Held model, const std::exception_ptr& error) {
    if (error != nullptr) return promise->set_exception(error);
    promise->set_value(std::move(model));
  });
  return answer.get();
}

ModelCache::Held ModelCache::find(const ModelKey& key) {
  const std::lock_guard lock(state_->mutex);
  const EntryPtr entry = state_->find(key);
  if (entry == nullptr || entry->model == nullptr) return nullptr;
  entry->used = Clock::now();
  return entry->model;
}

// Runs where loads run, once for each turn.
void ModelCache::State::load(const EntryPtr& entry) {
  Wanted wanted;
  {
    const std::lock_guard lock(mutex);
    if (!entry->to_load) return;
    wanted = *std::exchange(entry->to_load, std::nullopt);
  }
  Held made;
  std::exception_ptr error;
  std::size_t bytes = 0;
  try {
    made = load_in_room(entry, wanted);
    bytes = made->bytes();
  } catch (...) {
    error = std::current_exception();
    made.reset();
  }
  std::vector<Ready> waiting;
  std::vector<Held> let_go;  // without the lock
  {
    const std::lock_guard lock(mutex);
    room.notify_all();
    waiting.swap(entry->waiting);  // empty once closed
    if (table.has(*entry)) {
      if (error != nullptr) {
        ++counts.failed;
        table.remove(wanted.key, "failed");
      } else {
        ++counts.loaded;
        made = keep(*entry, std::move(made), bytes, let_go);
      }
    }
  }
  let_go.clear();
  census->loading_ends(wanted.key.model);
  // The last to wait also gets this thread's reference, so that only they hold the model.
  for (std::size_t i = 0; i + 1 < waiting.size(); ++i) waiting[i](made, base::copy_of(error));
  if (!waiting.empty()) waiting.back()(std::move(made), std::move(error));
}

ModelCache::Held ModelCache::State::load_in_room(const EntryPtr& entry, const Wanted& wanted) {
  const std::size_t bytes = wanted.expected_bytes ? wanted.expected_bytes() : 0;
  {
    std::unique_lock<std::mutex> lock(mutex);
    entry->bytes = bytes;
    make_room(lock, *entry);
    if (closed) throw options.closed;
  }
  return held(wanted.load(), wanted.key);
}

// Lets go of models until this one fits; waits for others that are loading if they are in the way, and for a while for
// those in use.
void ModelCache::State::make_room(std::unique_lock<std::mutex>& lock, CacheEntry& entry) {
  constexpr std::chrono::milliseconds kLook(20);  // nobody says when a model is no longer in use
  const Clock::time_point give_up = Clock::now() + options.patience;
  while (!closed && table.has(entry) && !table.fits(entry)) {
    if (Held evicted = table.evict_one(entry)) {
      ++counts.evicted;
      lock.unlock();
      evicted.reset();
      lock.lock();
      continue;
    }
    if (!table.others_load(entry) && Clock::now() >= give_up) throw table.no_room(entry);
    room.wait_for(lock, kLook);
  }
  entry.takes_room = true;
}

// Requires the lock. Returns the model that is kept: this one, or one that was on its device before.
ModelCache::Held ModelCache::State::keep(CacheEntry& entry, Held made, std::size_t bytes, std::vector<Held>& let_go) {
  if (const EntryPtr twin = table.find_on(entry.key, made->place(), &entry)) {
    // The load chose a device that another key had named, or the reverse.
    let_go.push_back(std::move(made));
    table.remove(entry.key, "it is there already");
    table.redirect(entry.key, twin->key);
    return twin->model;
  }
  entry.model = made;
  entry.bytes = bytes;
  entry.used = Clock::now();
  // Weights may take more memory than their files, for example when stored as float16 and computed in float32.
  while (!table.fits(entry)) {
    Held other = table.evict_one(entry);
    if (other == nullptr) break;
    ++counts.evicted;
    let_go.push_back(std::move(other));
  }
  return made;
}

bool ModelCache::use(const CachedModel& model, std::optional<KeepAlive> keep_alive) {
  const std::lock_guard lock(state_->mutex);
  const EntryPtr entry = state_->table.find(model.key());
  if (entry == nullptr || entry->model.get() != &model) return false;
  entry->used = Clock::now();
  if (keep_alive && !entry->stays) entry->keep_alive = *keep_alive;
  return true;
}

bool ModelCache::lengthen(const CachedModel& model, KeepAlive keep_alive) {
  const std::lock_guard lock(state_->mutex);
  const EntryPtr entry = state_->table.find(model.key());
  if (entry == nullptr || entry->model.get() != &model) return true;  // there is nothing left to keep
  entry->used = Clock::now();
  const bool is_shorter = keep_alive && (!entry->keep_alive || *keep_alive < *entry->keep_alive);
  if (!is_shorter && !entry->stays) entry->keep_alive = keep_alive;
  return !is_shorter;
}

bool ModelCache::unload(std::string_view model) {
  std::vector<Held> removed;  // let go of without the lock
  {
    const std::lock_guard lock(state_->mutex);
    std::vector<ModelKey> keys;
    for (const auto& [key, entry] : state_->table.entries()) {
      if (key.model == model && entry->model != nullptr) keys.push_back(key);
    }
    for (const ModelKey& key : keys) removed.push_back(state_->table.remove(key, "asked for"));
    state_->counts.asked_for += removed.size();
  }
  return !removed.empty();
}

bool ModelCache::forget(std::string_view model, std::chrono::nanoseconds limit) {
  {
    std::vector<Held> removed;  // let go of without the lock, which goes first
    const std::lock_guard lock(state_->mutex);
    std::vector<ModelKey> keys;
    for (const auto& [key, entry] : state_->table.entries()) {
      if (key.model == model) keys.push_back(key);
    }
    for (const ModelKey& key : keys) removed.push_back(state_->table.remove(key, "asked for"));
  }
  return state_->census->wait_until_gone(model, limit);
}

void ModelCache::unload_idle() {
  std::vector<Held> idle;  // let go of without the lock
  {
    const std::lock_guard lock(state_->mutex);
    const Clock::time_point now = Clock::now();
    std::vector<ModelKey> over;
    for (const auto& [key, entry] : state_->table.entries()) {
      if (entry->model == nullptr) continue;
      if (entry->model->is_busy()) entry->used = now;
      if (entry->keep_alive && now - entry->used >= *entry->keep_alive && !entry->is_used()) over.push_back(key);
    }
    for (const ModelKey& key : over) idle.push_back(state_->table.remove(key, "idle"));
    state_->counts.idle += idle.size();
  }
}

std::vector<ModelCache::Kept> ModelCache::kept() const {
  std::vector<Kept> all;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [key, entry] : state_->table.entries()) {
    Kept& kept = all.emplace_back(Kept{.model = entry->model, .key = key, .bytes = entry->bytes, .expires = {}});
    if (entry->model != nullptr && entry->keep_alive) kept.expires = entry->used + *entry->keep_alive;
  }
  return all;
}

std::vector<std::string> ModelCache::loaded_names() const {
  std::vector<std::string> names;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [key, entry] : state_->table.entries()) {
    if (entry->model != nullptr && (names.empty() || names.back() != key.model)) names.push_back(key.model);
  }
  return names;
}

ModelCache::Counts ModelCache::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

std::vector<ModelCache::Held> ModelCache::alive() const { return state_->census->alive(); }

void ModelCache::close() noexcept {
  ModelTable::Entries left;  // let go of without the lock
  std::vector<Ready> waiting;
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    left = state_->table.clear();
    for (const auto& [key, entry] : left) {
      for (Ready& ready : entry->waiting) waiting.push_back(std::move(ready));
      entry->waiting.clear();
    }
    state_->room.notify_all();
  }
  for (const Ready& ready : waiting) ready(nullptr, state_->closed_error());
}

void ModelCache::finish_deletions() noexcept {
  if (state_->deleter != nullptr) state_->deleter->close();
}

}  // namespace alate::runtime
