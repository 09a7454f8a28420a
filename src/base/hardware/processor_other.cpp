#if !defined(__x86_64__) && !(defined(__aarch64__) && defined(__linux__))

#include "base/hardware/processor.h"

namespace alate::base {

Processor read_processor() { return {}; }

}  // namespace alate::base

#endif
