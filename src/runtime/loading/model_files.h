// The choice of a model's files to load.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "alate/model.h"

namespace alate::runtime {

struct ModelFiles {
  std::filesystem::path folder;     // config, manifest, tokenizer
  std::filesystem::path onnx_file;  // run directly; empty: weights come from safetensors files

  /// For those who open the files; a loaded model's form (model_form.h) answers what follows from it.
  bool is_onnx() const { return !onnx_file.empty(); }
};

/// `path` is a model's folder, an ONNX file, or "builtin:NAME"; `options.onnx_file` asks for an ONNX file inside the
/// folder. Otherwise a folder with safetensors weights uses them, else its model.onnx or onnx/model.onnx. Throws
/// not_found, invalid_argument for a name outside the folder, unavailable where permissions hide it, and as
/// refuse_other_weights.
ModelFiles find_model_files(const std::filesystem::path& path, const LoadOptions& options = {});

/// Throws unsupported, naming `purpose` ("a reranker"), for a model that is an ONNX file and has no weights to read.
void require_weights(const ModelFiles& files, std::string_view purpose);

/// Bytes of an ONNX file and of its external data: files beside it under its name.
std::uint64_t onnx_bytes(const std::filesystem::path& file);

}  // namespace alate::runtime
