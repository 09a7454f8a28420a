// Zip archives in memory: stored and deflated entries, zip64, bounded against entries that inflate without end.
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
  std::size_t max_inflated_bytes = std::size_t{4} << 30;  // of all entries that are not stored
};

struct ZipEntry {
  std::string name;  // UTF-8
  bool deflated = false;
  std::uint32_t crc = 0;
  std::size_t begin = 0, end = 0;  // of its data in the archive
  std::size_t byte_count = 0;      // of its content
};

/// The entries in the order of the archive's directory. No two share bytes, names are unique, and no content is longer
/// than its data can inflate to.
/// Throws corrupt; unsupported for encrypted, split or otherwise compressed archives; resource_exhausted over a limit;
/// each with `what` (the file's name).
std::vector<ZipEntry> list_zip(std::span<const std::byte> archive, std::string_view what, const ZipLimits& limits = {});

/// Writes the content of an entry to `out`, which is entry.byte_count long, and checks its sum. Throws corrupt.
void extract_zip_entry(std::span<const std::byte> archive, const ZipEntry& entry, std::span<std::byte> out,
                       std::string_view what);

}  // namespace alate::formats
