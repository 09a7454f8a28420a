// The program's exit code for each error code.
#pragma once

#include <span>
#include <string_view>

#include "alate/error.h"

namespace alate::app {

inline constexpr int kDone = 0;
inline constexpr int kInterrupted = 130;

/// 1 internal; 2 usage or bad input; 3 unsupported; 4 not found; 5 out of memory or too large; 6 unavailable; 7 corrupt
/// file; 130 interrupted.
int exit_code(ErrorCode code);

struct ExitCodeMeaning {
  int code;
  std::string_view sentence;
};

/// Every exit code with its meaning, for the help.
std::span<const ExitCodeMeaning> exit_code_meanings();

}  // namespace alate::app
