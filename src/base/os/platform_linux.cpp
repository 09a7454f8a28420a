#include "base/os/platform.h"

namespace alate::base {

std::string_view platform() {
#if defined(__x86_64__)
  return "linux-x86_64";
#elif defined(__aarch64__)
  return "linux-aarch64";
#else
  return "linux-other";
#endif
}

}  // namespace alate::base
