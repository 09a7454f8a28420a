// An ONNX file of a stranger, looked at before a runtime opens it: which other files its weights are in.
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

/// Where the bytes of a tensor are that lie in another file.
struct ExternalTensor {
  std::string name;      // of the tensor; empty where it has none
  std::string location;  // a plain relative path, from the model file's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // absent: as many bytes as the tensor's type and dims say
  std::optional<std::uint64_t> bytes;   // that its type and dims say; absent for types without a known size
};

inline constexpr std::size_t kMaxExternalFiles = 4096;
inline constexpr std::size_t kMaxExternalTensors = std::size_t{1} << 18;
inline constexpr std::size_t kMaxOnnxDepth = 64;

/// All tensors of a ModelProto whose bytes lie elsewhere, wherever the format lets a tensor be: initializers, dense and
/// sparse, and attributes, in graphs, nested graphs, functions and training. A tensor counts where it names another
/// file, whether it says that it uses it or not. The bytes of weights are not read, and each message is looked at once.
///
/// Throws corrupt for what is no ModelProto, a location that is no plain relative path (base/files/contained_files.h),
/// two values for what can have one, numbers that are none, and a size that fits in no file; resource_exhausted for
/// more tensors than kMaxExternalTensors or graphs nested deeper than kMaxOnnxDepth; unsupported for a node EPContext,
/// which is code for one accelerator, out of a file that it names.
std::vector<ExternalTensor> external_tensors(std::span<const std::byte> model);

/// The files that a model consists of.
struct OnnxFiles {
  std::filesystem::path model;
  std::vector<std::string> external;  // by name, each once, from the model's folder; sorted
  std::uint64_t bytes = 0;            // of all

  std::filesystem::path path_of(const std::string& name) const { return model.parent_path() / name; }
};

/// Reads the file and makes sure that its weights are where a model's weights may be: in regular files of its own
/// folder (base::ContainedFiles), with all bytes that it uses. To be called before any runtime opens the file, as some
/// of them read whatever it names.
///
/// Throws as `external_tensors`; not_found for a file that is not there, corrupt for one that leads out of the folder,
/// is no regular file or is too short, resource_exhausted for more than kMaxExternalFiles; all of them name the file.
OnnxFiles check_onnx_file(const std::filesystem::path& model);

/// Of the bytes of all files and the names under which the model knows them.
Fingerprint content_of(const OnnxFiles& files, const base::FileDigests& digests);

}  // namespace alate::exchange
