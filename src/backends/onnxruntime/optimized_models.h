// Models that ONNX Runtime has optimized, kept on disk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "alate/tensor.h"

namespace alate::onnxruntime {

/// A folder for each: the model, its weights, and the fingerprint of both, without which a damaged one would compute
/// something else. At most kMostBytes of all, the ones not used for the longest time going first. Processes may share
/// a folder: what is there is whole, and never changes. Only the user may read them (a model may be secret), and what
/// others may have written is passed over.
class OptimizedModels {
 public:
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30;
  static constexpr const char* kWeights = "weights.data";

  explicit OptimizedModels(std::filesystem::path folder, std::uintmax_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// One that is being written. Goes with this object unless it was finished.
  class Draft {
   public:
    Draft(std::filesystem::path folder, std::filesystem::path place, OptimizedModels& models)
        : folder_(std::move(folder)), place_(std::move(place)), models_(models) {}
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    /// The file to be written, with kWeights beside it.
    std::filesystem::path model() const;
    /// Puts it in its place, unless another process was faster. Throws unavailable when files cannot be written.
    void finish();

   private:
    std::filesystem::path folder_, place_;
    OptimizedModels& models_;
  };

  /// The model's file. One whose bytes have changed is deleted, with a warning.
  std::optional<std::filesystem::path> find(const Fingerprint& key);
  /// Throws unavailable when the folder cannot be made, or others may write to it.
  Draft begin(const Fingerprint& key);
  void remove(const Fingerprint& key);

 private:
  void make_room();

  std::filesystem::path folder_;
  std::uintmax_t most_bytes_;
};

}  // namespace alate::onnxruntime
