// A file that torch.save wrote, mapped; tensors are read without copying where they lie row by row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/name_index.h"
#include "formats/pytorch/checkpoint.h"
#include "formats/weight_source.h"

namespace alate::formats {

/// Immutable once open; thread-safe.
class PytorchFile final : public WeightSource {
 public:
  /// Throws as MappedFile::open and parse_checkpoint. `within` is as in MappedFile::open.
  static std::shared_ptr<const PytorchFile> open(const std::filesystem::path& path,
                                                 base::MappedFile::Mode mode = base::MappedFile::Mode::map,
                                                 const base::ContainedFiles* within = nullptr);

  std::vector<std::string_view> names() const override;
  std::optional<WeightInfo> info(std::string_view name) const override;
  /// Shares the file's bytes, except where they are misaligned for the type or do not lie row by row.
  Tensor tensor(std::string_view name) const override;
  /// From the file's size, time and canonical path, and the place in the file: tensors that are the same storage (tied
  /// weights) have the same identity.
  Fingerprint identity(std::string_view name) const override;
  void release(std::string_view name) const override;
  void require_unchanged() const override { file_->require_unchanged(); }
  std::vector<WeightFile> files() const override { return {{file_->path(), file_->bytes()}}; }

 private:
  PytorchFile() = default;
  const CheckpointTensor* find(std::string_view name) const;
  const CheckpointTensor& require(std::string_view name) const;

  std::shared_ptr<const base::MappedFile> file_;
  std::vector<CheckpointTensor> tensors_;  // in the order of the file
  NameIndex by_name_;
  Fingerprint identity_;
};

}  // namespace alate::formats
