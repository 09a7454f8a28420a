// Names of answers and tool calls.
#pragma once

#include <string>
#include <string_view>

namespace alate::server {

/// The prefix and 24 random letters and digits: unique, not secret. Thread-safe.
std::string random_id(std::string_view prefix);

}  // namespace alate::server
