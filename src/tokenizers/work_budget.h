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
        max_steps_(kSpareSteps + kStepsPerByte * text_bytes),
        max_token_bytes_(kSpareTokenBytes + kTokenGrowth * text_bytes),
        search_time_left_(kSearchTime + kMoreSearchTime * text_bytes) {}

  /// Throws cancelled once the caller wants no result any more.
  void check() const { cancellation_.check(); }
  /// Counts the steps of a loop: one is about a byte that is read, or a place of a table. Throws resource_exhausted
  /// beyond max_steps(), and cancelled, for which it looks now and then.
  void count_steps(std::size_t steps) {
    steps_ += steps;
    if (steps_ >= next_look_) look();
  }
  std::size_t steps() const { return steps_; }
  std::size_t max_steps() const { return max_steps_; }

  /// The most bytes that the text may have once it is normalized.
  std::size_t max_bytes() const { return max_bytes_; }
  /// Throws resource_exhausted for a text that would become longer.
  void check_bytes(std::size_t bytes) const {
    if (bytes > max_bytes_) throw_too_long(bytes);
  }
  /// Counts the text of a token that is listed. Throws resource_exhausted when all together are too long.
  void count_token_bytes(std::size_t bytes) {
    token_bytes_ += bytes;
    if (token_bytes_ > max_token_bytes_) throw_long_tokens();
  }
  /// Takes from the time for searches by regular expressions; false once it is used up.
  bool spend_search_time(Time time) {
    search_time_left_ -= time;
    return search_time_left_ >= Time::zero();
  }

  static constexpr std::size_t kStepsPerByte = 1000;
  static constexpr std::size_t kSpareSteps = std::size_t{1} << 22;

 private:
  void look();
  [[noreturn]] void throw_too_long(std::size_t bytes) const;
  [[noreturn]] void throw_long_tokens() const;

  static constexpr std::size_t kGrowth = 16;  // the longest decomposition of a code point has 11 times its bytes
  static constexpr std::size_t kSpareBytes = std::size_t{1} << 16;
  static constexpr std::size_t kMaxGrownBytes = std::size_t{1} << 27;
  static constexpr std::size_t kLongTextGrowth = 4;  // a marked space has 3 bytes
  static constexpr std::size_t kTokenGrowth = 64;    // an unknown token, or six characters for each byte
  static constexpr std::size_t kSpareTokenBytes = std::size_t{1} << 20;
  static constexpr std::size_t kStepsBetweenLooks = std::size_t{1} << 20;
  static constexpr std::chrono::milliseconds kSearchTime{5'000};
  static constexpr std::chrono::microseconds kMoreSearchTime{1};  // for each byte

  base::Cancellation cancellation_;
  std::size_t max_bytes_;
  std::size_t max_steps_;
  std::size_t max_token_bytes_;
  std::size_t steps_ = 0;
  std::size_t next_look_ = kStepsBetweenLooks;
  std::size_t token_bytes_ = 0;
  Time search_time_left_;
};

/// The way of a loop through a text: each byte is a step of the budget, counted a block at a time, so that it costs the
/// loop a comparison. Texts shorter than a block are not counted.
class Progress {
 public:
  explicit Progress(WorkBudget& budget) : budget_(budget) {}

  /// All before `at`, which never decreases, is done.
  void reached(std::size_t at) {
    if (at >= next_) count(at);
  }

 private:
  void count(std::size_t at);

  static constexpr std::size_t kBlock = std::size_t{1} << 16;

  WorkBudget& budget_;
  std::size_t counted_ = 0;
  std::size_t next_ = kBlock;
};

}  // namespace alate::tokenizers
