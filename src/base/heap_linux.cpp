#include "base/heap.h"

#include <malloc.h>

namespace alate::base {
namespace {

// Large enough for what one request takes, smaller than most weights.
constexpr int kLargeBlock = 1 << 20;

}  // namespace

void keep_little_free_memory() {
  // Setting either stops glibc from raising both by itself.
  (void)::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  (void)::mallopt(M_TRIM_THRESHOLD, kLargeBlock);
}

void return_free_memory() { (void)::malloc_trim(0); }

}  // namespace alate::base
