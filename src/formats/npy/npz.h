// NumPy's .npz format: a zip archive with one .npy file per named array.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "formats/named_tensor.h"
#include "formats/zip_reader.h"

namespace alate::formats {

/// The arrays in the bytes of a complete file, in the archive's order, each with separate storage. Throws as list_zip,
/// extract_zip_entry and parse_npy, with `what` (the file's name).
std::vector<NamedTensor> parse_npz(std::span<const std::byte> file, std::string_view what,
                                   const ZipLimits& limits = {});
/// Reads the complete file. Also throws as MappedFile::open.
std::vector<NamedTensor> read_npz(const std::filesystem::path& path, const ZipLimits& limits = {});

/// The bytes of a file that numpy.load reads; entries are stored uncompressed, in the given order. Throws
/// invalid_argument for a duplicate name or invalid UTF-8, and as npy_bytes and ZipWriter.
std::vector<std::byte> npz_bytes(std::span<const NamedTensor> tensors);
/// Writes these bytes through a temporary file and a rename.
void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace alate::formats
