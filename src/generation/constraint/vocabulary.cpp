#include "generation/constraint/vocabulary.h"

#include <algorithm>
#include <string_view>

namespace alate::generation {

Vocabulary::Vocabulary(std::span<const std::string> texts, bool drops_first_space)
    : texts_(texts.begin(), texts.end()), drops_first_space_(drops_first_space) {
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (!texts_[i].empty()) order.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::stable_sort(order, {}, [&](std::int32_t token) -> const std::string& { return text(token); });
  nodes_.push_back({});
  std::vector<std::uint32_t> path = {0};  // from the root to the last node
  std::string_view last;
  for (const std::int32_t token : order) {
    const std::string_view next = text(token);
    longest_ = std::max(longest_, next.size());
    const std::size_t common = static_cast<std::size_t>(std::ranges::mismatch(last, next).in1 - last.begin());
    for (; path.size() > common + 1; path.pop_back())
      nodes_[path.back()].end = static_cast<std::uint32_t>(nodes_.size());
    for (std::size_t i = common; i < next.size(); ++i) {
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({.end = 0,
                        .tokens = static_cast<std::uint32_t>(tokens_.size()),
                        .depth = static_cast<std::uint16_t>(i + 1),
                        .byte = static_cast<std::uint8_t>(next[i])});
    }
    tokens_.push_back(token);
    last = next;
  }
  for (const std::uint32_t node : path) nodes_[node].end = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.end = 0, .tokens = static_cast<std::uint32_t>(tokens_.size()), .depth = 0, .byte = 0});
}

std::uint32_t Vocabulary::first(std::uint8_t byte) const {
  const auto all = nodes();
  for (std::uint32_t node = 1; node < all.size(); node = all[node].end) {
    if (all[node].byte == byte) return node;
  }
  return 0;
}

}  // namespace alate::generation
