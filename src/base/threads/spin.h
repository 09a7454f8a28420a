// One step of a busy wait.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace alate::base {

/// Tells the processor that this thread waits for another one's write: saves power and gives the core's other
/// hyperthread its turn.
inline void relax_processor() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace alate::base
