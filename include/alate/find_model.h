// Models by name, as the command line finds them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "alate/installed_header.h"

namespace alate {

struct FindOptions {
  // The models directory. Empty: the folder that ALATE_MODELS_DIR names, otherwise models in the cache folder
  // ($ALATE_HOME, $XDG_CACHE_HOME/alate or ~/.cache/alate).
  std::filesystem::path models_dir = {};
  std::string installed_header = ALATE_INSTALLED_HEADER;  // as LoadOptions::installed_header
  // huggingface_hub's cache. Empty: the folder that HF_HUB_CACHE names, otherwise hub in HF_HOME, in
  // $XDG_CACHE_HOME/huggingface or in ~/.cache/huggingface.
  std::filesystem::path hub_cache = {};
};

/// The folder or file of a model, which the loading functions take:
/// EmbeddingPipeline::load(find_model("bge-small-en")). `reference` is, in this order: the path of a folder or file;
/// "builtin:NAME", a model installed with Alate; in the models directory, "owner/name", or "name" where only one owner
/// has a model of that name; the same, or "owner/name@revision", in huggingface_hub's cache. "hf:" may precede a name
/// of the last two kinds. "NAME:VARIANT" is the file with a variant's weights: "bge-small-en:int8". Reads no weights. A
/// reference may be any path: do not pass on one that came from a network.
///
/// Throws not_found, naming the models or variants that are there and the one nearest to a mistyped name;
/// invalid_argument for an invalid or ambiguous name; corrupt for a variant outside of the model's folder.
std::filesystem::path find_model(std::string_view reference, const FindOptions& options = {});

/// The references of all models in the models directory, of those installed with Alate and of those in
/// huggingface_hub's cache, sorted. Throws not_found where no variable says which folder the models directory is.
std::vector<std::string> list_models(const FindOptions& options = {});

}  // namespace alate
