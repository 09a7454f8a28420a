// An output folder that is written under a temporary name and appears complete.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/files/temporary_entry.h"

namespace alate::folders {

/// Removes what it wrote unless `finish` was called.
class OutputFolder {
 public:
  /// Creates a folder beside `target`, and removes those that killed processes have left there. Throws invalid_argument
  /// where `target` exists, not_found where its parent does not, resource_exhausted where the disk is full, unavailable
  /// where it cannot be written.
  explicit OutputFolder(std::filesystem::path target);

  /// The temporary folder to write to.
  const std::filesystem::path& path() const { return folder_->path(); }
  /// The name that the folder will have.
  std::string name() const { return target_.filename().string(); }
  /// Copies a model's files and its modules' folders, except config.json, weights at the top level in any format,
  /// hidden folders and those of other formats (onnx, openvino). Where the transformer has a folder of its own inside
  /// the model's, `transformer` is that, relative, and the same is left out of it. Follows links. Throws
  /// resource_exhausted where the disk is full, otherwise unavailable.
  void copy_others(const std::filesystem::path& model, const std::filesystem::path& transformer = {}) const;
  /// Renames the folder to `target`. Throws invalid_argument where the name has been taken meanwhile; otherwise as
  /// the constructor.
  void finish();

 private:
  std::filesystem::path target_;
  std::optional<base::TemporaryEntry> folder_;
};

}  // namespace alate::folders
