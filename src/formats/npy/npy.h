// NumPy's .npy format: one array per file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::formats {

/// The array in the bytes of a complete file; shares them, with their `owner`, if order and alignment allow. Throws
/// corrupt or unsupported with `what` (the file's name) and the reason.
Tensor parse_npy(std::span<const std::byte> file, std::shared_ptr<const void> owner, std::string_view what);
/// Reads the complete file. Also throws as MappedFile::open.
Tensor read_npy(const std::filesystem::path& path);

/// The bytes that numpy.save writes for this array. Throws unsupported for a type that NumPy lacks and invalid_argument
/// for an empty tensor, with `what` (the tensor's name).
std::vector<std::byte> npy_bytes(const Tensor& tensor, std::string_view what);
/// Writes these bytes through a temporary file and a rename.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace alate::formats
