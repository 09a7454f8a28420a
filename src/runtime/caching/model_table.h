// A cache's table of models, loaded or loading, and its choice of what to let go of. Not synchronized: the cache holds
// its lock.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/caching/model_cache.h"

namespace alate::runtime {

/// A model that is loaded or loading; shared with its load.
struct CacheEntry {
  explicit CacheEntry(const ModelCache::Wanted& wanted)
      : key(wanted.key),
        stays(wanted.stays),
        to_load(wanted),
        turns({wanted.turn}),
        keep_alive(wanted.keep_alive),
        used(ModelCache::Clock::now()) {}

  const ModelKey key;
  const bool stays;
  ModelCache::Held model;                     // null while loading
  std::optional<ModelCache::Wanted> to_load;  // nothing once loading has begun
  std::set<std::string> turns;                // that its load was started for
  std::vector<ModelCache::Ready> waiting;
  std::size_t bytes = 0;    // expected, then in memory
  bool takes_room = false;  // loading has begun or is complete
  ModelCache::KeepAlive keep_alive;
  ModelCache::Clock::time_point used;

  bool is_used() const { return model.use_count() > 1 || model->is_busy(); }
};

class ModelTable {
 public:
  using Entries = std::map<ModelKey, std::shared_ptr<CacheEntry>>;

  ModelTable(std::size_t most_models, std::size_t most_bytes) : most_models_(most_models), most_bytes_(most_bytes) {}

  const Entries& entries() const { return entries_; }
  /// What is loaded or loading for the key, or for one that `redirect` named; null if nothing is.
  std::shared_ptr<CacheEntry> find(const ModelKey& key) const;
  /// A loaded model of the same name and options on this device; ignores `other`. Null if there is none.
  std::shared_ptr<CacheEntry> find_on(const ModelKey& key, std::string_view place,
                                      const CacheEntry* other = nullptr) const;
  /// Whether the key's entry is this one.
  bool has(const CacheEntry& entry) const;

  void add(std::shared_ptr<CacheEntry> entry);
  /// `key` means the entry of `other` from now on, as long as that is there.
  void redirect(const ModelKey& key, const ModelKey& other) { redirects_.insert_or_assign(key, other); }
  /// Removes the key's entry. Returns its model, which the caller must let go of without the lock, and logs `why`; null
  /// where it was not loaded.
  ModelCache::Held remove(const ModelKey& key, std::string_view why);
  Entries clear();

  /// Whether this one, together with all others that take room, is within the limits.
  bool fits(const CacheEntry& entry) const;
  /// Whether another one takes room and is still loading.
  bool others_load(const CacheEntry& entry) const;
  /// Removes the least recently used loaded model that nobody uses; null if there is none but `spared`. As `remove`.
  ModelCache::Held evict_one(const CacheEntry& spared);
  /// Why there is no room for this one: the figures.
  Error no_room(const CacheEntry& entry) const;

 private:
  const std::size_t most_models_, most_bytes_;
  Entries entries_;
  std::map<ModelKey, ModelKey> redirects_;  // to keys of entries
};

}  // namespace alate::runtime
