// alate quantize: a model folder in, one with weights in 8 bits out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace alate::quantization {

struct FolderOptions {
  std::vector<std::string> calibration = {};  // texts; empty: those built in
  // Of a layer's inputs, each rounded apart: 1 is fastest, more are nearer; nothing: as many as each layer needs.
  std::optional<std::int64_t> activation_runs = {};
};

struct FolderReport {
  std::size_t layers = 0;                           // that compute in 8 bits now
  std::size_t texts = 0, tokens = 0;                // of calibration, as far as they were used
  std::uint64_t bytes_before = 0, bytes_after = 0;  // of the weights
};

/// Reads the encoder in `model` and writes `out`, a folder that must not exist: model.safetensors with weights in 8
/// bits, config.json with quantization_config, and what else is in `model` but weights in other formats. A folder of
/// sentence-transformers whose model has no head loses the weights that vectors of texts do not depend on (the pooler).
/// The folder appears under its name when it is whole. Longer texts are cut; docs/quantization.md says what the files
/// hold.
/// Throws as Model::load; invalid_argument where `out` exists, there is no run, `model` is quantized already, or the
/// texts have no tokens; unavailable where files cannot be written.
FolderReport quantize_folder(const std::filesystem::path& model, const std::filesystem::path& out,
                             const FolderOptions& options = {});

}  // namespace alate::quantization
