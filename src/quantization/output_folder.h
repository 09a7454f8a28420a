// A model folder that is written under another name and appears whole.
#pragma once

#include <filesystem>

namespace alate::quantization {

/// Removes what it wrote unless `finish` was called.
class OutputFolder {
 public:
  /// Makes a folder beside `target`. Throws invalid_argument where `target` exists, not_found where its parent does
  /// not, unavailable where nothing can be written there.
  explicit OutputFolder(std::filesystem::path target);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where to write for now.
  const std::filesystem::path& path() const { return path_; }
  /// Copies a model's files and its modules' folders: all but config.json, weights at the top in whatever format, and
  /// folders of other formats (onnx, openvino) and hidden ones. Links are followed. Throws unavailable.
  void copy_others(const std::filesystem::path& model) const;
  /// Gives the folder its name. Throws invalid_argument where it is taken meanwhile, unavailable.
  void finish();

 private:
  std::filesystem::path target_, path_;
};

}  // namespace alate::quantization
