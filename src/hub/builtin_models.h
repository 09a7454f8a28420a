// Models that are installed with the program: builtin:NAME.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace alate::hub {

constexpr std::string_view kBuiltinPrefix = "builtin:";

/// Where such models are looked for, which need not exist: the folder that ALATE_BUILTIN_MODELS names alone, else
/// alate/models in each of base::shared_data_folders.
std::vector<std::filesystem::path> builtin_folders();

/// "builtin:NAME" of each there is, sorted.
std::vector<std::string> list_builtin_models();

/// The folder of "builtin:NAME". Throws not_found saying what there is, or where was looked and what to do where there
/// is none.
std::filesystem::path resolve_builtin_model(std::string_view reference);

}  // namespace alate::hub
