// Resolution of the MODEL argument of a command line or a request.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::hub {

/// The folder or file for a command line's reference, the first match of: an existing path; "builtin:NAME"
/// (hub/builtin_models.h), also in the prefix of `installed_header`; a name in the models directory. Throws not_found
/// listing the searched places and the available models, invalid_argument as `resolve_model_name` and `refuse_address`,
/// unsupported for "hf:..." and for variants ("name:int8"), unavailable for a path or name whose permissions refuse
/// this process.
std::filesystem::path resolve_model(std::string_view reference, const std::filesystem::path& models_directory,
                                    const std::filesystem::path& installed_header = {});

/// The first part of `resolve_model`, which needs no models directory: an existing path or "builtin:NAME"; none for a
/// reference of another kind. Throws as `resolve_builtin_model`, and invalid_argument for an empty reference.
std::optional<std::filesystem::path> resolve_path_or_builtin(std::string_view reference,
                                                             const std::filesystem::path& installed_header = {});

/// The folder for a reference in a setting or a request: a name in the models directory or "builtin:NAME". Throws as
/// `resolve_model_name` and `resolve_builtin_model`.
std::filesystem::path resolve_named_model(std::string_view name, const std::filesystem::path& models_directory);

/// Whether `name` has the form "name" or "owner/name", with parts that cannot leave their folder on any system.
bool is_model_name(std::string_view name);

/// The folder of "owner/name", or of "name" if only one owner has a model of that name. Never leaves the models
/// directory except through links in it. Throws not_found, suggesting the nearest name; invalid_argument for an invalid
/// name ("..", absolute paths, control characters) and for an ambiguous one, listing the models.
std::filesystem::path resolve_model_name(std::string_view name, const std::filesystem::path& models_directory,
                                         const std::filesystem::path& installed_header = {});

/// The names of all models in the directory, "owner/name" or "name", sorted. Empty if the directory does not exist.
std::vector<std::string> list_models(const std::filesystem::path& models_directory);

/// Whether the folder contains files of a model.
bool is_model_folder(const std::filesystem::path& folder);

}  // namespace alate::hub
