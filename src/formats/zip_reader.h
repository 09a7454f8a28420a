// Reading of in-memory zip archives: stored and deflated entries, zip64, with limits against zip bombs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alate::formats {

struct ZipLimits {
  std::size_t max_entries = 65536;
  std::size_t max_inflated_bytes = std::size_t{4} << 30;  // total of all deflated entries
};

struct ZipEntry {
  std::string name;  // UTF-8
  bool deflated = false;
  std::uint32_t crc = 0;
  std::size_t begin = 0, end = 0;  // its data's range in the archive
  std::size_t byte_count = 0;      // content size
};

/// The entries in the order of the archive's directory. Entries share no bytes, names are unique, and no content is
/// longer than its data could inflate to. Throws corrupt; unsupported for archives that are encrypted, split or
/// compressed by another method; resource_exhausted over a limit; each with `what` (the file's name).
std::vector<ZipEntry> list_zip(std::span<const std::byte> archive, std::string_view what, const ZipLimits& limits = {});

/// Writes an entry's content to `out`, of entry.byte_count bytes, and verifies its checksum. Throws corrupt.
void extract_zip_entry(std::span<const std::byte> archive, const ZipEntry& entry, std::span<std::byte> out,
                       std::string_view what);

}  // namespace alate::formats
