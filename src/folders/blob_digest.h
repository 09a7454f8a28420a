// The digests by which a hub names files: SHA-256 for large ones, git's SHA-1 of a blob for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/sha1.h"
#include "base/sha256.h"

namespace alate::folders {

/// Computes one of a file of a known length. One thread at a time.
class BlobDigest {
 public:
  /// By the form of `expected`: 64 lower-case hexadecimal digits, or 40. Nothing for other text: the file cannot be
  /// verified.
  static std::optional<BlobDigest> create(std::string_view expected, std::uint64_t bytes);

  void add(std::span<const std::byte> bytes);
  /// The digest of all bytes so far; call it once.
  std::string finish();

 private:
  explicit BlobDigest(std::variant<base::Sha256, base::Sha1> sum) : sum_(sum) {}

  std::variant<base::Sha256, base::Sha1> sum_;
};

/// Whether the text has the form of such a digest.
bool is_blob_digest(std::string_view text);

/// The digest of a file, of the kind of `expected`. REQUIRES: is_blob_digest(expected). Throws as MappedFile::open.
std::string digest_of_file(const std::filesystem::path& file, std::string_view expected);

}  // namespace alate::folders
