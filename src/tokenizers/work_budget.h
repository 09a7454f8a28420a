// What the tokenizing of one text may take.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/threads/cancellation.h"

namespace alate::tokenizers {

/// Limits in proportion to the text, since a tokenizer's files are a stranger's. Belongs to one thread at a time.
class WorkBudget {
 public:
  using Time = std::chrono::steady_clock::duration;

  WorkBudget(const base::Cancellation& cancellation, std::size_t text_bytes)
      : cancellation_(cancellation),
        max_bytes_(std::min<std::size_t>(
            std::max(kLongTextGrowth * text_bytes, std::min(kGrowth * text_bytes + kSpareBytes, kMaxGrownBytes)),
            std::numeric_limits<std::uint32_t>::max())),
        search_time_left_(kSearchTime + kMoreSearchTime * text_bytes) {}

  /// Throws cancelled once the caller wants no result any more.
  void check() const { cancellation_.check(); }
  /// The same for a loop, of which it is told the steps: it looks only now and then.
  void count_steps(std::size_t steps) {
    steps_ += steps;
    if (steps_ < kStepsBetweenChecks) return;
    steps_ = 0;
    check();
  }

  /// The most bytes that the text may have once it is normalized.
  std::size_t max_bytes() const { return max_bytes_; }
  /// Throws resource_exhausted for a text that would become longer.
  void check_bytes(std::size_t bytes) const {
    if (bytes > max_bytes_) throw_too_long(bytes);
  }
  /// Takes from the time for searches by regular expressions; false once it is used up.
  bool spend_search_time(Time time) {
    search_time_left_ -= time;
    return search_time_left_ >= Time::zero();
  }

 private:
  [[noreturn]] void throw_too_long(std::size_t bytes) const;

  static constexpr std::size_t kGrowth = 16;  // the longest decomposition of a code point has 11 times its bytes
  static constexpr std::size_t kSpareBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxGrownBytes = std::size_t{1} << 27;
  static constexpr std::size_t kLongTextGrowth = 4;  // a marked space has 3 bytes
  static constexpr std::size_t kStepsBetweenChecks = std::size_t{1} << 20;
  static constexpr std::chrono::milliseconds kSearchTime{5'000};
  static constexpr std::chrono::microseconds kMoreSearchTime{1};  // for each byte

  base::Cancellation cancellation_;
  std::size_t max_bytes_;
  std::size_t steps_ = 0;
  Time search_time_left_;
};

}  // namespace alate::tokenizers
