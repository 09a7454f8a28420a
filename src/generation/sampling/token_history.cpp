#include "generation/sampling/token_history.h"

#include <algorithm>

namespace alate::generation {

void TokenHistory::reserve(std::size_t tokens) { tokens_.reserve(window_ > tokens / 2 ? tokens : 2 * window_); }

void TokenHistory::add(std::int32_t token) {
  if (window_ == 0) return;
  if (tokens_.size() / 2 >= window_)
    tokens_.erase(tokens_.begin(), tokens_.end() - static_cast<std::ptrdiff_t>(window_));
  tokens_.push_back(token);
}

void TokenHistory::add_prompt(std::span<const std::int32_t> tokens) {
  for (const std::int32_t token : tokens) add(token);
}

void TokenHistory::add_generated(std::int32_t token) {
  add(token);
  ++generated_;
}

std::span<const std::int32_t> TokenHistory::last(std::size_t count) const {
  return std::span(tokens_).last(std::min(count, tokens_.size()));
}

std::span<const std::int32_t> TokenHistory::last_generated(std::size_t count) const {
  return last(static_cast<std::size_t>(std::min<std::uint64_t>(count, generated_)));
}

}  // namespace alate::generation
