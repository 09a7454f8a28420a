// Destination of a verb's result: standard output, or a file that is put in its place when it is complete.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/atomic_file.h"

namespace alate::app {

/// Thrown when the reader of standard output, or of a pipe named with --out, has gone: nothing is left to do or report.
struct OutputClosed : std::exception {
  const char* what() const noexcept override { return "the output was closed"; }
};

/// Create it before the work whose result it takes: an output that cannot be written is refused at once. Written bytes
/// reach standard output now and then, at `flush` and at `finish`; a file has its name only from `finish` on, and is
/// removed if that does not come. Devices and pipes are written to directly.
class Output {
 public:
  /// An empty path, or "-", means standard output. Removes what killed processes have left of such a file. Throws
  /// invalid_argument if standard output is closed or the path is a folder; not_found if its folder does not exist;
  /// otherwise as `write`.
  explicit Output(const std::filesystem::path& path = {});
  /// A file whose bytes stay in PATH.partial if `finish` does not come, so that a later run can go on with them.
  struct Kept {};
  Output(Kept, const std::filesystem::path& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Throws OutputClosed; resource_exhausted if the disk is full; unavailable for other errors.
  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes);
  /// A piece of a text that a model made, for readers that wait for it: on a terminal its control characters are shown,
  /// so that they do not act on it. Throws as `write`.
  void write_made_text(std::string_view piece);
  /// Overwrites the first bytes of a file, at most as many as were written. Only where `is_file`. Throws as `write`.
  void rewrite_start(std::string_view bytes);
  /// For readers that wait for what has been written so far.
  void flush();
  /// Call once, after all bytes.
  void finish();
  /// Of a file: removes it, a Kept one too. Call instead of `finish`, and nothing after it.
  void discard() noexcept;
  /// Of a file: the name under which it is until `finish`; what was written before `flush` can be read there.
  const std::filesystem::path& temporary_path() const { return file_.value().path(); }

  /// Of Kept ones. The bytes that an earlier run has left; going on behind the first of them, before anything is
  /// written; putting what is written on disk, and how many bytes that is. Throw as `write`.
  std::int64_t kept_bytes() const;
  void continue_at(std::int64_t bytes);
  std::int64_t sync();

  /// Whether the result becomes visible only at `finish`.
  bool is_file() const { return file_.has_value(); }
  /// Whether a person reads it as it comes.
  bool is_terminal() const;

 private:
  void put(std::string_view bytes);

  std::string name_;                      // for errors
  std::optional<base::AtomicFile> file_;  // else there is a descriptor
  int descriptor_;
  std::string waiting_;
};

/// Whether an Output of this path would write to standard output.
bool is_standard_output(const std::filesystem::path& path);

/// Whether it is a device or a pipe.
bool is_written_in_place(const std::filesystem::path& path);

/// Writes all bytes to a descriptor; `name` is used in errors. Throws as Output::write.
void write_to_descriptor(int descriptor, std::string_view bytes, std::string_view name);

}  // namespace alate::app
