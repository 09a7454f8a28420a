// The identity of a model's weights, by their bytes: names, sizes and times can be forged by a folder's author.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_digests.h"
#include "base/threads/mutex.h"
#include "folders/manifest.h"
#include "formats/weight_source.h"
#include "runtime/loading/model_files.h"

namespace alate::runtime {

/// The digests of the files that a model was loaded from. Those of an ONNX file are computed in the constructor, since
/// the runtime reads the file by itself; those of safetensors are computed from the mapped bytes at the first query. A
/// model that came with the program is as trusted as the program: its digests are those of its manifest. Thread-safe.
class ModelContent {
 public:
  /// Compares the folder with its manifest: the size of each listed file that exists, and the digest of files that are
  /// loaded or at most kAlwaysChecked large; of variants' files, those that are loaded. Throws corrupt, naming the
  /// first file that differs from the manifest; for an ONNX file, throws as exchange::check_onnx_file. `weights` is
  /// null for an ONNX file.
  ModelContent(const ModelFiles& files, std::shared_ptr<const formats::WeightSource> weights,
               const folders::Manifest& manifest);

  static constexpr std::uint64_t kAlwaysChecked = std::uint64_t{64} << 20;
  /// Limit for all such files together; files later in the manifest are left out.
  static constexpr std::uint64_t kMostChecked = std::uint64_t{1} << 30;

  /// The fingerprint of the files' names in the folder and their bytes.
  Fingerprint fingerprint() const;

 private:
  struct File {
    std::string name;  // relative to the model's folder
    std::filesystem::path path;
    base::FileIdentity identity;
    std::optional<std::span<const std::byte>> mapped;  // of weights_; absent for an ONNX file and its data
    std::string digest;                                // empty: not known yet
  };

  void add(const std::filesystem::path& folder, const std::filesystem::path& path,
           std::optional<std::span<const std::byte>> mapped);
  void compare(const std::filesystem::path& folder, const folders::ManifestFile& listed, bool is_trusted);
  std::string digest_of(const File& file) const;
  bool is_loaded(std::string_view name) const;

  std::shared_ptr<const formats::WeightSource> weights_;
  base::FileDigests digests_;
  std::uint64_t checked_ = 0;  // bytes of files that are not loaded
  mutable base::Mutex mutex_;
  mutable std::vector<File> files_;
};

/// The store of known digests: in the cache's folder for compiled models; without a cache, nothing is stored.
base::FileDigests model_digests();

}  // namespace alate::runtime
