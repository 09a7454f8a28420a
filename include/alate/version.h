// Which Alate this is.
#pragma once

#include <string_view>

namespace alate {

/// Of the library: "0.1.0".
std::string_view version();

}  // namespace alate
