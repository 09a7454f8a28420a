// Threads that stay on one core each.
#pragma once

#include <cstddef>
#include <vector>

namespace alate::base {

/// One logical processor of each core that this process may use, sorted; empty where the system does not say.
std::vector<std::size_t> processors_of_cores();

/// Keeps the calling thread on a logical processor. False where the system refuses.
bool pin_this_thread(std::size_t processor);

/// The processor for worker `worker` of a pool, counted from 0, where threads that call the pool shall find the first
/// core free. With more workers than cores they take turns. `cores` must not be empty.
std::size_t processor_of_worker(std::size_t worker, const std::vector<std::size_t>& cores);

/// Whether workers of pools that are made from now on stay on a core each. Off unless called. Thread-safe.
void pin_workers(bool on);
bool workers_are_pinned();

}  // namespace alate::base
