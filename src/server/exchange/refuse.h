// Refusing a request from a route.
#pragma once

#include <string>

#include "server/exchange/family.h"

namespace alate::server {

/// Throws a RequestError. `parameter` is the offending field, if any.
[[noreturn]] void refuse(Problem::Kind kind, std::string message, std::string parameter = "");

}  // namespace alate::server
