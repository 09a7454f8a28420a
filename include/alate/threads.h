// The threads that all models of the process compute on: one pool, which they share.
#pragma once

#include <cstddef>

namespace alate {

struct ThreadSettings {
  std::size_t threads = 0;  // with the one that calls; 0: one for each core that the process may use
  bool pin = false;         // each thread of the pool stays on a core of its own; the calling ones go where they went
};

/// Sets the pool up, before the first model is loaded. Without it there is a thread for each core: hyperthreads of one
/// core count once, the process's affinity counts, and a control group's quota of processor time is rounded up to whole
/// cores. Thread-safe. Throws invalid_argument for more than 4096 threads, internal where the pool runs already with
/// another number.
void configure_threads(const ThreadSettings& settings);

}  // namespace alate
