// Permission to use the tile registers of AMX, whose state is so large that an operating system gives it only to
// processes that ask.
#pragma once

namespace alate::base {

/// Asks the operating system to save this process's tile registers; all its threads may use them from then on. False
/// where it refuses or knows no such registers. Thread-safe.
bool request_matrix_tiles();

}  // namespace alate::base
