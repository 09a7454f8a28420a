// Safetensors files, mapped and read without copying.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "base/files/mapped_file.h"
#include "formats/name_index.h"
#include "formats/safetensors/safetensors_header.h"
#include "formats/weight_source.h"

namespace alate::formats {

/// One file. Immutable once open; thread-safe.
class SafetensorsFile final : public WeightSource {
 public:
  /// Throws as MappedFile::open and parse_safetensors_header. `within` is as in MappedFile::open.
  static std::shared_ptr<const SafetensorsFile> open(const std::filesystem::path& path,
                                                     base::MappedFile::Mode mode = base::MappedFile::Mode::map,
                                                     const base::ContainedFiles* within = nullptr);

  /// In the order of their bytes in the file.
  std::span<const TensorEntry> entries() const { return header_.entries; }
  std::vector<std::string_view> names() const override;
  /// Null if the file has no such tensor.
  const TensorEntry* find(std::string_view name) const;
  /// Shares the file's bytes and keeps the file open. If they are misaligned for the type, or a bool is neither 0 nor
  /// 1, each call makes a copy. Throws not_found, naming the file and the tensor.
  Tensor tensor(std::string_view name) const override;
  /// Identifies the tensor's value without reading it: from the header, the file's size, time and canonical path, and
  /// the tensor's name. Throws not_found.
  Fingerprint identity(std::string_view name) const override;
  std::optional<WeightInfo> info(std::string_view name) const override;
  void release(std::string_view name) const override;
  void require_unchanged() const override { file_->require_unchanged(); }
  std::vector<WeightFile> files() const override { return {{file_->path(), file_->bytes()}}; }

  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  const base::MappedFile& file() const { return *file_; }

 private:
  SafetensorsFile() = default;
  const TensorEntry& require(std::string_view name) const;

  std::shared_ptr<const base::MappedFile> file_;
  SafetensorsHeader header_;
  NameIndex by_name_;
  Fingerprint identity_;
};

}  // namespace alate::formats
