// Checks of untrusted ONNX files before a runtime opens them: which other files hold their weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "alate/tensor.h"
#include "base/files/file_digests.h"

namespace alate::exchange {

/// Location of a tensor's bytes in another file.
struct ExternalTensor {
  std::string name;      // of the tensor; empty where it has none
  std::string location;  // a plain relative path, from the model file's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // absent: the size by the tensor's type and dims
  std::optional<std::uint64_t> bytes;   // size by its type and dims; absent for types without a known size
};

inline constexpr std::size_t kMaxExternalFiles = 4096;
inline constexpr std::size_t kMaxExternalTensors = std::size_t{1} << 18;
inline constexpr std::size_t kMaxOnnxDepth = 64;

/// All external tensors of a ModelProto, wherever the format allows tensors: initializers, dense and sparse, and
/// attributes, in graphs, nested graphs, functions and training. A tensor counts if it names another file, whether or
/// not it is marked as external. The bytes of weights are not read, and each message is parsed once.
///
/// Throws corrupt for bytes that are not a ModelProto, a location that is not a plain relative path
/// (base/files/contained_files.h), duplicate values of a single-valued field, malformed numbers, and a size that fits
/// in no file; resource_exhausted for more tensors than kMaxExternalTensors or graphs nested deeper than kMaxOnnxDepth;
/// unsupported for an EPContext node, which loads accelerator-specific code from a file that it names.
std::vector<ExternalTensor> external_tensors(std::span<const std::byte> model);

/// The files of a model.
struct OnnxFiles {
  std::filesystem::path model;
  std::vector<std::string> external;  // unique sorted names, relative to the model's folder
  std::uint64_t bytes = 0;            // of all

  std::filesystem::path path_of(const std::string& name) const { return model.parent_path() / name; }
};

/// Reads the file and checks that its weights are in regular files of its own folder (base::ContainedFiles) that
/// contain all bytes it uses. Call this before any runtime opens the file, as some of them read any file that it names.
///
/// Throws as `external_tensors`; not_found for a missing file, corrupt for one that escapes the folder, is not a
/// regular file or is too short, resource_exhausted for more than kMaxExternalFiles; every error names the file.
OnnxFiles check_onnx_file(const std::filesystem::path& model);

/// Fingerprint of the bytes of all files and the names that the model uses for them.
Fingerprint content_of(const OnnxFiles& files, const base::FileDigests& digests);

}  // namespace alate::exchange
