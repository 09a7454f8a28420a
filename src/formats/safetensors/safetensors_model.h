// The weights of a model folder: one safetensors file, or several joined by an index.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors/safetensors.h"

namespace alate::formats {

/// Immutable once open; copies share the files; safe to share among threads.
class SafetensorsModel {
 public:
  using Mode = base::MappedFile::Mode;

  /// Opens `folder`/model.safetensors or, where there is none, the shards of `folder`/model.safetensors.index.json.
  /// Throws not_found when there is neither or a shard is missing, corrupt when the index names a tensor that its shard
  /// lacks or a shard outside the folder, and what SafetensorsFile::open throws.
  static SafetensorsModel open_folder(const std::filesystem::path& folder, Mode mode = Mode::map);
  /// Opens one file of any name.
  static SafetensorsModel open_file(const std::filesystem::path& path, Mode mode = Mode::map);

  /// File by file, and in each in the order of the bytes. What the index does not name is not there.
  std::vector<std::string_view> names() const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// Null when there is no such tensor.
  const TensorEntry* find(std::string_view name) const;
  /// As the functions of SafetensorsFile; not_found names the folder or file.
  Tensor tensor(std::string_view name) const;
  Fingerprint identity(std::string_view name) const;

  /// In the order of the shards' names.
  std::span<const std::shared_ptr<const SafetensorsFile>> files() const { return files_; }
  /// Tells the system that this tensor's bytes in its file are not needed soon. Throws not_found.
  void release(std::string_view name) const;
  /// To be called after tensors were read, before what came of them is used. Throws corrupt when a mapped file was cut
  /// off or changed meanwhile.
  void require_unchanged() const;

 private:
  static SafetensorsModel open_single(const std::filesystem::path& path, Mode mode, const base::ContainedFiles* within);
  struct Place {
    std::uint32_t file;
    const TensorEntry* entry;
  };
  const Place* find_place(std::string_view name) const;
  const Place& require(std::string_view name) const;
  void sort_places();

  std::filesystem::path path_;
  std::vector<std::shared_ptr<const SafetensorsFile>> files_;
  std::vector<Place> places_;  // in the order of the names
};

}  // namespace alate::formats
