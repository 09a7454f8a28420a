// Permission to use AMX tile registers, whose state is so large that an operating system enables it only on request.
#pragma once

namespace alate::base {

/// Asks the operating system to save this process's tile registers; all its threads may use them from then on. False if
/// it refuses or does not support AMX. Thread-safe.
bool request_matrix_tiles();

}  // namespace alate::base
