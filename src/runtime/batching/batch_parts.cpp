#include "runtime/batching/batch_parts.h"

#include <algorithm>
#include <numeric>

namespace alate::runtime {
namespace {

// Below this the weights are read too often for the work done with them.
constexpr std::size_t kFewestTokens = 48;
// The largest share of time that threads may idle while waiting for others.
constexpr double kMostIdle = 0.15;
// Padding that is accepted in a part before it is split: an extra run costs about as much.
constexpr std::size_t kPaddingForNothing = 256;

// The time, in tokens, at which the last of `workers` finishes if each takes the next part as soon as it is free.
std::size_t time_of(const std::vector<BatchPart>& parts, std::size_t workers) {
  std::vector<std::size_t> busy_until(workers, 0);
  for (const BatchPart& part : parts)
    *std::min_element(busy_until.begin(), busy_until.end()) += part.last_token - part.first_token;
  return *std::max_element(busy_until.begin(), busy_until.end());
}

}  // namespace

std::vector<BatchPart> split_batch(std::span<const std::int32_t> lengths, std::size_t workers,
                                   std::size_t most_tokens) {
  const auto total =
      std::accumulate(lengths.begin(), lengths.end(), std::size_t{0},
                      [](std::size_t sum, std::int32_t length) { return sum + static_cast<std::size_t>(length); });
  workers = std::max<std::size_t>(workers, 1);
  std::vector<BatchPart> parts;
  std::size_t wanted = 0;
  for (std::size_t i = 0, token = 0; i < lengths.size(); ++i) {
    const auto length = static_cast<std::size_t>(lengths[i]);
    const std::size_t held = parts.empty() ? 0 : parts.back().last_token - parts.back().first_token;
    // A text that does not fit begins the next part, unless this one is still too small.
    const bool is_full = held >= wanted || (held + length > most_tokens && held >= kFewestTokens);
    if (parts.empty() || (is_full && length > 0)) {
      parts.push_back({i, i, token, token});
      wanted = std::clamp((total - token) / (2 * workers), kFewestTokens, most_tokens);
    }
    token += length;
    parts.back().last = i + 1;
    parts.back().last_token = token;
  }
  const double ideal = static_cast<double>(total) / static_cast<double>(workers);
  if (parts.size() < 2 || static_cast<double>(time_of(parts, workers)) > (1 + kMostIdle) * ideal)
    return {{0, lengths.size(), 0, total}};
  return parts;
}

std::vector<BatchPart> split_padded(std::span<const std::int32_t> lengths) {
  std::vector<BatchPart> parts;
  std::size_t longest = 0;
  for (std::size_t i = 0, token = 0; i < lengths.size(); ++i) {
    const auto length = static_cast<std::size_t>(lengths[i]);
    if (!parts.empty()) {
      const BatchPart& part = parts.back();
      const std::size_t rows = part.last - part.first + 1, tokens = part.last_token - part.first_token + length;
      const std::size_t padded = rows * std::max(longest, length);
      if (padded > 2 * tokens + kPaddingForNothing) parts.push_back({i, i, token, token});
    } else {
      parts.push_back({i, i, token, token});
    }
    if (parts.back().first == i) longest = 0;
    longest = std::max(longest, length);
    token += length;
    parts.back().last = i + 1;
    parts.back().last_token = token;
  }
  if (!parts.empty() && parts.back().last_token == 0) parts.clear();
  return parts;
}

}  // namespace alate::runtime
