#include "base/os/large_pages.h"

#include <sys/mman.h>

namespace alate::base {

void prefer_large_pages(void* data, std::size_t bytes) {
  // Only advice: a kernel without large pages rejects it, and the memory remains usable.
  (void)::madvise(data, bytes, MADV_HUGEPAGE);
}

}  // namespace alate::base
