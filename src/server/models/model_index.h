// The names of the models on disk, kept in memory: a request's name is looked up here and not in folders.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/mutex.h"

namespace alate::server {

/// A model that is on disk.
struct NamedFolder {
  std::string name;  // "owner/name", "name" without an owner, "builtin:name": one name for each folder
  std::filesystem::path folder;
};

/// What the folders had when they were read. Immutable.
class ModelIndex {
 public:
  using Clock = std::chrono::steady_clock;

  /// Reads the models directory, and the folders of models that come with the program. Takes as long as the disk does.
  static std::shared_ptr<const ModelIndex> read(const std::filesystem::path& models_directory);

  /// By "owner/name", or by "name" where one owner has it; of "builtin:name" too. Throws invalid_argument, naming the
  /// choice, where several owners have it.
  std::optional<NamedFolder> find(std::string_view name) const;
  /// Those of the models directory, then those of the program; each sorted.
  const std::vector<NamedFolder>& models() const { return models_; }
  const std::vector<NamedFolder>& builtin() const { return builtin_; }

  /// The only one of the models directory, or, where that has none, of the program; null where there are none or
  /// several.
  const NamedFolder* only_model() const;

  Clock::time_point begun() const { return begun_; }
  Clock::duration took() const { return took_; }

 private:
  std::vector<NamedFolder> models_, builtin_;
  std::vector<std::pair<std::string, std::size_t>> by_short_name_;  // without owners, sorted; places in models_
  Clock::time_point begun_;
  Clock::duration took_{};
};

/// The latest index. However many names are asked for that it lacks, the folders are read a few times a second at most,
/// and by one thread at a time. Thread-safe.
class ModelIndexCache {
 public:
  using Clock = ModelIndex::Clock;

  explicit ModelIndexCache(std::filesystem::path models_directory);

  /// Never touches the disk.
  std::shared_ptr<const ModelIndex> get() const;
  /// Reads the folders anew, unless that was just done.
  std::shared_ptr<const ModelIndex> refreshed();
  /// One that was begun after `since`, a time that has been; waits for its turn to read the folders.
  std::shared_ptr<const ModelIndex> newer_than(Clock::time_point since);
  /// How often the folders have been read.
  std::size_t reads() const { return reads_; }

 private:
  std::shared_ptr<const ModelIndex> read();

  const std::filesystem::path directory_;
  base::Mutex reading_;        // of whoever reads the folders; taken before mutex_
  mutable base::Mutex mutex_;  // of index_
  std::shared_ptr<const ModelIndex> index_;
  std::atomic<std::size_t> reads_ = 0;
};

}  // namespace alate::server
