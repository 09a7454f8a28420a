// The platform that the program was built for.
#pragma once

#include <string_view>

namespace alate::base {

/// Operating system and processor family: "linux-x86_64", "linux-aarch64", "windows-x86_64".
std::string_view platform();

}  // namespace alate::base
