// One step of a busy wait.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace alate::base {

/// Tells the processor that this thread is spinning on another thread's write: saves power and yields to the core's
/// other hyperthread.
inline void relax_processor() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace alate::base
