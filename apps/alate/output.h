// Where a verb's result goes: standard output, or a file that appears whole or not at all.
#pragma once

#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace alate::app {

/// Thrown when whoever reads standard output has gone away: there is nobody left to work for, and nothing to say.
struct OutputClosed : std::exception {
  const char* what() const noexcept override { return "standard output was closed"; }
};

/// Bytes written so far reach standard output from time to time, at `flush` and at `finish`; a file only at `finish`.
class Output {
 public:
  /// An empty path is standard output.
  explicit Output(std::filesystem::path path = {}) : path_(std::move(path)) {}

  /// Throws OutputClosed; resource_exhausted when the disk is full; unavailable for other failures of writing.
  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes);
  void flush();
  /// To be called once, after all bytes.
  void finish();

  bool is_file() const { return !path_.empty(); }
  bool is_terminal() const;

 private:
  std::filesystem::path path_;
  std::string waiting_;
};

/// Writes bytes to a descriptor, whole; `name` is what errors call it.
void write_to_descriptor(int descriptor, std::string_view bytes, std::string_view name);

}  // namespace alate::app
