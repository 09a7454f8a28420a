// How many files and sockets the process may have open.
#pragma once

#include <cstddef>

namespace alate::server {

/// Raises the process's soft limit to `wanted` where it is lower, as far as the hard limit allows. True when the limit
/// is at least `wanted` now.
bool allow_open_files(std::size_t wanted);

}  // namespace alate::server
