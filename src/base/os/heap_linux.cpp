#include "base/os/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace alate::base {
namespace {

// Larger than the allocations of one request, smaller than most weights.
constexpr int kLargeBlock = 1 << 20;

// Anonymous memory: the heap and stacks. proc(5): /proc/self/statm has pages: size, resident, shared, …
std::size_t own_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0, resident = 0, shared = 0;
  if (!(file >> size >> resident >> shared)) return 0;
  return (resident - std::min(shared, resident)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Unused heap within that. Other memory such as stacks is included, but stays constant.
std::size_t spare_bytes(std::size_t own) {
  const struct mallinfo2 heap = ::mallinfo2();
  return own - std::min(own, heap.uordblks + heap.hblkhd);
}

}  // namespace

FreeMemoryReturn::FreeMemoryReturn() : kept_bytes_(spare_bytes(own_bytes())), least_bytes_(own_bytes()) {}

void limit_retained_heap() {
  // Setting either stops glibc from raising both dynamically.
  (void)::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  (void)::mallopt(M_TRIM_THRESHOLD, kLargeBlock);
}

void return_free_memory() { (void)::malloc_trim(0); }

void discard_pages(std::span<char> block) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* begin = block.data();
  std::size_t bytes = block.size();
  if (std::align(page, page, begin, bytes) == nullptr) return;
  (void)::madvise(begin, bytes - bytes % page, MADV_DONTNEED);  // on failure the pages merely stay
}

void FreeMemoryReturn::tick() {
  const std::size_t own = own_bytes();
  least_bytes_ = std::min(least_bytes_, own);
  // Counting used heap memory takes longer than asking the system for the sum.
  if (own - least_bytes_ <= kMinBytesToReturn || !is_due(spare_bytes(own))) return;
  return_free_memory();
  kept_bytes_ = spare_bytes(own_bytes());
}

}  // namespace alate::base
