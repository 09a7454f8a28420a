#include "base/os/large_pages.h"

#include <sys/mman.h>

namespace alate::base {

void prefer_large_pages(void* data, std::size_t bytes) {
  // Advice: a kernel without large pages refuses it, and the memory is as good as before.
  (void)::madvise(data, bytes, MADV_HUGEPAGE);
}

}  // namespace alate::base
