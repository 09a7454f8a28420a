// The weights of a model in GGUF, by the names of transformers' classes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_model.h"
#include "formats/name_index.h"
#include "formats/weight_source.h"

namespace alate::formats {

/// Immutable once open; thread-safe. Tensors are the files' bytes; WeightInfo tells what the converter changed.
class GgufWeights final : public WeightSource {
 public:
  /// Throws as GgufModel::open and find_gguf_family; unsupported, naming tensor and type, for a tensor that cannot be
  /// dequantized; corrupt for heads that do not divide the rows of their weight. A warning tells of tensors that the
  /// family does not have.
  static std::shared_ptr<const GgufWeights> open(const std::filesystem::path& path,
                                                 base::MappedFile::Mode mode = base::MappedFile::Mode::map,
                                                 const base::ContainedFiles* within = nullptr);

  std::vector<std::string_view> names() const override;
  std::optional<WeightInfo> info(std::string_view name) const override;
  Tensor tensor(std::string_view name) const override;
  Fingerprint identity(std::string_view name) const override;
  void release(std::string_view name) const override;
  void require_unchanged() const override;
  std::vector<WeightFile> files() const override;

 private:
  struct Entry {
    std::string name;
    std::size_t file;
    const GgufTensor* tensor;
    WeightChange change;
  };

  GgufWeights() = default;
  void add_tensors();
  const Entry& require(std::string_view name) const;
  std::span<const std::byte> bytes(const Entry& entry) const;

  std::shared_ptr<const GgufModel> model_;
  std::vector<Entry> entries_;  // in the order of their bytes
  NameIndex by_name_;
  std::vector<Fingerprint> identities_;  // of the files
};

}  // namespace alate::formats
