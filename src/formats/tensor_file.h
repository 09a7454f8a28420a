// Files of named tensors of any kind that we read and write, told apart by the end of their names.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "formats/named_tensor.h"

namespace alate::formats {

enum class TensorFileKind { safetensors, npz, npy };

/// By the name's extension, in either case. Throws unsupported for another.
TensorFileKind tensor_file_kind(const std::filesystem::path& path);

/// All tensors of a file, read whole, so that it may change afterwards. The one array of an .npy file is called as the
/// file is without extension. Throws what the readers of the kinds throw.
std::vector<NamedTensor> read_tensors(const std::filesystem::path& path);

/// The bytes of a file. Throws what the writers of the kinds throw, and invalid_argument when there is not exactly one
/// tensor for an .npy file.
std::vector<std::byte> tensor_file_bytes(TensorFileKind kind, std::span<const NamedTensor> tensors);
/// Writes these bytes, of the kind that the extension names, through a temporary file and a rename.
void write_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace alate::formats
