// In-memory index of the models on disk, so that looking up a name does not read folders.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads/mutex.h"
#include "folders/model_reference.h"

namespace alate::server {

/// A model on disk.
struct NamedFolder {
  std::string name;  // "owner/name", "name" without an owner, "builtin:name": one name per folder; with ":variant"
  std::filesystem::path folder;
  std::filesystem::path variant_file = {};  // in `folder`; empty: no variant was asked for

  /// What is loaded.
  const std::filesystem::path& path() const { return variant_file.empty() ? folder : variant_file; }
};

/// Contents of the folders at the time they were read. Immutable.
class ModelIndex {
 public:
  using Clock = std::chrono::steady_clock;

  /// Reads the models directory, the folders of built-in models and, if it is given, huggingface_hub's cache. Blocks on
  /// the disk.
  static std::shared_ptr<const ModelIndex> read(const folders::ModelPlaces& places);

  /// Looks up "owner/name", "name" if only one owner has it, or "builtin:name". Throws invalid_argument listing the
  /// choices if several owners have it.
  std::optional<NamedFolder> find(std::string_view name) const;
  /// The variant of a model of this index, in any case of letters; nothing if there is none.
  std::optional<NamedFolder> find_variant(const NamedFolder& model, std::string_view variant) const;
  /// The names of a model's variants.
  std::vector<std::string> variants_of(const NamedFolder& model) const;
  /// Those of the models directory with those of the cache that it has not, then the built-in ones; each sorted.
  const std::vector<NamedFolder>& models() const { return models_; }
  const std::vector<NamedFolder>& builtin() const { return builtin_; }

  /// The model for requests that name none: the only one of models(), else the built-in one that turns
  /// texts into vectors, which is what every route computes so far; null if there is none or no choice.
  const NamedFolder* default_model() const;

  Clock::time_point begun() const { return begun_; }
  Clock::duration took() const { return took_; }

 private:
  void add_variants(const NamedFolder& model);

  std::vector<NamedFolder> models_, builtin_;
  std::map<std::filesystem::path, std::vector<std::pair<std::string, NamedFolder>>> variants_;  // by folder, with names
  std::vector<std::pair<std::string, std::size_t>> by_short_name_;  // name without owner, index into models_; sorted
  Clock::time_point begun_;
  Clock::duration took_{};
};

/// The latest index. The folders are read at most a few times per second, and by one thread at a time, however many
/// unknown names are requested. Thread-safe.
class ModelIndexCache {
 public:
  using Clock = ModelIndex::Clock;

  explicit ModelIndexCache(folders::ModelPlaces places);

  /// Never touches the disk.
  std::shared_ptr<const ModelIndex> get() const;
  /// Reads the folders again, unless that was just done.
  std::shared_ptr<const ModelIndex> refreshed();
  /// An index whose reading began after `since`, a time in the past; waits for its turn to read the folders.
  std::shared_ptr<const ModelIndex> newer_than(Clock::time_point since);
  /// Number of times the folders have been read.
  std::size_t reads() const { return reads_; }

 private:
  std::shared_ptr<const ModelIndex> read();

  const folders::ModelPlaces places_;
  base::Mutex reading_;        // serializes reading the folders; taken before mutex_
  mutable base::Mutex mutex_;  // guards index_
  std::shared_ptr<const ModelIndex> index_;
  std::atomic<std::size_t> reads_ = 0;
};

}  // namespace alate::server
