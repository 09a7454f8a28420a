// The weights of a model folder: one file, or several joined by an index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/weight_source.h"

namespace alate::base {
class ContainedFiles;
}

namespace alate::formats {

/// How a format names its files, and opens one: `within` is as in MappedFile::open.
struct WeightFormat {
  std::string_view single, index;  // "model.safetensors", "model.safetensors.index.json"
  std::shared_ptr<const WeightSource> (*open)(const std::filesystem::path& path, base::MappedFile::Mode mode,
                                              const base::ContainedFiles* within);

  /// Whether the folder has either. Throws as base::is_file.
  bool is_in(const std::filesystem::path& folder) const;
  /// Whether a file of this name, with a variant or without, is weights of this format or the index of their parts.
  bool has_name(std::string_view name) const;
};

/// Those that are read, the better one first: safetensors, torch.save's.
std::span<const WeightFormat> weight_formats();

/// 2 for a name without its ending like "model-00002-of-00003", which parts of weights have; 0 for others.
std::size_t part_number(std::string_view stem);

/// Whether a file is a model's weights, by its name: "model.int8.safetensors", "pytorch_model.bin",
/// "model.safetensors.index.int8.json"; not parts of weights, and not adapters.
bool is_weights_name(std::string_view name);

/// One file of any name in a model's folder: safetensors by that extension, else torch.save's. Throws as
/// WeightFormat::open, which checks the file that it has opened.
std::shared_ptr<const WeightSource> open_weight_file(const std::filesystem::path& path, base::MappedFile::Mode mode,
                                                     const base::ContainedFiles& within);

/// The names of shards, each with those of its tensors.
using WeightMap = std::map<std::string, std::vector<std::string>>;

/// Immutable once open; copies share the files; thread-safe.
class FolderWeights final : public WeightSource {
 public:
  using Mode = base::MappedFile::Mode;

  /// Opens the single file or, if it does not exist, the shards of the index, in the first of weight_formats() that is
  /// there. As transformers does, all tensors of the shards are read, whatever the index says of them; of a name in
  /// several shards the last one counts, in the order of the shards' names. A warning tells where index and shards
  /// differ. Throws not_found if there is none or a shard is missing, corrupt if the index names a shard outside the
  /// folder, and as WeightFormat::open.
  static FolderWeights open(const std::filesystem::path& folder, Mode mode = Mode::map);

  /// The same for a file that is_weights_name: weights, or the index of parts that lie beside it.
  static FolderWeights open_file(const std::filesystem::path& file, Mode mode = Mode::map);

  /// Names by file, within a file in byte order.
  std::vector<std::string_view> names() const override;
  std::optional<WeightInfo> info(std::string_view name) const override;
  /// not_found errors name the folder.
  Tensor tensor(std::string_view name) const override;
  Fingerprint identity(std::string_view name) const override;
  /// In order of shard names.
  std::vector<WeightFile> files() const override;
  void release(std::string_view name) const override;
  void require_unchanged() const override;

 private:
  struct Place {
    std::uint32_t file;
    std::uint32_t rank;     // among the names of its file
    std::string_view name;  // in the file
  };
  void open_whole(const WeightFormat& format, const std::filesystem::path& file, Mode mode,
                  const base::ContainedFiles& contained);
  void open_shards(const WeightFormat& format, const std::filesystem::path& index, Mode mode,
                   const base::ContainedFiles& contained);
  void sort_places();
  void warn_of_differences(const std::filesystem::path& index, const WeightMap& map) const;
  const Place* find_place(std::string_view name) const;
  const WeightSource& require(std::string_view name) const;

  std::filesystem::path path_;
  std::vector<std::shared_ptr<const WeightSource>> files_;
  std::vector<Place> places_;  // sorted by name
};

}  // namespace alate::formats
