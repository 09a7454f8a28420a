// Reads lines of a file or of standard input without loading it whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace alate::app {

/// Lines end with '\n', which is stripped; all other bytes are kept. Not thread-safe.
class LineReader {
 public:
  /// An empty path means standard input. Throws not_found or unavailable.
  explicit LineReader(const std::filesystem::path& path = {});
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line, valid until the next call; nothing at the end. Throws unavailable if reading fails, and
  /// resource_exhausted for a line over 1 GiB.
  std::optional<std::string_view> next();
  /// Whether `next` can answer from data already read.
  bool has_line() const { return buffer_.find('\n', from_) != std::string::npos; }
  /// "line 3 of texts.txt": the position of the last line returned.
  std::string place() const;

 private:
  bool read_more();

  std::string name_;
  int descriptor_ = 0;
  bool at_end_ = false;
  std::string buffer_;
  std::size_t from_ = 0;  // start of unreturned data
  std::size_t number_ = 0;
};

}  // namespace alate::app
