#include "base/os/platform.h"

namespace alate::base {

std::string_view platform() {
#if defined(__x86_64__)
  return "windows-x86_64";
#else
  return "windows-other";
#endif
}

}  // namespace alate::base
