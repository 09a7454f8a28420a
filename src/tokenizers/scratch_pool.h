// Scratch memory of a model, lent to one call at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "tokenizers/models/model.h"

namespace alate::tokenizers {

/// Thread-safe and without locks. A thread mostly gets what it had before, with the words it has seen.
class ScratchPool {
 public:
  class Lease {
   public:
    Lease(ScratchPool& pool, std::unique_ptr<Model::Scratch> scratch, WorkBudget& budget)
        : pool_(pool), scratch_(std::move(scratch)) {
      scratch_->budget = &budget;
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { pool_.give_back(std::move(scratch_)); }

    Model::Scratch& operator*() const { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<Model::Scratch> scratch_;
  };

  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;
  ~ScratchPool();

  /// `model` is the same in all calls; `budget` outlives the lease.
  Lease borrow(const Model& model, WorkBudget& budget);

 private:
  void give_back(std::unique_ptr<Model::Scratch> scratch);

  static constexpr std::size_t kKept = 64;  // idle ones beyond it are freed

  std::array<std::atomic<Model::Scratch*>, kKept> idle_{};
};

}  // namespace alate::tokenizers
