// Writing of safetensors files, byte-identical to the reference implementation for the same tensors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/named_tensor.h"

namespace alate::formats {

/// The bytes of a file: tensors by descending alignment of their type, then by name; metadata by key (in the reference
/// implementation the order of several keys is random). Throws invalid_argument for a name that is duplicate,
/// "__metadata__" or invalid UTF-8, and for an empty tensor; unsupported for a type that the format lacks.
std::vector<std::byte> safetensors_bytes(std::span<const NamedTensor> tensors,
                                         const std::map<std::string, std::string>& metadata = {});

/// Writes these bytes through a temporary file and a rename.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace alate::formats
