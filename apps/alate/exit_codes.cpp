#include "exit_codes.h"

namespace alate::app {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::internal: return 1;
    case ErrorCode::invalid_argument: return 2;
    case ErrorCode::unsupported: return 3;
    case ErrorCode::not_found: return 4;
    case ErrorCode::resource_exhausted: return 5;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::unauthenticated: return 6;
    case ErrorCode::corrupt: return 7;
    case ErrorCode::cancelled: return kInterrupted;
  }
  return 1;
}

}  // namespace alate::app
