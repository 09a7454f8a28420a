// The pages of a cache: which are free, and more of them when they are all taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/loading/step_program.h"

namespace alate::runtime {

/// Not thread-safe.
class PageStore {
 public:
  /// At most `most` pages.
  PageStore(std::shared_ptr<const StepProgram> program, std::size_t most);

  /// Adds to `pages` until they hold so many tokens of a sequence. Throws resource_exhausted if there are no more, or
  /// no memory for them.
  void hold(std::vector<std::int32_t>& pages, std::size_t tokens);
  /// Gives back those after the first `kept`.
  void give_back(std::vector<std::int32_t>& pages, std::size_t kept = 0);

  CachePages& cache() { return cache_; }

 private:
  void grow(std::size_t wanted);

  std::shared_ptr<const StepProgram> program_;
  std::size_t most_;
  CachePages cache_;
  std::vector<std::int32_t> free_;  // the next one last
};

}  // namespace alate::runtime
