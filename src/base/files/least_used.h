// Keeping a cache on disk below a size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace alate::base {

/// A file or a folder of a cache.
struct CacheEntry {
  std::filesystem::path path;
  std::filesystem::file_time_type used;  // last
  std::uintmax_t bytes = 0;
};

/// Deletes the least recently used entries until those that are left have at most `most_bytes`. An entry that cannot be
/// deleted counts as if it were.
void delete_least_used(std::vector<CacheEntry> entries, std::uintmax_t most_bytes);

}  // namespace alate::base
