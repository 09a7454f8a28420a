// The models that this machine has on disk.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apps/alate/common_options.h"

namespace alate::app {

enum class ModelPlace { builtin, models_directory, hub_cache, path };
/// "builtin", "models directory", "hub cache", "path".
std::string_view to_string(ModelPlace place);

struct StoredModel {
  std::string name;  // as MODEL takes it
  std::filesystem::path folder;
  ModelPlace place = ModelPlace::path;
};

/// Those that came with the program, those of the models directory and those of huggingface_hub's cache that the models
/// directory has not; each sorted. Folders whose names no command takes are left out.
std::vector<StoredModel> stored_models(const CommonOptions& options);

/// The place of a model's folder, or of a file in it, and the shortest reference to it.
StoredModel stored_model_at(const CommonOptions& options, const std::string& reference,
                            const std::filesystem::path& path);

}  // namespace alate::app
