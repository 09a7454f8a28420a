#include "base/hardware/matrix_tiles.h"

#if defined(__x86_64__)

#include <sys/syscall.h>
#include <unistd.h>

namespace alate::base {

bool request_matrix_tiles() {
  // Linux, Documentation/arch/x86/xstate.rst; the numbers are those of <asm/prctl.h>, whose older versions lack them.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace alate::base

#else

namespace alate::base {

bool request_matrix_tiles() { return false; }

}  // namespace alate::base

#endif
