// What a model's name in a request means.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "server/settings.h"

namespace alate::server {

/// A model that is on disk.
struct NamedFolder {
  std::string name;  // "owner/name", "name" without an owner, "builtin:name": one name for each folder
  std::filesystem::path folder;
};

/// The models directory, the models that came with the program, and the default model, which may lie elsewhere.
/// Immutable; thread-safe. What it throws names no path of this machine, but in the constructor.
class ModelNames {
 public:
  /// Throws as hub::resolve_model for settings.default_model, where there is one.
  explicit ModelNames(const Settings& settings);

  /// "owner/name", "name" where it is unique, "builtin:name", each with ":latest" or without; empty: the default model.
  /// Never a path. Throws not_found, invalid_argument for what is no name and where several models are called so,
  /// unsupported for "hf:…" and for variants ("name:int8").
  NamedFolder resolve(std::string_view name) const;
  /// The default model's: as set, else the only one in the models directory, or, where that has none, the one that came
  /// with the program. Throws not_found where there is none, invalid_argument
  /// naming the choice where there are several.
  std::string default_name() const;
  std::vector<NamedFolder> all() const;

 private:
  static NamedFolder find_builtin(std::string_view name);
  NamedFolder find(std::string_view name) const;

  const std::filesystem::path directory_;
  const bool allow_downloads_;
  NamedFolder default_;            // the name is empty where none is set
  bool default_is_inside_ = true;  // the models directory, where its name leads
};

}  // namespace alate::server
