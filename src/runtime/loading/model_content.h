// What a model's weights are, by their bytes: not by names, sizes and times, which whoever writes a folder chooses.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file_digests.h"
#include "base/threads/mutex.h"
#include "formats/safetensors/safetensors_model.h"
#include "hub/manifest.h"
#include "runtime/loading/model_files.h"

namespace alate::runtime {

/// The digests of the files that a model was loaded from. Those of an ONNX file are taken when it is made, since the
/// runtime reads the file by itself; those of safetensors are taken from the mapped bytes when somebody first asks.
/// A model that came with the program is installed with it and as trusted: its digests are those of its manifest.
/// Thread-safe.
class ModelContent {
 public:
  /// Compares the folder with its manifest: the size of each file that it lists and that is there, and the digest of
  /// those that are loaded or at most kAlwaysChecked large. Throws corrupt naming the first file that is not what the
  /// manifest says; for an ONNX file what exchange::check_onnx_file throws. `weights` is empty for an ONNX file.
  ModelContent(const ModelFiles& files, const formats::SafetensorsModel& weights, const hub::Manifest& manifest);

  static constexpr std::uint64_t kAlwaysChecked = std::uint64_t{64} << 20;
  /// All such files together; those behind that in the manifest are left out.
  static constexpr std::uint64_t kMostChecked = std::uint64_t{1} << 30;

  /// Of the names of the files in the folder and their bytes.
  Fingerprint fingerprint() const;

 private:
  struct File {
    std::string name;  // from the model's folder
    std::filesystem::path path;
    base::FileIdentity identity;
    std::shared_ptr<const formats::SafetensorsFile> mapped;  // null for an ONNX file and its data
    std::string digest;                                      // empty: not known yet
  };

  void add(const std::filesystem::path& folder, const std::filesystem::path& path,
           std::shared_ptr<const formats::SafetensorsFile> mapped);
  void compare(const std::filesystem::path& folder, const hub::ManifestFile& listed, bool is_trusted);
  std::string digest_of(const File& file) const;

  base::FileDigests digests_;
  std::uint64_t checked_ = 0;  // bytes of files that are not loaded
  mutable base::Mutex mutex_;
  mutable std::vector<File> files_;
};

/// Where digests are remembered: in the cache's folder for what is made out of models; nowhere where there is none.
base::FileDigests model_digests();

}  // namespace alate::runtime
