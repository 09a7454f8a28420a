// Which files of a model are loaded.
#pragma once

#include <cstdint>
#include <filesystem>

namespace alate::runtime {

struct ModelFiles {
  std::filesystem::path folder;     // config, manifest, tokenizer
  std::filesystem::path onnx_file;  // that is run as it is; empty: the weights of safetensors files

  bool is_onnx() const { return !onnx_file.empty(); }
};

/// `path` is a model's folder, an ONNX file, or "builtin:NAME"; `onnx_file` names one inside the folder, and so asks
/// for it. A folder with weights as safetensors uses them, else its model.onnx or onnx/model.onnx. Throws not_found,
/// and invalid_argument for a name that leads out of the folder.
ModelFiles find_model_files(const std::filesystem::path& path, const std::filesystem::path& onnx_file = {});

/// Bytes of an ONNX file and of what lies beside it under its name (external data).
std::uint64_t onnx_bytes(const std::filesystem::path& file);

}  // namespace alate::runtime
