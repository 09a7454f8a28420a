// The models directory.
#pragma once

#include <filesystem>

namespace alate::folders {

/// `given` unless it is empty, else the folder that ALATE_MODELS_DIR names, else models in the cache folder. Throws
/// not_found where no variable says where that is.
std::filesystem::path models_directory(const std::filesystem::path& given);

}  // namespace alate::folders
