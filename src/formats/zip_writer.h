// Writing of zip archives of stored entries, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace alate::formats {

/// Equal entries give equal bytes, since all are dated 1980-01-01. Not thread-safe.
class ZipWriter {
 public:
  /// Throws resource_exhausted when the archive would exceed 4 GiB, invalid_argument for a name over 65,535 bytes.
  void add(std::string_view name, std::span<const std::byte> content);
  /// The archive; the writer is empty afterwards.
  std::vector<std::byte> finish();

 private:
  std::vector<std::byte> out_;
  std::vector<std::byte> directory_;
  std::uint16_t entries_ = 0;
};

}  // namespace alate::formats
