// Extraction of libraries and licences from a runtime's wheel.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hub/install/runtime_packages.h"

namespace alate::hub {

/// Whether a file's name (without folders) is that of the package's library, with or without a version suffix.
bool is_library_of(const RuntimePackage& package, std::string_view file);

/// "1.31.1" of "onnxruntime-1.31.1-cp312-….whl"; nothing for other names.
std::optional<std::string> wheel_version(std::string_view file);

/// Writes the libraries and licences of the wheel into `folder`, without the wheel's folder structure. Returns the
/// library's file name. Throws corrupt if it is not a wheel or has no such library.
std::string unpack_runtime(const RuntimePackage& package, std::span<const std::byte> wheel,
                           const std::filesystem::path& folder);

}  // namespace alate::hub
