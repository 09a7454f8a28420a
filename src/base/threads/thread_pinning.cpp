#include "base/threads/thread_pinning.h"

#include <atomic>

namespace alate::base {
namespace {

std::atomic<bool>& pins() {
  static std::atomic<bool> on{false};
  return on;
}

}  // namespace

std::size_t processor_of_worker(std::size_t worker, const std::vector<std::size_t>& cores) {
  return cores[(worker + 1) % cores.size()];
}

void pin_workers(bool on) { pins().store(on); }

bool workers_are_pinned() { return pins().load(); }

}  // namespace alate::base
