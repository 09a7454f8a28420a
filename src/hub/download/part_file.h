// The part of a file that has been downloaded, which survives the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/threads/mutex.h"
#include "folders/blob_digest.h"

namespace alate::hub {

/// A sparse file of the whole length with a record behind its end: what it is a part of, and which pieces are complete.
/// A process may be killed at any time. Thread-safe; no other process has it meanwhile.
class PartFile {
 public:
  static constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;

  struct Run {
    std::uint64_t begin = 0, end = 0;  // bytes, at the borders of pieces
  };

  /// Continues the file if its record is of the same name and length, else begins anew. `digest` verifies it: if it is
  /// none (is_blob_digest), nothing is continued. Throws as file_write_error, and unavailable while another process has
  /// the file.
  PartFile(std::filesystem::path path, std::string name, std::string digest, std::uint64_t bytes);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t missing_bytes() const;
  /// Takes at most `most` bytes of missing pieces in a row; each is taken once. Nothing when all are taken.
  std::optional<Run> take_run(std::uint64_t most);
  /// Makes the pieces that nobody has completed available again. No thread may be writing.
  void release_runs();
  /// Forgets all pieces: the file begins anew. No thread may be writing.
  void restart();

  /// Writes bytes at a place. Throws as base::write_error.
  void write(std::uint64_t place, std::span<const std::byte> bytes);
  /// Records the pieces of a run up to `end` as complete, and adds those to the digest that follow its end.
  void complete(const Run& run, std::uint64_t end);

  /// The digest of the whole file; empty if it cannot be verified. REQUIRES: missing_bytes() == 0.
  std::string finish_digest();
  /// Puts the file in its place, on disk. Call once. Throws as file_write_error.
  void publish(const std::filesystem::path& target);
  void discard();

 private:
  enum class Piece : char { missing = '.', taken = 't', complete = '#' };

  bool read_record();
  void begin_anew();
  void add_to_digest();
  std::uint64_t end_of(std::size_t piece) const;

  std::filesystem::path path_;
  std::string name_, digest_name_;
  std::uint64_t bytes_;
  int descriptor_ = -1, reader_ = -1;
  mutable base::Mutex mutex_;
  std::vector<Piece> pieces_;
  base::Mutex digesting_;
  std::optional<folders::BlobDigest> digest_;
  std::size_t digested_ = 0;  // pieces
};

/// Bytes that a part of the file at `path` still lacks; all of them if there is none.
std::uint64_t missing_of_part(const std::filesystem::path& path, std::uint64_t bytes);

}  // namespace alate::hub
