// Resolution of the MODEL argument of a command line or a request.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::folders {

/// A reference and the variant that follows its last colon; the variant is empty where there is none. A colon of a
/// prefix ("hf:owner/name", "builtin:minilm") or of a path that goes on behind it begins no variant.
struct VariantSplit {
  std::string_view model, variant;
};
VariantSplit split_variant(std::string_view reference);

/// Where models are looked up.
struct ModelPlaces {
  std::filesystem::path models_directory;               // empty: there is none
  std::optional<std::filesystem::path> hub_cache = {};  // huggingface_hub's; none: it is not searched
  std::filesystem::path installed_header = {};          // alate/installed_header.h
};

/// The folder or file for a command line's reference, the first match of: an existing path; "builtin:NAME"
/// (folders/builtin_models.h); a name in the models directory; "owner/name", "owner/name@revision" or a unique "name"
/// in huggingface_hub's cache. "hf:" may precede a name of the last two kinds. Each may be a folder and a variant:
/// "name:int8" is the file with that variant's weights. Throws not_found listing the searched places and the available
/// models, invalid_argument as `resolve_model_name`, `find_hub_model` and `refuse_address`, unavailable for a path or
/// name whose permissions refuse this process; as resolve_variant.
std::filesystem::path resolve_model(std::string_view reference, const ModelPlaces& places);

/// The first part of `resolve_model`, which needs no models directory: an existing path or "builtin:NAME", with a
/// variant or without; none for a reference of another kind. Throws as `resolve_builtin_model`, and invalid_argument
/// for an empty reference.
std::optional<std::filesystem::path> resolve_path_or_builtin(std::string_view reference,
                                                             const std::filesystem::path& installed_header = {});

/// The same for a reference in a setting or a request, which is never a path.
std::filesystem::path resolve_named_model(std::string_view name, const ModelPlaces& places);

/// Whether `name` has the form "name" or "owner/name", with parts that cannot leave their folder on any system.
bool is_model_name(std::string_view name);

/// The folder of "owner/name", or of "name" if only one owner has a model of that name; nothing if there is none, or no
/// directory (an empty path). Never leaves the models directory except through links in it. Throws invalid_argument for
/// an invalid name ("..", absolute paths, control characters) and for an ambiguous one, listing the models.
std::optional<std::filesystem::path> find_model_name(std::string_view name,
                                                     const std::filesystem::path& models_directory);

/// The names of all models in the directory, "owner/name" or "name", sorted. Empty if the directory does not exist, or
/// is an empty path.
std::vector<std::string> list_models(const std::filesystem::path& models_directory);

/// Whether the folder contains files of a model.
bool is_model_folder(const std::filesystem::path& folder);

}  // namespace alate::folders
