// The tokens of a text so far, as far back as the steps of sampling look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace alate::generation {

class TokenHistory {
 public:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

  /// Remembers at least the last `window` tokens, and at most twice as many unless that is kAll.
  explicit TokenHistory(std::size_t window) : window_(window) {}

  /// Makes room for so many tokens in all, so that remembering them allocates nothing.
  void reserve(std::size_t tokens);

  void add_prompt(std::span<const std::int32_t> tokens);
  void add_generated(std::int32_t token);

  /// The last tokens, at most `count` of those that are remembered, the newest last.
  std::span<const std::int32_t> last(std::size_t count) const;
  /// The same, without tokens of the prompt.
  std::span<const std::int32_t> last_generated(std::size_t count) const;
  /// How many tokens were generated, remembered or not.
  std::uint64_t generated() const { return generated_; }

 private:
  void add(std::int32_t token);

  std::size_t window_;
  std::uint64_t generated_ = 0;
  std::vector<std::int32_t> tokens_;
};

/// The window that an option states: -1 is all tokens.
inline std::size_t window_of(std::int64_t option) {
  return option < 0 ? TokenHistory::kAll : static_cast<std::size_t>(option);
}

}  // namespace alate::generation
