#include "base/os/heap.h"

#include <algorithm>

namespace alate::base {
namespace {

// A continuing burst gets its memory back at the cost of page faults, so memory is returned only every few seconds.
constexpr unsigned kTicks = 3;

}  // namespace

bool FreeMemoryReturn::is_due(std::size_t spare_bytes) {
  kept_bytes_ = std::min(kept_bytes_, spare_bytes);
  ticks_ = spare_bytes - kept_bytes_ > kMinBytesToReturn ? ticks_ + 1 : 0;
  if (ticks_ < kTicks) return false;
  ticks_ = 0;
  kept_bytes_ = spare_bytes;
  return true;
}

}  // namespace alate::base
