#include <windows.h>

#include "base/os/heap.h"

namespace alate::base {

// The Windows heap returns large blocks by itself.
void limit_retained_heap() {}

void return_free_memory() { (void)::HeapCompact(::GetProcessHeap(), 0); }

void discard_pages(std::span<char> /*block*/) {}

FreeMemoryReturn::FreeMemoryReturn() : FreeMemoryReturn(0) {}
void FreeMemoryReturn::tick() {}

}  // namespace alate::base
