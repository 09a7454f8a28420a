#include "exit_codes.h"

#include <array>

namespace alate::app {
namespace {

constexpr std::array<ExitCodeMeaning, 9> kMeanings = {{
    {kDone, "done"},
    {1, "an error in this program"},
    {2, "wrong usage, or input that it cannot take"},
    {3, "not supported; the message ends with the name of what is not"},
    {4, "not found: a model, a file, a backend's name"},
    {5, "out of memory or disk space, or too large"},
    {6, "not available now: a backend, the network, a server"},
    {7, "a damaged file"},
    {kInterrupted, "interrupted"},
}};

}  // namespace

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

std::span<const ExitCodeMeaning> exit_code_meanings() { return kMeanings; }

}  // namespace alate::app
