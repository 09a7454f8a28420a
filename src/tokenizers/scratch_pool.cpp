#include "tokenizers/scratch_pool.h"

#include <functional>
#include <thread>

namespace alate::tokenizers {
namespace {

std::size_t place_of_thread() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }

}  // namespace

ScratchPool::~ScratchPool() {
  for (std::atomic<Model::Scratch*>& idle : idle_) delete idle.load();
}

ScratchPool::Lease ScratchPool::borrow(const Model& model, WorkBudget& budget) {
  const std::size_t place = place_of_thread();
  for (std::size_t i = 0; i < kKept; ++i) {
    std::atomic<Model::Scratch*>& idle = idle_[(place + i) % kKept];
    if (idle.load(std::memory_order_relaxed) == nullptr) continue;
    if (Model::Scratch* taken = idle.exchange(nullptr, std::memory_order_acquire))
      return {*this, std::unique_ptr<Model::Scratch>(taken), budget};
  }
  return {*this, model.make_scratch(), budget};
}

void ScratchPool::give_back(std::unique_ptr<Model::Scratch> scratch) {
  scratch->trim();
  const std::size_t place = place_of_thread();
  for (std::size_t i = 0; i < kKept; ++i) {
    Model::Scratch* none = nullptr;
    if (idle_[(place + i) % kKept].compare_exchange_strong(none, scratch.get(), std::memory_order_release,
                                                           std::memory_order_relaxed)) {
      scratch.release();
      return;
    }
  }
}

}  // namespace alate::tokenizers
