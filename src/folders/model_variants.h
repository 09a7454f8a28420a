// The variants of a model on disk: those of its manifest, and those that the names of its files show.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "folders/variant_names.h"

namespace alate::folders {

/// All variants of the model in a folder. A variant of the manifest hides one of the same name. Folders inside the
/// folder are read one level deep. Throws as read_manifest.
std::vector<ModelVariant> list_variants(const std::filesystem::path& folder);

/// The path of the file that is opened for a variant of the folder. Throws not_found if it is missing, corrupt if it is
/// a link out of the folder or the manifest names no weights. `model` is for messages.
std::filesystem::path variant_file(const std::filesystem::path& folder, const ModelVariant& variant,
                                   std::string_view model);

/// The same for the variant of this name, in any case of letters. Throws not_found for an unknown one, listing those
/// that there are; as list_variants and variant_file.
std::filesystem::path resolve_variant(const std::filesystem::path& folder, std::string_view variant,
                                      std::string_view model);

/// Whether `text` may be the name of a variant: a plain file name.
bool is_variant_name(std::string_view text);

}  // namespace alate::folders
