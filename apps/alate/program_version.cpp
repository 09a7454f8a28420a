#include "program_version.h"

// The macros come from CMakeLists.txt beside this file.
namespace alate::app {

std::string_view program_version() { return ALATE_VERSION; }
std::string_view program_compiler() { return ALATE_COMPILER; }
std::string_view program_target() { return ALATE_TARGET; }
std::string_view program_build() { return ALATE_BUILD; }
std::string_view program_instruction_sets() { return ALATE_INSTRUCTION_SETS; }

}  // namespace alate::app
