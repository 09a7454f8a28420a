// A host's table of models, loaded or loading, and its eviction policy.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/models/host_limits.h"
#include "server/models/model_host.h"
#include "server/models/model_names.h"

namespace alate::server {

/// Key of a model on a backend, NAME:INDEX; an empty backend: as in the settings.
std::string model_key(std::string_view name, std::string_view backend);

/// A model that is loaded or loading.
struct HostEntry {
  using KeepAlive = std::optional<std::chrono::nanoseconds>;  // none: forever

  NamedFolder model;
  std::string backend;                  // as requested, in the form of model_key
  std::shared_ptr<HostedModel> hosted;  // null while loading
  std::vector<ModelHost::Ready> waiting;
  std::size_t bytes = 0;    // of its weights: file sizes, then memory once loaded
  bool takes_room = false;  // loading has begun or is complete
  std::chrono::steady_clock::time_point used;
  KeepAlive keep_alive;
  bool stays = false;  // regardless of requests

  bool is_used() const;
};

/// Not thread-safe.
struct ModelTable {
  using Entries = std::map<std::string, HostEntry, std::less<>>;

  explicit ModelTable(HostLimits the_limits) : limits(the_limits) {}

  const HostLimits limits;
  Entries entries;                                          // by model_key
  std::map<std::string, std::string, std::less<>> aliases;  // of loaded models: requested key to actual key

  /// The model if it is loaded on this backend and device, under whatever key; ignores `other`.
  HostEntry* find_on(const std::string& name, std::string_view backend, const HostedModel* other = nullptr);
  /// Whether this model, together with all others that take room, is within the limits.
  bool fits(const std::string& key) const;
  /// Removes the least recently used model, preferring models not currently in use; null if there is none but `spared`.
  /// The caller must release the result, and that of `remove`, without holding the host's lock.
  std::shared_ptr<HostedModel> evict_one(const std::string& spared);
  std::shared_ptr<HostedModel> remove(std::string_view key, std::string_view why);
};

/// Backend and device where a loaded model runs, in the spelling of BackendChoices.
std::string place_of(const HostedModel& model);

}  // namespace alate::server
