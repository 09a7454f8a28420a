// Version and build information of this program.
#pragma once

#include <string>
#include <string_view>

namespace alate::app {

std::string_view program_version();   // "0.1.0"
std::string_view program_compiler();  // "GNU 12.2.0"
std::string_view program_target();    // "Linux x86_64"
std::string_view program_build();     // "Release"
/// Of --version: a line with the version, then one for each model that comes with the program.
std::string version_text();

}  // namespace alate::app
