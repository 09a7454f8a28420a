#include <sched.h>

#include "base/hardware/processor_list.h"
#include "base/threads/thread_pinning.h"

namespace alate::base {

std::vector<std::size_t> processors_of_cores() {
  return one_of_each_core("/", allowed_processors("/", online_processors("/")));
}

bool pin_this_thread(std::size_t processor) {
  if (processor >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;  // 0: the calling thread
}

}  // namespace alate::base
