// Resolution of a request's model name.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/models/model_index.h"
#include "server/settings/settings.h"

namespace alate::server {

/// Knows the models directory, the built-in models, and the default model, which may be elsewhere. Thread-safe.
/// Exceptions contain no local paths, except in the constructor.
class ModelNames {
 public:
  using Clock = ModelIndex::Clock;

  /// Reads the folders. Throws as hub::resolve_model for settings.default_model, if set.
  explicit ModelNames(const Settings& settings);

  /// Accepts "owner/name", "name" if unique, "builtin:name", each with or without ":latest"; empty: the default model.
  /// Never a path. For an unknown name the folders are read again unless that began after `since`; this may block on
  /// the disk. Throws not_found, invalid_argument for a malformed or ambiguous name, unsupported for "hf:…" and for
  /// variants ("name:int8").
  NamedFolder resolve(std::string_view name, Clock::time_point since = Clock::now()) const;
  /// As `resolve`, from a recently read index, so that unknown names cost almost nothing.
  NamedFolder resolve_soon(std::string_view name) const;
  /// As `resolve`, from memory; nothing if only the disk can tell. Never blocks.
  std::optional<NamedFolder> find_in_memory(std::string_view name) const;

  /// Name of the default model: as configured, else the only one in the models directory or, if that is empty, the only
  /// built-in one. Throws not_found if there is none, invalid_argument listing the choices if there are several.
  std::string default_name() const;
  /// Result may be slightly out of date.
  std::vector<NamedFolder> all() const;

  /// Reads the folders if names have been looked up in an index more than a second old. Call about every second, from a
  /// thread that may block on the disk.
  void refresh_if_requested() const;
  /// Number of times the folders have been read.
  std::size_t reads() const { return cache_.reads(); }

 private:
  std::optional<NamedFolder> find(std::string_view name, const ModelIndex& index) const;
  std::optional<NamedFolder> look_up(std::string_view name, const ModelIndex& index) const;
  std::string default_name(const ModelIndex& index) const;
  bool means_only_model(std::string_view name) const { return name.empty() && default_.name.empty(); }

  const bool allow_downloads_;
  NamedFolder default_;            // empty name if not configured
  bool default_is_inside_ = true;  // its name resolves inside the models directory
  mutable std::atomic<bool> wants_refresh_ = false;
  mutable ModelIndexCache cache_;
};

}  // namespace alate::server
