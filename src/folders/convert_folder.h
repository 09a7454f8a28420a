// A model's folder with its weights as safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/files/file_digests.h"

namespace alate::folders {

struct ConvertProgress {
  std::size_t done = 0, total = 0;  // tensors of the encoder
};

struct ConvertReport {
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;  // of the tensors, those of modules included
};

struct ConvertOptions {
  std::filesystem::path weights_file = {};  // of the model's folder, instead of those without a variant; empty: these
  std::string type = {};                    // for the manifest, as ModelOrigin has them
  std::vector<std::string> capabilities = {};
  std::function<void(const ConvertProgress&)> report = {};
};

/// Writes `out`, a folder that must not exist: the weights of `model`, and those of the modules in its folders, each as
/// one model.safetensors with the stored types, and a manifest (write_manifest); everything else is copied. Nothing is
/// left behind on failure. What `report` throws ends the writing. Throws as formats::open_weights, OutputFolder and
/// write_manifest.
ConvertReport convert_folder(const std::filesystem::path& model, const std::filesystem::path& out,
                             const base::FileDigests& digests, const ConvertOptions& options = {});

}  // namespace alate::folders
