// Memory limits that a process inherits from its parent (ulimit, a service manager).
#pragma once

#include <cstddef>
#include <filesystem>

namespace alate::base {

/// RLIMIT_AS and RLIMIT_DATA. `memory_facts` takes them into account.
struct ProcessLimits {
  std::size_t limit_bytes = 0;  // the tighter one; 0: no limit
  std::size_t room_bytes = 0;   // the smallest remainder under either limit; meaningless without a limit
};

/// Reads the limits from `root`/proc; none if it does not state them.
ProcessLimits read_process_limits(const std::filesystem::path& root);

/// The current limits of this process.
ProcessLimits process_limits();

}  // namespace alate::base
