#include "base/files/least_used.h"

#include <algorithm>
#include <system_error>

namespace alate::base {

void delete_least_used(std::vector<CacheEntry> entries, std::uintmax_t most_bytes) {
  std::uintmax_t bytes = 0;
  for (const CacheEntry& entry : entries) bytes += entry.bytes;
  std::ranges::sort(entries, {}, &CacheEntry::used);
  for (const CacheEntry& entry : entries) {
    if (bytes <= most_bytes) return;
    std::error_code ignored;
    std::filesystem::remove_all(entry.path, ignored);
    bytes -= entry.bytes;
  }
}

}  // namespace alate::base
