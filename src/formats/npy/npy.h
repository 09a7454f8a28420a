// NumPy's .npy: one array a file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::formats {

/// The array in the bytes of a whole file; shares them, with their `owner`, where order and alignment allow.
/// Throws corrupt or unsupported with `what` (the file's name) and what is wrong.
Tensor parse_npy(std::span<const std::byte> file, std::shared_ptr<const void> owner, std::string_view what);
/// Reads the file whole. Throws also what MappedFile::open throws.
Tensor read_npy(const std::filesystem::path& path);

/// The bytes that numpy.save writes for this array. Throws unsupported for a type that NumPy lacks and invalid_argument
/// for an empty tensor, with `what` (the tensor's name).
std::vector<std::byte> npy_bytes(const Tensor& tensor, std::string_view what);
/// Writes these bytes through a temporary file and a rename.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace alate::formats
