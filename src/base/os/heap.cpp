#include "base/os/heap.h"

#include <algorithm>

namespace alate::base {
namespace {

// A burst that goes on finds its memory again at the cost of page faults: it is taken away every few seconds at most.
constexpr unsigned kTicks = 3;

}  // namespace

bool FreeMemoryReturn::is_due(std::size_t spare_bytes) {
  kept_bytes_ = std::min(kept_bytes_, spare_bytes);
  ticks_ = spare_bytes - kept_bytes_ > kWorthReturning ? ticks_ + 1 : 0;
  if (ticks_ < kTicks) return false;
  ticks_ = 0;
  kept_bytes_ = spare_bytes;
  return true;
}

}  // namespace alate::base
