// Models whose weights are in formats that nothing here reads: what they are, and how to convert them.
#pragma once

#include <filesystem>

namespace alate::runtime {

/// Call for a folder without files that are read. Throws unsupported where it has weights in another format
/// (pickled PyTorch, TensorFlow, Flax, adapters of another model), unavailable for a folder that this process may
/// not list; returns where it has none.
void refuse_other_weights(const std::filesystem::path& folder);

/// The same for a file given as the model; returns for a file of another kind. Throws as base::require_own_content.
void refuse_weights_file(const std::filesystem::path& file);

}  // namespace alate::runtime
