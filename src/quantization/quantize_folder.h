// `alate quantize`: converts a model folder to one with weights in 8 bits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "quantization/quantization_progress.h"

namespace alate::quantization {

struct FolderOptions {
  std::vector<std::string> calibration = {};  // texts; empty: the built-in ones
  // Groups of a layer's inputs, each with its own scale: 1 is fastest, more are closer to float32; empty: as many as
  // each layer needs.
  std::optional<std::int64_t> activation_groups = {};
  ReportQuantization report = {};
};

struct FolderReport {
  std::size_t layers = 0;                           // that now compute in 8 bits
  std::size_t texts = 0, tokens = 0;                // used for calibration
  std::uint64_t bytes_before = 0, bytes_after = 0;  // of the weights
};

/// Reads the encoder in `model` and writes `out`, a folder that must not exist: model.safetensors with weights in 8
/// bits, config.json with quantization_config, and the other files of `model` except weights in other formats. A
/// sentence-transformers folder whose model has no head loses the weights that text vectors do not depend on (the
/// pooler). The folder appears under its name when it is complete. Texts that are too long are truncated;
/// docs/quantization.md describes the files. Throws as Model::load; invalid_argument where `out` exists, the number of
/// groups is out of range, `model` is quantized already, or the texts have no tokens; unavailable where files cannot be
/// written; what `options.report` throws. Nothing is left behind then.
FolderReport quantize_folder(const std::filesystem::path& model, const std::filesystem::path& out,
                             const FolderOptions& options = {});

}  // namespace alate::quantization
