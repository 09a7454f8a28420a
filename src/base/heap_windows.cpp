#include <windows.h>

#include "base/heap.h"

namespace alate::base {

// Windows' heap gives large blocks back by itself.
void keep_little_free_memory() {}

void return_free_memory() { (void)::HeapCompact(::GetProcessHeap(), 0); }

}  // namespace alate::base
