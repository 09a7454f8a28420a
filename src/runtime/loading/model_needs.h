// What selection must know of a model, from its files.
#pragma once

#include <filesystem>
#include <string_view>

#include "machine/selection.h"
#include "runtime/loading/loaded_model.h"

namespace alate::runtime {

/// `dtype` is as LoadOptions have it. Reads config, manifest and the headers of the weights. Throws as Model::load for
/// what is no model.
machine::ModelNeeds model_needs(const std::filesystem::path& path, std::string_view dtype = {});

}  // namespace alate::runtime
