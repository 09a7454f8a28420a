// The facts that selection needs about a model, read from its files.
#pragma once

#include <filesystem>

#include "machine/selection.h"
#include "runtime/loading/loaded_model.h"

namespace alate::runtime {

/// `dtype` is as in LoadOptions. Reads config, manifest and the headers of the weights. Throws as Model::load for a
/// path that is no model.
machine::ModelNeeds model_needs(const std::filesystem::path& path, ComputeType dtype = ComputeType::as_stored);

}  // namespace alate::runtime
