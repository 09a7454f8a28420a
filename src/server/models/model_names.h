// Resolution of a request's model name.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/mutex.h"
#include "hub/download/pull_reference.h"
#include "server/models/model_index.h"
#include "server/settings/settings.h"

namespace alate::server {

/// Where the models are that a server with these settings offers.
folders::ModelPlaces places_of(const Settings& settings);

/// Knows the models directory, the built-in models, with `hub_cache` those of huggingface_hub's cache, those that this
/// server has fetched, and the default model, which may be elsewhere. Thread-safe.
/// Exceptions contain no local paths, except in the constructor.
class ModelNames {
 public:
  using Clock = ModelIndex::Clock;

  /// Reads the folders. Throws as folders::resolve_model for settings.default_model, if set; not_found for an alias of
  /// no model, invalid_argument for one that is the name of a model.
  explicit ModelNames(const Settings& settings);

  /// Accepts "owner/name", "name" if unique, "builtin:name", an alias of the settings, each with or without ":latest"
  /// or a variant ("name:int8"); empty: the default model. "hf:…" and the name of the same without
  /// hf: are models that have been fetched. Never a path. For an unknown name the folders are read again
  /// unless that began after `since`; this may block on the disk. Throws not_found, unavailable
  /// for a model of the settings that is still being fetched, and invalid_argument for an ambiguous name and, listing
  /// those that there are, for an unknown variant.
  NamedFolder resolve(std::string_view name, Clock::time_point since = Clock::now()) const;
  /// As `resolve`, from a recently read index, so that unknown names cost almost nothing.
  NamedFolder resolve_soon(std::string_view name) const;
  /// As `resolve`, from memory; nothing if only the disk can tell. Never blocks.
  std::optional<NamedFolder> find_in_memory(std::string_view name) const;

  /// What must be fetched before the name can be resolved: "hf:…" that is not yet there and that the settings name or
  /// permit. Nothing for other names, and for all of a server that does not download. Throws as permitted_reference.
  /// Never blocks.
  std::optional<hub::PullReference> to_fetch(std::string_view name) const;
  /// Makes a fetched model known. Blocks on the disk. Throws as folders::resolve_variant.
  void add_fetched(const hub::PullReference& reference, const std::filesystem::path& folder) const;

  /// Name of the default model: as configured, else as ModelIndex::default_model. Throws not_found if there is no
  /// model, invalid_argument listing the choices if there are several.
  std::string default_name() const;
  /// Whether the settings name a default model.
  bool has_configured_default() const { return !default_.name.empty(); }
  /// Result may be slightly out of date.
  std::vector<NamedFolder> all() const;

  /// Reads the folders if names have been looked up in an index more than a second old. Call about every second, from a
  /// thread that may block on the disk.
  void refresh_if_requested() const;
  /// Number of times the folders have been read.
  std::size_t reads() const { return cache_.reads(); }

 private:
  void set_default(const Settings& settings);
  void check_aliases() const;
  /// The model's name if `name` is an alias, with or without ":latest", else `name`.
  std::string_view without_alias(std::string_view name) const;
  std::optional<NamedFolder> find(std::string_view name, const ModelIndex& index) const;
  /// As `find`, with a variant or without; throws invalid_argument for an unknown one.
  std::optional<NamedFolder> find_variant(std::string_view name, const ModelIndex& index) const;
  std::optional<NamedFolder> look_up(std::string_view name, const ModelIndex& index) const;
  std::string default_name(const ModelIndex& index) const;
  std::optional<NamedFolder> find_fetched(std::string_view name) const;
  bool is_configured(const std::string& canonical) const;
  bool means_found_default(std::string_view name) const { return name.empty() && default_.name.empty(); }

  const Settings settings_;
  const std::map<std::string, std::string, std::less<>> aliases_;
  NamedFolder default_;            // empty name if not configured; without a folder while it is being fetched
  bool default_is_inside_ = true;  // its name resolves inside the models directory
  mutable std::atomic<bool> wants_refresh_ = false;
  mutable ModelIndexCache cache_;
  mutable base::Mutex fetched_mutex_;
  mutable std::map<std::string, NamedFolder, std::less<>> fetched_;  // by canonical_name
};

}  // namespace alate::server
