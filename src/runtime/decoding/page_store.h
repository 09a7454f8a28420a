// The pages of a cache: who reads each, which are free, and more of them when they are all taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/loading/step_program.h"

namespace alate::runtime {

/// Counts the readers of each page: sequences, and the tree of prefixes, which keeps pages for sequences to come. A
/// page that only the tree reads is idle. Not thread-safe.
class PageStore {
 public:
  /// At most `most` pages. The cache takes memory as they are taken.
  PageStore(std::shared_ptr<const StepProgram> program, std::size_t most);

  /// A page that nobody read, with one reader. Throws resource_exhausted if all `most` are taken, or if there is no
  /// memory for more; then `most` is what there are.
  std::int32_t take();
  void add_reader(std::int32_t page);
  /// The last one frees the page.
  void remove_reader(std::int32_t page);
  /// Makes the tree a reader, or no reader any more.
  void keep(std::int32_t page);
  void drop(std::int32_t page);
  bool is_idle(std::int32_t page) const { return kept_[index(page)] && readers_[index(page)] == 1; }

  /// Copies the first `rows` tokens of a page to another.
  void copy(std::int32_t from, std::int32_t to, std::size_t rows);

  std::size_t most() const { return most_; }
  std::size_t allocated() const { return readers_.size(); }  // that take memory
  std::size_t unused() const { return free_.size(); }        // of these
  std::size_t idle() const { return idle_; }
  /// Pages that can be taken, if the idle ones are dropped before.
  std::size_t available() const { return most_ - allocated() + unused() + idle_; }

  CachePages& cache() { return cache_; }

 private:
  static std::size_t index(std::int32_t page) { return static_cast<std::size_t>(page); }
  void grow();
  void change_readers(std::int32_t page, std::int32_t by, bool kept);

  std::shared_ptr<const StepProgram> program_;
  std::size_t most_;
  std::size_t idle_ = 0;
  CachePages cache_;
  std::vector<std::int32_t> readers_;  // of each page
  std::vector<bool> kept_;             // whether the tree is one of them
  std::vector<std::int32_t> free_;     // the next one last
};

}  // namespace alate::runtime
