// A few threads that wait for a network.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

namespace alate::hub {

/// Calls `work` on each of `threads` threads and waits for all. The first exception requests a stop of the others and
/// is thrown; so does a stop of `outer`, which is not thrown.
void run_in_parallel(std::size_t threads, const std::stop_token& outer,
                     const std::function<void(std::stop_token)>& work);

}  // namespace alate::hub
