// The models that a host has, loaded or on their way, and which of them gives way to another.
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

/// The key of a model on a backend, NAME:INDEX; empty: as the settings say.
std::string model_key(std::string_view name, std::string_view backend);

/// A model that is loaded, or on its way.
struct HostEntry {
  using KeepAlive = std::optional<std::chrono::nanoseconds>;  // none: for ever

  NamedFolder model;
  std::string backend;                  // that was asked for, as in model_key
  std::shared_ptr<HostedModel> hosted;  // null while it is loading
  std::vector<ModelHost::Ready> waiting;
  std::size_t bytes = 0;    // of its weights: of the files, then in memory
  bool takes_room = false;  // loading has begun, or it is loaded
  std::chrono::steady_clock::time_point used;
  KeepAlive keep_alive;
  bool stays = false;  // whatever requests say

  bool is_used() const;
};

/// Not thread-safe.
struct ModelTable {
  using Entries = std::map<std::string, HostEntry, std::less<>>;

  explicit ModelTable(HostLimits the_limits) : limits(the_limits) {}

  const HostLimits limits;
  Entries entries;                                          // by model_key
  std::map<std::string, std::string, std::less<>> aliases;  // of loaded models: as asked for, their key

  /// The model where it is loaded on this backend and device, whoever asked for it so; `other` aside.
  HostEntry* find_on(const std::string& name, std::string_view backend, const HostedModel* other = nullptr);
  /// Whether this model and all that take room besides are within the limits.
  bool fits(const std::string& key) const;
  /// Removes the least recently used model, one that nobody uses at the moment where there is one; null where there is
  /// none but `spared`. Who gets it, or one from `remove`, must let go of it without the host's lock.
  std::shared_ptr<HostedModel> evict_one(const std::string& spared);
  std::shared_ptr<HostedModel> remove(std::string_view key, std::string_view why);
};

/// Where a loaded model runs, as BackendChoices spells it.
std::string place_of(const HostedModel& model);

}  // namespace alate::server
