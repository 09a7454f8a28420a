// Reads lines of a file or of standard input without loading it whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace alate::app {

/// A place between two lines, and what is before it.
struct InputPosition {
  std::int64_t bytes = 0;
  std::size_t lines = 0;
  std::string digest;  // SHA-256 of these bytes
};

/// Lines end with '\n', which is stripped, and so is a byte order mark of UTF-8 before the first; all other bytes are
/// kept. Not thread-safe.
class LineReader {
 public:
  /// An empty path means standard input. Throws not_found or unavailable.
  explicit LineReader(const std::filesystem::path& path = {});
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line, valid until the next call; nothing at the end. Throws unavailable if reading fails,
  /// resource_exhausted for a line over 1 GiB, and invalid_argument, with what to do, for an input that is evidently
  /// UTF-16 or UTF-32.
  std::optional<std::string_view> next();
  /// Waits at most so long until `next` would not have to wait; whether it is so now.
  bool has_line_within(std::chrono::milliseconds patience);
  /// The next line, if it has been read up to its end.
  std::optional<std::string_view> peek();

  /// Whether the input is a regular file, which can be read twice.
  bool can_rewind() const { return start_ >= 0; }
  /// Goes back to the first line. Throws unavailable.
  void rewind();

  /// The share of a regular file that has been returned, from 0 to 1.
  std::optional<double> share() const;
  /// The bytes that have been returned, with the ends of lines.
  std::int64_t returned_bytes() const { return returned_; }
  /// The place behind the last line returned; only after `keep_digest`.
  InputPosition position() const;
  /// Call before the first line.
  void keep_digest() { keeps_digest_ = true; }
  /// "line 3 of texts.txt": the position of the last line returned.
  std::string place() const;
  /// The number of that line.
  std::size_t number() const { return number_; }

 private:
  std::size_t find_end();
  void advance(std::size_t to);
  std::string_view take(std::size_t length);
  bool read_more();

  std::string name_;
  int descriptor_ = 0;
  std::int64_t start_ = -1;  // the position of the first line; -1: unknown
  bool at_end_ = false;
  std::string buffer_;
  std::size_t from_ = 0;      // start of unreturned data
  std::size_t searched_ = 0;  // there is no end of a line from `from_` to here
  std::size_t number_ = 0;
  bool keeps_digest_ = false;
  base::Sha256 digest_;
  std::int64_t returned_ = 0;  // bytes, with the ends of lines
};

}  // namespace alate::app
