// UTF-8 validation.
#pragma once

#include <cstddef>
#include <string_view>

namespace alate::formats {

/// Length of the longest well-formed UTF-8 prefix (Unicode 15, table 3-7); text.size() if all of it is valid.
std::size_t valid_utf8_prefix(std::string_view text);

}  // namespace alate::formats
