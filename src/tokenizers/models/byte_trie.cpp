#include "tokenizers/models/byte_trie.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "alate/error.h"

namespace alate::tokenizers {
namespace {

constexpr std::uint32_t kBlock = 256;
constexpr std::size_t kMaxTries = 32;  // places that are tried for the children of one node before a new block is begun

using Key = std::pair<std::string_view, std::int32_t>;

struct Order {
  std::uint64_t head;  // the first bytes of a key, the first one highest
  std::uint32_t index;
};

// A radix sort, from the last byte to the first.
void sort_by_head(std::vector<Order>& order) {
  std::vector<Order> other(order.size());
  for (int shift = 0; shift < 64; shift += 8) {
    std::array<std::size_t, 257> starts{};
    for (const Order& place : order) ++starts[(place.head >> shift & 0xFF) + 1];
    if (std::find(starts.begin(), starts.end(), order.size()) != starts.end()) continue;  // all have the same byte
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (const Order& place : order) other[starts[place.head >> shift & 0xFF]++] = place;
    order.swap(other);
  }
}

// By text, and of equal texts the highest value first. The first bytes of a text are compared as one number.
void sort_keys(std::vector<Key>& keys) {
  std::vector<Order> order(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view text = keys[i].first;
    std::uint64_t head = 0;
    for (std::size_t byte = 0; byte < sizeof head; ++byte)
      head = head << 8 | (byte < text.size() ? static_cast<unsigned char>(text[byte]) : 0U);
    order[i] = {head, static_cast<std::uint32_t>(i)};
  }
  sort_by_head(order);
  // Texts with the same first bytes are next to each other now.
  const auto comes_first = [&](const Order& left, const Order& right) {
    const int compared = keys[left.index].first.compare(keys[right.index].first);
    return compared != 0 ? compared < 0 : keys[left.index].second > keys[right.index].second;
  };
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && last->head == first->head) ++last;
    if (last - first > 1) std::sort(first, last, comes_first);
    first = last;
  }
  std::vector<Key> sorted;
  sorted.reserve(keys.size());
  for (const Order& place : order) sorted.push_back(keys[place.index]);
  keys = std::move(sorted);
}

}  // namespace

class ByteTrie::Builder {
 public:
  explicit Builder(std::vector<Unit>& units) : units_(units) {}

  void build(std::span<const Key> keys) {
    add_block();
    take(kRoot, kNoNode);
    struct Range {
      std::size_t begin;
      std::size_t end;
      std::size_t depth;
      std::uint32_t node;
    };
    std::vector<Range> ranges{{0, keys.size(), 0, kRoot}};
    std::vector<Range> children;
    while (!ranges.empty()) {
      auto [at, end, depth, node] = ranges.back();
      ranges.pop_back();
      if (at < end && keys[at].first.size() == depth) units_[node].value = keys[at++].second;
      if (at == end) continue;
      if (end - at == 1) {
        add_chain(keys[at], depth, node);
        continue;
      }
      children.clear();
      bytes_.clear();
      while (at < end) {
        const char byte = keys[at].first[depth];
        std::size_t next = at + 1;
        // Equal bytes are neighbours, so the end of a long run is found by halving.
        if (next < end && keys[next].first[depth] == byte) {
          next =
              static_cast<std::size_t>(std::partition_point(keys.begin() + static_cast<std::ptrdiff_t>(next),
                                                            keys.begin() + static_cast<std::ptrdiff_t>(end),
                                                            [&](const Key& key) { return key.first[depth] == byte; }) -
                                       keys.begin());
        }
        bytes_.push_back(static_cast<unsigned char>(byte));
        children.push_back({at, next, depth + 1, 0});
        at = next;
      }
      const std::uint32_t base = find_base();
      units_[node].base = base;
      for (std::size_t i = 0; i < children.size(); ++i) {
        children[i].node = base ^ bytes_[i];
        take(children[i].node, node);
      }
      ranges.insert(ranges.end(), children.rbegin(), children.rend());
    }
  }

 private:
  // The rest of a key that shares no further node with another.
  void add_chain(const Key& key, std::size_t depth, std::uint32_t node) {
    for (; depth < key.first.size(); ++depth) {
      if (first_free_ == kNoNode) add_block();
      const std::uint32_t child = first_free_;
      units_[node].base = child ^ static_cast<unsigned char>(key.first[depth]);
      take(child, node);
      node = child;
    }
    units_[node].value = key.second;
  }

  void add_block() {
    const auto first = static_cast<std::uint32_t>(units_.size());
    units_.resize(first + kBlock);
    links_.resize(first + kBlock);
    for (std::uint32_t unit = first; unit < first + kBlock; ++unit) {
      links_[unit] = {last_free_, kNoNode};
      (last_free_ == kNoNode ? first_free_ : links_[last_free_].next) = unit;
      last_free_ = unit;
    }
  }

  void take(std::uint32_t unit, std::uint32_t parent) {
    units_[unit].parent = parent;
    const Links links = links_[unit];
    (links.previous == kNoNode ? first_free_ : links_[links.previous].next) = links.next;
    (links.next == kNoNode ? last_free_ : links_[links.next].previous) = links.previous;
  }

  // A base whose units for all of `bytes_` are free.
  std::uint32_t find_base() {
    std::size_t tries = 0;
    for (std::uint32_t unit = first_free_; unit != kNoNode && tries < kMaxTries; unit = links_[unit].next, ++tries) {
      const std::uint32_t base = unit ^ bytes_[0];
      if (std::all_of(bytes_.begin(), bytes_.end(),
                      [&](std::uint32_t byte) { return units_[base ^ byte].parent == kFree; }))
        return base;
    }
    const auto base = static_cast<std::uint32_t>(units_.size());
    add_block();
    return base;
  }

  struct Links {
    std::uint32_t previous;
    std::uint32_t next;
  };

  std::vector<Links> links_;  // between free units
  std::uint32_t first_free_ = kNoNode;
  std::uint32_t last_free_ = kNoNode;
  std::vector<Unit>& units_;
  std::vector<std::uint32_t> bytes_;  // of the children of the present node
};

ByteTrie::ByteTrie(std::vector<Key> keys) {
  std::size_t bytes = 0;
  for (const Key& key : keys) bytes += key.first.size();
  if (bytes > kMaxKeyBytes)
    throw make_error(ErrorCode::resource_exhausted, "the tokens have ", bytes, " bytes together; ", kMaxKeyBytes,
                     " are allowed");
  sort_keys(keys);
  const auto last = std::unique(keys.begin(), keys.end(),
                                [](const Key& left, const Key& right) { return left.first == right.first; });
  keys.erase(last, keys.end());
  std::span<const Key> kept(keys);
  if (!kept.empty() && kept.front().first.empty()) kept = kept.subspan(1);
  Builder(units_).build(kept);
}

}  // namespace alate::tokenizers
