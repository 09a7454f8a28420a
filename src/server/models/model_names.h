// What a model's name in a request means.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/models/model_index.h"
#include "server/settings/settings.h"

namespace alate::server {

/// The models directory, the models that came with the program, and the default model, which may lie elsewhere.
/// Thread-safe. What it throws names no path of this machine, but in the constructor.
class ModelNames {
 public:
  using Clock = ModelIndex::Clock;

  /// Reads the folders. Throws as hub::resolve_model for settings.default_model, where there is one.
  explicit ModelNames(const Settings& settings);

  /// "owner/name", "name" where it is unique, "builtin:name", each with ":latest" or without; empty: the default model.
  /// Never a path. Where the name is not known the folders are read once more, if that was begun before `since`: this
  /// may wait for the disk. Throws not_found, invalid_argument for what is no name and where several models are called
  /// so, unsupported for "hf:…" and for variants ("name:int8").
  NamedFolder resolve(std::string_view name, Clock::time_point since = Clock::now()) const;
  /// As `resolve` by what was read a moment ago, so that names which nobody knows cost nearly nothing.
  NamedFolder resolve_soon(std::string_view name) const;
  /// As `resolve`, from memory; nothing where only the disk can tell. Never waits.
  std::optional<NamedFolder> find_in_memory(std::string_view name) const;

  /// The default model's: as set, else the only one in the models directory, or, where that has none, the one that came
  /// with the program. Throws not_found where there is none, invalid_argument
  /// naming the choice where there are several.
  std::string default_name() const;
  /// As of a moment ago.
  std::vector<NamedFolder> all() const;

  /// Reads the folders where names have been looked up in an index that is over a second old. For a thread that may
  /// wait for the disk, every second or so.
  void refresh_where_wanted() const;
  /// How often the folders have been read.
  std::size_t reads() const { return cache_.reads(); }

 private:
  std::optional<NamedFolder> find(std::string_view name, const ModelIndex& index) const;
  std::optional<NamedFolder> look_up(std::string_view name, const ModelIndex& index) const;
  std::string default_name(const ModelIndex& index) const;
  bool is_of_the_only_model(std::string_view name) const { return name.empty() && default_.name.empty(); }

  const bool allow_downloads_;
  NamedFolder default_;            // the name is empty where none is set
  bool default_is_inside_ = true;  // the models directory, where its name leads
  mutable std::atomic<bool> wants_refresh_ = false;
  mutable ModelIndexCache cache_;
};

}  // namespace alate::server
