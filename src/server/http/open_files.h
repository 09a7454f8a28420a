// The process's limit on open files and sockets.
#pragma once

#include <cstddef>

namespace alate::server {

/// Raises the process's soft limit to `wanted` if it is lower, as far as the hard limit allows. True if the limit is at
/// least `wanted` afterwards.
bool allow_open_files(std::size_t wanted);

}  // namespace alate::server
