#include "program_version.h"

#include "folders/builtin_models.h"

// The macros come from CMakeLists.txt beside this file.
namespace alate::app {

std::string_view program_version() { return ALATE_VERSION; }
std::string_view program_compiler() { return ALATE_COMPILER; }
std::string_view program_target() { return ALATE_TARGET; }
std::string_view program_build() { return ALATE_BUILD; }

std::string version_text() {
  std::string text = "alate " + std::string(program_version()) + "\n";
  for (const folders::BuiltinCredit& credit : folders::kBuiltinCredits) {
    text += credit.reference;
    text += ": ";
    text += credit.made_by;
    text += ", ";
    text += credit.licence;
    text += "\n";
  }
  return text;
}

}  // namespace alate::app
