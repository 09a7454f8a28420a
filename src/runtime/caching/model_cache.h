// Loaded models, kept for all who ask: each is loaded once, and let go of by limits of number, memory and idle time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "runtime/caching/cached_model.h"

namespace alate::runtime {

struct ModelCacheOptions {
  std::size_t most_models = 0;  // 0: unlimited
  std::size_t most_bytes = 0;   // 0: unlimited
  /// How long a load waits for room that models in use take.
  std::chrono::nanoseconds patience{};
  /// The error of those who wait or ask once the cache is closed.
  Error closed{ErrorCode::unavailable, "no more models are loaded: this part of the program has ended"};
  /// Destroys models on a thread of the cache's, instead of where their last reference goes.
  bool deletes_elsewhere = false;
};

/// Thread-safe. Its functions never call back with a lock held.
class ModelCache {
 public:
  using Clock = std::chrono::steady_clock;
  /// A reference: a model lives as long as anybody holds one, also when the cache has let go of it.
  using Held = std::shared_ptr<CachedModel>;
  using Ready = std::function<void(Held, std::exception_ptr)>;
  using KeepAlive = std::optional<std::chrono::nanoseconds>;  // none: for ever

  /// A model, and how to load it where it is not there.
  struct Wanted {
    ModelKey key;
    std::function<std::unique_ptr<CachedModel>()> load;
    /// Bytes that loading will take, for making room; may throw instead. Called where loads run. Empty: 0.
    std::function<std::size_t()> expected_bytes = {};
    KeepAlive keep_alive = {};
    bool stays = false;  // `use` changes nothing of its keep_alive
    /// Starts the work of a load; it may be dropped once the cache is closed. Empty: on the thread that asks first. It
    /// is called once for each `turn` that asks before the load has begun, and the first of its works to run loads:
    /// where those who ask take turns, a load begins when the first of these comes.
    std::function<void(std::function<void()>)> start = {};
    std::string turn = {};
  };

  /// Throws resource_exhausted if a thread is wanted and cannot be created.
  explicit ModelCache(ModelCacheOptions options = {});
  /// As `close`. Models still referenced live on.
  ~ModelCache();
  ModelCache(const ModelCache&) = delete;
  ModelCache& operator=(const ModelCache&) = delete;

  /// Calls `ready` once, with the model or an alate::Error: at once if the model is loaded, else when its load has
  /// ended, on that thread. All who ask meanwhile wait for that load, and each gets an exception of its own; the next
  /// to ask after a failure loads again. A model that is loaded for another key of its name and options on the device
  /// that the key wants, or on the one that the load chose, is given instead: none is on a device twice. Loading
  /// makes room first: it lets go of the models that nobody uses, the least recently used first, and waits for loads
  /// under way, and for ModelCacheOptions::patience for others. Where there is no room then, the error is
  /// resource_exhausted, with the figures. Throws what `start` throws.
  void acquire(const Wanted& wanted, Ready ready);
  /// Waits for it.
  Held get(const Wanted& wanted);
  /// The model if it is loaded for this key; counts as a use.
  Held find(const ModelKey& key);

  /// Postpones idleness as if the model had just been acquired; `keep_alive` replaces what it was loaded with, except
  /// for models that stay. False if the cache does not keep this very model (any more).
  bool use(const CachedModel& model, std::optional<KeepAlive> keep_alive = {});
  /// The same, but for a keep_alive that is shorter than the model has: that one is ignored, and the result is false.
  bool lengthen(const CachedModel& model, KeepAlive keep_alive);
  /// Lets go of all loaded models of this name (ModelKey::model); loads under way go on. False if there was none.
  bool unload(std::string_view model);
  /// The same of loads under way too, whose callers get their model, and waits until nobody holds one of this name.
  /// False if somebody still does after `limit`.
  bool forget(std::string_view model, std::chrono::nanoseconds limit);
  /// Lets go of the models that nobody uses and that have been idle for longer than their keep-alive.
  void unload_idle();

  struct Kept {
    Held model;  // null while it is loading
    ModelKey key;
    std::size_t bytes = 0;                     // as expected; in memory once it is loaded
    std::optional<Clock::time_point> expires;  // none: never
  };
  /// So far.
  struct Counts {
    std::uint64_t loaded = 0, failed = 0;                // loads
    std::uint64_t evicted = 0, idle = 0, asked_for = 0;  // models that were let go of
  };
  Counts counts() const;
  /// In the order of their keys.
  std::vector<Kept> kept() const;
  /// Names of the models that are loaded (ModelKey::model), in order, each once: they are not held meanwhile.
  std::vector<std::string> loaded_names() const;
  /// All that exist, also those that only their holders keep.
  std::vector<Held> alive() const;

  /// Fails those who wait, and all who ask later, with ModelCacheOptions::closed, and lets go of all models.
  /// Idempotent.
  void close() noexcept;
  /// Destroys the models whose last reference has gone, and ends the thread for that. Not from two threads at once.
  void finish_deletions() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with loads under way
};

}  // namespace alate::runtime
