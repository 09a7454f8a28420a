// The warning of texts that were cut.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace alate::app {

/// The number of texts that were cut, and the indices of the first of them.
class CutTexts {
 public:
  CutTexts() = default;
  /// As they were when `count` and `shown` were asked for.
  CutTexts(std::size_t count, std::string shown) : count_(count), shown_(std::move(shown)) {}

  std::size_t count() const { return count_; }
  const std::string& shown() const { return shown_; }
  /// `indices` are those of a part whose first text is `first`.
  void add(std::span<const std::size_t> indices, std::size_t first);
  /// Warns of them if there are any; `texts` is the number of all texts.
  void warn(std::size_t texts, std::size_t max_length) const;

 private:
  std::string sentence(std::size_t texts, std::size_t max_length) const;

  std::size_t count_ = 0;
  std::string shown_;
};

}  // namespace alate::app
