// Destination of a verb's result: standard output, or a file written atomically.
#pragma once

#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace alate::app {

/// Thrown when the reader of standard output has gone: nothing is left to do or report.
struct OutputClosed : std::exception {
  const char* what() const noexcept override { return "standard output was closed"; }
};

/// Written bytes reach standard output now and then, at `flush` and at `finish`; a file only at `finish`.
class Output {
 public:
  /// An empty path means standard output.
  explicit Output(std::filesystem::path path = {}) : path_(std::move(path)) {}

  /// Throws OutputClosed; resource_exhausted if the disk is full; unavailable for other write errors.
  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes);
  void flush();
  /// Call once, after all bytes.
  void finish();

  bool is_file() const { return !path_.empty(); }
  bool is_terminal() const;

 private:
  std::filesystem::path path_;
  std::string waiting_;
};

/// Writes all bytes to a descriptor; `name` is used in errors.
void write_to_descriptor(int descriptor, std::string_view bytes, std::string_view name);

}  // namespace alate::app
