// Whether bytes are UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace alate::formats {

/// How many of the first bytes are well-formed UTF-8 (Unicode 15, table 3-7): text.size() when all are.
std::size_t valid_utf8_prefix(std::string_view text);

}  // namespace alate::formats
