// The program's exit code for each error code.
#pragma once

#include "alate/error.h"

namespace alate::app {

inline constexpr int kDone = 0;
inline constexpr int kInterrupted = 130;

/// 1 internal; 2 usage or bad input; 3 unsupported; 4 not found; 5 out of memory or too large; 6 unavailable; 7 corrupt
/// file; 130 interrupted.
int exit_code(ErrorCode code);

}  // namespace alate::app
