// Facts that the operating system reports about this process.
#pragma once

#include <cstdint>
#include <optional>

namespace alate::server {

struct ProcessFacts {
  double cpu_seconds = 0;  // user and system, all threads
  std::optional<std::uint64_t> resident_bytes;
  std::optional<double> start_time;  // seconds since 1970
  std::optional<std::uint64_t> open_files;
  std::uint64_t most_open_files = 0;
};

/// Facts that are unavailable, for example without /proc, are left out.
ProcessFacts process_facts();

}  // namespace alate::server
