// Bytes through descriptors: the standard streams, and files and pipes that are read or written as they come.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace alate::base {

inline constexpr int kStandardInput = 0;
inline constexpr int kStandardOutput = 1;
inline constexpr int kStandardError = 2;

/// Open to read, or to write to what is there already; closed when a program that is started takes this one's place.
/// Bytes are never translated. Negative when it fails; `errno` says why.
int open_descriptor_to_read(const std::filesystem::path& path);
int open_descriptor_to_write(const std::filesystem::path& path);
/// False when it fails, as some file systems report a failed write; `errno` says why.
bool close_descriptor(int descriptor);

/// At most `bytes` bytes, waiting for the first; 0 at the end, negative when it fails (`errno`). Signals do not end it.
std::ptrdiff_t read_descriptor(int descriptor, void* out, std::size_t bytes);
/// How many bytes were written, at least one; negative when it fails (`errno`). Signals do not end it.
std::ptrdiff_t write_descriptor(int descriptor, std::string_view bytes);

/// A descriptor for what standard output was; from now on what is written to standard output goes to standard error.
/// Negative when it fails.
int set_standard_output_aside();

bool is_terminal(int descriptor);

/// Whether the error is that of a disk, or a user's share of it, without room.
bool is_full_disk(int error);

}  // namespace alate::base
