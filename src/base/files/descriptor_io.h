// Byte I/O on file descriptors: the standard streams, and files and pipes that are read or written sequentially.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
/// Opens a file for writing, which is made if missing and keeps its bytes; a link is refused where the system can.
/// Locks it; fails with EBUSY if another process has it locked. Negative on failure, with `errno` set.
int open_descriptor_to_continue(const std::filesystem::path& path);
/// Cuts or extends a file to so many bytes and goes to its end. False on failure, with `errno` set.
bool resize_descriptor(int descriptor, std::int64_t bytes);
/// False on failure, with `errno` set: some file systems report a failed write only here.
bool close_descriptor(int descriptor);
/// Puts what was written on disk. False on failure, with `errno` set.
bool sync_descriptor(int descriptor);
/// Reports, as closing would, what the file system only notices when a file is closed; the descriptor stays open. False
/// on failure, with `errno` set. Does nothing on Windows.
bool settle_descriptor(int descriptor);

/// Reads at most `bytes` bytes, waiting for the first; 0 at the end, negative on failure (`errno`). Retries after
/// signals, and waits where the descriptor does not.
std::ptrdiff_t read_descriptor(int descriptor, void* out, std::size_t bytes);
/// The number of bytes written, at least one; negative on failure (`errno`). Retries after signals, and waits where
/// the descriptor does not.
std::ptrdiff_t write_descriptor(int descriptor, std::string_view bytes);

/// The same at a place of a regular file; on Linux the descriptor's position stays, and threads may do so at once.
/// Fewer bytes than asked for only at the end.
std::ptrdiff_t read_descriptor_at(int descriptor, std::int64_t place, void* out, std::size_t bytes);
/// Writes all bytes at a place of a regular file. False on failure, with `errno` set.
bool write_descriptor_at(int descriptor, std::int64_t place, std::string_view bytes);

/// Waits at most so long until reading would not have to wait: for bytes, the end, or an error. Whether it is so now.
/// On Windows never for a console, whose lines cannot be seen coming.
bool wait_for_input(int descriptor, std::chrono::milliseconds patience);

/// The position in a regular file; -1 for anything else.
std::int64_t position_in_file(int descriptor);
/// The length of a regular file; -1 for anything else.
std::int64_t bytes_of_file(int descriptor);
/// False on failure.
bool seek_in_file(int descriptor, std::int64_t position);

/// Whether it is open for writing.
bool is_writable(int descriptor);

/// Redirects standard output to standard error and returns a descriptor of the former standard output. Negative on
/// failure.
int redirect_stdout_to_stderr();

bool is_terminal(int descriptor);

/// Whether the error means a full disk or an exhausted disk quota.
bool is_full_disk(int error);

}  // namespace alate::base
