#include "alate/error.h"

#include <utility>

namespace alate {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::resource_exhausted: return "resource_exhausted";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::deadline_exceeded: return "deadline_exceeded";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::unauthenticated: return "unauthenticated";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

Error::Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) { render(); }

Error Error::with_context(std::string_view context) const {
  Error result = *this;
  result.message_ = std::string(context) + ": " + message_;
  result.render();
  return result;
}

Error Error::with_cause(const std::exception& cause) const {
  Error result = *this;
  result.causes_.emplace_back(cause.what());
  result.render();
  return result;
}

void Error::render() {
  what_ = message_;
  for (const std::string& cause : causes_) what_ += " (because: " + cause + ")";
}

}  // namespace alate
