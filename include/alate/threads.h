// The process-wide thread pool, shared by all models.
#pragma once

#include <cstddef>

namespace alate {

struct ThreadSettings {
  std::size_t threads = 0;  // including the calling thread; 0: one for each core that the process may use
  bool pin = false;         // pins each pool thread to its own core; calling threads are not pinned
};

/// Configures the pool; call it before the first model is loaded. The default is one thread per core: hyperthreads of
/// one core count once, the process's affinity mask is respected, and a cgroup CPU quota is rounded up to whole cores.
/// Thread-safe. Throws invalid_argument for more than 4096 threads, internal if the pool already runs with another
/// number.
void configure_threads(const ThreadSettings& settings);

}  // namespace alate
