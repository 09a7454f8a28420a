// An output folder that is written under a temporary name and appears complete.
#pragma once

#include <filesystem>

namespace alate::quantization {

/// Removes what it wrote unless `finish` was called.
class OutputFolder {
 public:
  /// Creates a folder beside `target`. Throws invalid_argument where `target` exists, not_found where its parent does
  /// not, unavailable where it cannot be written.
  explicit OutputFolder(std::filesystem::path target);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// The temporary folder to write to.
  const std::filesystem::path& path() const { return path_; }
  /// Copies a model's files and its modules' folders, except config.json, weights at the top level in any format,
  /// hidden folders and those of other formats (onnx, openvino). Follows links. Throws unavailable.
  void copy_others(const std::filesystem::path& model) const;
  /// Renames the folder to `target`. Throws invalid_argument where the name has been taken meanwhile, unavailable.
  void finish();

 private:
  std::filesystem::path target_, path_;
};

}  // namespace alate::quantization
