#include "base/hardware/cpu_facts.h"

namespace alate::base {

CpuFacts read_cpu_facts() { return read_cpu_facts("/"); }

MemoryFacts memory_facts() { return read_memory_facts("/"); }

}  // namespace alate::base
