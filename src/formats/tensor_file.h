// Files of named tensors of every supported kind, distinguished by extension.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/named_tensor.h"

namespace alate::formats {

enum class TensorFileKind { safetensors, npz, npy };

/// The kind by extension, case-insensitive. Throws unsupported for an unknown extension.
TensorFileKind tensor_file_kind(const std::filesystem::path& path);

/// All tensors of a file, read completely, so that the file may change afterwards. The array of an .npy file is named
/// after the file without its extension. Throws as the readers of the kinds.
std::vector<NamedTensor> read_tensors(const std::filesystem::path& path);

/// The bytes of a file. Throws as the writers of the kinds, and invalid_argument unless there is exactly one tensor for
/// an .npy file.
std::vector<std::byte> tensor_file_bytes(TensorFileKind kind, std::span<const NamedTensor> tensors);
/// What a file with one tensor has before its row-major data, of the same length for any first extent: for files that
/// are written before their number of rows is known. Throws unsupported for an npz file, a scalar, and a type that the
/// kind lacks.
std::string growing_tensor_head(TensorFileKind kind, std::string_view name, const Shape& shape);
/// Writes these bytes, of the kind that the extension names, through a temporary file and a rename.
void write_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace alate::formats
