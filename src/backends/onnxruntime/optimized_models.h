// A disk cache of models that ONNX Runtime has optimized.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "alate/tensor.h"

namespace alate::onnxruntime {

/// Each entry is a folder with the model, its weights, and the fingerprint of both, without which a damaged entry would
/// compute wrong results unnoticed. All entries take at most `most_bytes`; the least recently used are deleted first.
/// Processes may share a cache folder: entries are always whole and never change. Only the user may read them (a model
/// may be secret), and entries that others may have written are ignored.
class OptimizedModels {
 public:
  static constexpr std::uintmax_t kMaxBytes = std::uintmax_t{4} << 30;
  static constexpr const char* kWeights = "weights.data";

  explicit OptimizedModels(std::filesystem::path folder, std::uintmax_t most_bytes = kMaxBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// An entry that is being written. Deleted with this object unless it was finished.
  class Draft {
   public:
    Draft(std::filesystem::path folder, std::filesystem::path place, OptimizedModels& models)
        : folder_(std::move(folder)), place_(std::move(place)), models_(models) {}
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    /// The file to be written, with kWeights beside it.
    std::filesystem::path model() const;
    /// Moves the entry into place, unless another process was faster. Throws unavailable when files cannot be written.
    void finish();

   private:
    std::filesystem::path folder_, place_;
    OptimizedModels& models_;
  };

  /// The model's file. An entry whose bytes have changed is deleted, with a warning.
  std::optional<std::filesystem::path> find(const Fingerprint& key);
  /// Throws unavailable when the folder cannot be created, or others may write to it.
  Draft begin(const Fingerprint& key);
  void remove(const Fingerprint& key);

 private:
  void make_room();

  std::filesystem::path folder_;
  std::uintmax_t most_bytes_;
};

}  // namespace alate::onnxruntime
