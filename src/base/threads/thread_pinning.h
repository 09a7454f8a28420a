// Pinning of threads to cores.
#pragma once

#include <cstddef>
#include <vector>

namespace alate::base {

/// One logical processor of each core that this process may use, sorted; empty if the system does not say.
std::vector<std::size_t> processors_of_cores();

/// Pins the calling thread to a logical processor. False if the system refuses.
bool pin_this_thread(std::size_t processor);

/// The processor for worker `worker` of a pool, counted from 0. The first core is left to threads that call the pool.
/// With more workers than cores, cores are assigned round-robin. `cores` must not be empty.
std::size_t processor_of_worker(std::size_t worker, const std::vector<std::size_t>& cores);

/// Sets whether workers of pools created from now on are pinned to a core each. Off by default. Thread-safe.
void pin_workers(bool on);
bool workers_are_pinned();

}  // namespace alate::base
