// NumPy's .npz: a zip archive of .npy files, one a named array.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "formats/named_tensor.h"
#include "formats/zip_reader.h"

namespace alate::formats {

/// The arrays in the bytes of a whole file, in the archive's order, each in memory of its own.
/// Throws what list_zip, extract_zip_entry and parse_npy throw, with `what` (the file's name).
std::vector<NamedTensor> parse_npz(std::span<const std::byte> file, std::string_view what,
                                   const ZipLimits& limits = {});
/// Reads the file whole. Throws also what MappedFile::open throws.
std::vector<NamedTensor> read_npz(const std::filesystem::path& path, const ZipLimits& limits = {});

/// The bytes of a file that numpy.load reads; entries are stored, in the order given.
/// Throws invalid_argument for a name that occurs twice or is no UTF-8, and what npy_bytes and ZipWriter throw.
std::vector<std::byte> npz_bytes(std::span<const NamedTensor> tensors);
/// Writes these bytes through a temporary file and a rename.
void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace alate::formats
