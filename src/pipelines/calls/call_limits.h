// What one call of a task may read, compute and answer. It is counted before it is made.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

namespace alate::pipelines {

/// A server that answers many clients sets smaller ones.
struct CallLimits {
  std::size_t read_bytes = std::size_t{1} << 32;    // of texts, each counted as often as it is tokenized
  std::size_t row_tokens = std::size_t{1} << 28;    // of all rows; windows repeat tokens
  std::size_t answer_bytes = std::size_t{1} << 30;  // as AnswerBudget counts
  // Rows are made and computed in pieces: of so many bytes of texts, with so many numbers of the model's. A longer text
  // or row is a piece by itself.
  std::size_t piece_bytes = std::size_t{512} << 10, piece_numbers = std::size_t{4} << 20;
};

/// Of each list that a call has besides its texts: labels, choices, examples. Schemas of the server's bodies state it
/// too. A list that is longer is a mistake, and no model reads it.
inline constexpr std::size_t kMostListed = 4096;

/// Throws invalid_argument for a list with more than kMostListed entries; `what` names it: "labels".
void require_short_list(std::size_t entries, std::string_view what);

/// Throws resource_exhausted if a call would tokenize more than CallLimits::read_bytes. `each` says what is read with
/// each text: "the query". Numbers of bytes are no integers, since their products may be too large for one.
void require_readable(const CallLimits& limits, double bytes, std::string_view each);

/// How many windows with room for so many tokens, of which each shares `stride` with the one before, a text has.
/// REQUIRES: stride < room.
std::size_t window_count(std::size_t tokens, std::size_t room, std::size_t stride);

/// The tokens of a call's rows. Thread-safe.
class TokenBudget {
 public:
  explicit TokenBudget(std::size_t most = CallLimits().row_tokens) : most_(most) {}

  /// Counts tokens of rows that are made next. Throws resource_exhausted if there are too many.
  void take(std::size_t tokens);

 private:
  std::atomic<std::size_t> taken_ = 0;
  const std::size_t most_;
};

/// The bytes of an answer. Not thread-safe.
class AnswerBudget {
 public:
  /// What an item of an answer takes besides its texts: its numbers, and the names of its members in JSON.
  static constexpr std::size_t kItemBytes = 128;

  explicit AnswerBudget(std::size_t most = CallLimits().answer_bytes) : most_(most) {}

  /// Counts an item whose texts and labels have so many bytes, before these are copied. Throws resource_exhausted if
  /// the answer would become too large.
  void add(std::size_t text_bytes);
  std::size_t taken() const { return taken_; }

 private:
  std::size_t taken_ = 0, most_;
};

}  // namespace alate::pipelines
