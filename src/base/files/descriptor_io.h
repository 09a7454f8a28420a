// Byte I/O on file descriptors: the standard streams, and files and pipes that are read or written sequentially.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace alate::base {

inline constexpr int kStandardInput = 0;
inline constexpr int kStandardOutput = 1;
inline constexpr int kStandardError = 2;

/// Opens for reading, or an existing file for writing, with close-on-exec and without newline translation. Negative on
/// failure, with `errno` set.
int open_descriptor_to_read(const std::filesystem::path& path);
int open_descriptor_to_write(const std::filesystem::path& path);
/// False on failure, with `errno` set: some file systems report a failed write only here.
bool close_descriptor(int descriptor);

/// Reads at most `bytes` bytes, waiting for the first; 0 at the end, negative on failure (`errno`). Retries after
/// signals.
std::ptrdiff_t read_descriptor(int descriptor, void* out, std::size_t bytes);
/// The number of bytes written, at least one; negative on failure (`errno`). Retries after signals.
std::ptrdiff_t write_descriptor(int descriptor, std::string_view bytes);

/// Redirects standard output to standard error and returns a descriptor of the former standard output. Negative on
/// failure.
int redirect_stdout_to_stderr();

bool is_terminal(int descriptor);

/// Whether the error means a full disk or an exhausted disk quota.
bool is_full_disk(int error);

}  // namespace alate::base
