// Everything that can be said about a model before it is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/memory.h"
#include "alate/selection.h"
#include "folders/manifest.h"
#include "folders/variant_names.h"
#include "pipelines/model_summary.h"
#include "runtime/loading/load_request.h"

namespace alate::pipelines {

struct VariantReport {
  folders::ModelVariant variant;
  std::uint64_t bytes = 0;  // of its files
  std::string refusal;      // why it cannot be loaded, as far as its names say it
};

/// Of a language model.
struct DecoderReport {
  std::size_t context = 0;                // tokens of prompt and text together
  std::size_t cache_bytes_per_token = 0;  // keys and values of all layers
  bool has_chat_template = false;
};

struct ModelReport {
  ModelSummary summary;
  folders::Manifest manifest;
  std::string class_name;                // config.json's architectures[0]
  std::string licence;                   // of the manifest, else of README.md's front matter; empty: not stated
  std::vector<VariantReport> variants;   // the one that is loaded by default has no name
  Selection selection;                   // has no backend if there is an error
  std::optional<Error> error;            // that loading would end with
  std::optional<ModelMemory> memory;     // of the weights' graph on the chosen backend
  std::optional<DecoderReport> decoder;  // of one that would load
  std::vector<std::string> refused;      // parts of the model that are not used, and why
};

/// What of a model can be looked at: of one that has not been downloaded not all.
struct ReportScope {
  bool has_tokenizer = true;
  bool has_weights = true;  // else the architecture is known, and not whether every weight is there, nor the memory
};

/// `model` is a folder, or the file of a variant. Reads what check_loadable reads, but never opens an ONNX file on its
/// runtime: of such a file only the choice of a backend is known. Throws nothing for a faulty model.
ModelReport report_on_model(const std::filesystem::path& model, const runtime::LoadRequest& request,
                            const ReportScope& scope = {});

}  // namespace alate::pipelines
