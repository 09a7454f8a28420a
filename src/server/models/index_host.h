// The indexes that the settings name, for all requests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/mutex.h"
#include "search/index_file.h"
#include "server/models/model_host.h"

namespace alate::server {

/// An open index, mapped once for all who search it. Thread-safe.
class HostedIndex {
 public:
  /// Throws as search::IndexFile.
  HostedIndex(std::string the_name, const std::filesystem::path& path);

  const std::string& name() const { return name_; }  // as in the settings
  const search::IndexFile& file() const { return file_; }
  /// The name that clients see of a file: as it is in the index, but of absolute paths without the folders that all of
  /// them have in common, and without leading "..".
  const std::string& shown_name(std::size_t place) const { return shown_names_[place]; }
  /// Throws RequestError (Problem::impossible) where the index has vectors of another model, or of other settings,
  /// type or backend, than this one. Reads the model's folder, once for each model.
  void require_model(const std::shared_ptr<HostedModel>& model) const;

 private:
  const std::string name_;
  const search::IndexFile file_;
  std::vector<std::string> shown_names_;
  mutable base::Mutex mutex_;
  mutable std::weak_ptr<HostedModel> fitting_;  // the last one that fitted
};

/// What clients see of these names of files: see HostedIndex::shown_name.
std::vector<std::string> names_without_folders(const std::vector<std::string>& names);

/// Thread-safe.
class IndexHost {
 public:
  /// Names and folders of `alate index`.
  explicit IndexHost(const std::map<std::string, std::string>& folders);

  /// The index of this name, opened again if its file has been replaced. Reads the disk. Throws RequestError: not found
  /// for an unknown name and for a folder without an index; messages contain no path.
  std::shared_ptr<const HostedIndex> open(std::string_view name);
  /// The same check of the name, without the disk.
  void require(std::string_view name) const;

 private:
  struct Entry {
    std::filesystem::path file;
    base::Mutex mutex;
    std::shared_ptr<const HostedIndex> index;
    std::filesystem::file_time_type time;
    std::uintmax_t size = 0;
  };

  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
};

}  // namespace alate::server
