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
#include "formats/weight_source.h"

namespace alate::formats {

/// Immutable once open; copies share the files; thread-safe.
class SafetensorsModel final : public WeightSource {
 public:
  using Mode = base::MappedFile::Mode;

  /// Opens `folder`/model.safetensors or, if it does not exist, the shards of `folder`/model.safetensors.index.json.
  /// Throws not_found if neither exists or a shard is missing, corrupt if the index names a tensor that its shard lacks
  /// or a shard outside the folder, and as SafetensorsFile::open.
  static SafetensorsModel open_folder(const std::filesystem::path& folder, Mode mode = Mode::map);
  /// Opens one file of any name.
  static SafetensorsModel open_file(const std::filesystem::path& path, Mode mode = Mode::map);

  /// Names by file, within a file in byte order. Tensors that the index does not name are omitted.
  std::vector<std::string_view> names() const override;
  /// Null if there is no such tensor.
  const TensorEntry* find(std::string_view name) const;
  std::optional<WeightInfo> info(std::string_view name) const override;
  /// As the functions of SafetensorsFile; not_found errors name the folder or file.
  Tensor tensor(std::string_view name) const override;
  Fingerprint identity(std::string_view name) const override;

  /// In order of shard names.
  std::vector<WeightFile> files() const override;
  void release(std::string_view name) const override;
  void require_unchanged() const override;

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
  std::vector<Place> places_;  // sorted by name
};

}  // namespace alate::formats
