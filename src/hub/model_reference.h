// What the word MODEL of a command line or a request means.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace alate::hub {

/// The folder or file that a command line's reference means, the first of these that fits: a path that exists; a name
/// in the models directory; "builtin:NAME" (hub/builtin_models.h). Throws not_found saying where was looked and what
/// there is, invalid_argument as `resolve_model_name`, unsupported for "hf:..." and for variants ("name:int8").
std::filesystem::path resolve_model(std::string_view reference, const std::filesystem::path& models_directory);

/// The folder of what a setting or a request names: a name in the models directory or "builtin:NAME". Throws as
/// `resolve_model_name` and `resolve_builtin_model`.
std::filesystem::path resolve_named_model(std::string_view name, const std::filesystem::path& models_directory);

/// Whether it has the form "name" or "owner/name", of parts that stay inside their folder on every system.
bool is_model_name(std::string_view name);

/// The folder of "owner/name", or of "name" where one owner alone has a model of that name. Never leaves the models
/// directory but through links that lie in it. Throws not_found; invalid_argument for what is no name ("..", absolute
/// paths, control characters) and, listing them, when several models are called so.
std::filesystem::path resolve_model_name(std::string_view name, const std::filesystem::path& models_directory);

/// The names of all models in the directory, "owner/name" or "name", sorted. Empty when there is no such directory.
std::vector<std::string> list_models(const std::filesystem::path& models_directory);

/// Whether the folder holds files of a model.
bool is_model_folder(const std::filesystem::path& folder);

}  // namespace alate::hub
