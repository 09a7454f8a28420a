// How routes say no.
#pragma once

#include <string>

#include "server/family.h"

namespace alate::server {

/// Throws a RequestError. `parameter` is the field that is wrong, where one is.
[[noreturn]] void refuse(Problem::Kind kind, std::string message, std::string parameter = "");

}  // namespace alate::server
