// Limits that a process has from whoever started it (ulimit, a service manager).
#pragma once

#include <cstddef>
#include <filesystem>

namespace alate::base {

/// RLIMIT_AS and RLIMIT_DATA. `memory_facts` takes them into account.
struct ProcessLimits {
  std::size_t limit_bytes = 0;  // the tighter one; 0: there is none
  std::size_t room_bytes = 0;   // the least that one of them leaves; means nothing without a limit
};

/// The limits as `root`/proc tells them; none where it does not.
ProcessLimits read_process_limits(const std::filesystem::path& root);

/// Of this process, now.
ProcessLimits process_limits();

}  // namespace alate::base
