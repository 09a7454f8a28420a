#include "tokenizers/models/byte_trie.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "alate/error.h"

namespace alate::tokenizers {
namespace {

constexpr std::uint32_t kByteValues = 256;
constexpr std::size_t kMaxTries = 16;  // words of free units that are looked through more than once

using Key = std::pair<std::string_view, std::int32_t>;

struct Order {
  std::uint64_t head;  // the first bytes of a key, the first one highest; zeros behind a short one
  std::uint32_t index;
};

constexpr std::size_t kHeadBytes = sizeof(std::uint64_t);

// The bytes as a number whose highest one is the first.
template <typename Number>
std::uint64_t number_at(const char* bytes) {
  Number number = 0;
  std::memcpy(&number, bytes, sizeof number);
  if constexpr (std::endian::native == std::endian::little)
    return sizeof number == 8 ? __builtin_bswap64(number) : __builtin_bswap32(static_cast<std::uint32_t>(number));
  return number;
}

std::uint64_t head_of(std::string_view text) {
  const std::size_t missing = 8 * (kHeadBytes - std::min(text.size(), kHeadBytes));  // bits
  if (missing == 0) return number_at<std::uint64_t>(text.data());
  // Both ends, which may overlap.
  if (text.size() >= 4)
    return number_at<std::uint32_t>(text.data()) << 32 | number_at<std::uint32_t>(text.data() + text.size() - 4)
                                                             << missing;
  std::uint64_t head = 0;
  for (const char byte : text) head = head << 8 | static_cast<unsigned char>(byte);
  return text.empty() ? 0 : head << missing;
}

// A radix sort, from the last bits to the first.
void sort_by_head(std::vector<Order>& order) {
  constexpr std::size_t kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  constexpr std::size_t kPasses = (64 + kBits - 1) / kBits;
  const auto digit = [](const Order& place, std::size_t pass) { return place.head >> pass * kBits & (kDigits - 1); };
  std::vector<std::uint32_t> starts(kPasses * kDigits);
  for (const Order& place : order) {
    for (std::size_t pass = 0; pass < kPasses; ++pass) ++starts[pass * kDigits + digit(place, pass)];
  }
  std::vector<Order> other(order.size());
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    const std::span<std::uint32_t> start = std::span(starts).subspan(pass * kDigits, kDigits);
    if (std::find(start.begin(), start.end(), order.size()) != start.end()) continue;  // all have the same digit
    std::exclusive_scan(start.begin(), start.end(), start.begin(), std::uint32_t{0});
    for (const Order& place : order) other[start[digit(place, pass)]++] = place;
    order.swap(other);
  }
}

// By text, and of equal texts the highest value first.
std::vector<Order> sorted_order(const std::vector<Key>& keys) {
  std::vector<Order> order(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) order[i] = {head_of(keys[i].first), static_cast<std::uint32_t>(i)};
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
  return order;
}

struct SortedKey {
  std::uint64_t head;
  std::string_view text;
  std::int32_t value;
  std::uint32_t shared;  // leading bytes that it has in common with the key before

  unsigned char byte(std::size_t at) const {
    return static_cast<unsigned char>(at < kHeadBytes ? head >> (56 - 8 * at) : text[at]);
  }
};

std::size_t shared_bytes(const SortedKey& left, const SortedKey& right) {
  const std::size_t shorter = std::min(left.text.size(), right.text.size());
  if (left.head != right.head)
    return std::min(static_cast<std::size_t>(std::countl_zero(left.head ^ right.head)) / 8, shorter);
  std::size_t shared = std::min(kHeadBytes, shorter);
  while (shared < shorter && left.text[shared] == right.text[shared]) ++shared;
  return shared;
}

// Without empty texts; of equal ones, the one with the highest value.
std::vector<SortedKey> sorted_keys(const std::vector<Key>& keys) {
  std::vector<SortedKey> sorted;
  sorted.reserve(keys.size());
  for (const Order& place : sorted_order(keys)) {
    const auto& [text, value] = keys[place.index];
    if (text.empty()) continue;
    SortedKey key{place.head, text, value, 0};
    if (!sorted.empty()) {
      const std::size_t shared = shared_bytes(sorted.back(), key);
      if (shared == text.size()) continue;  // it comes behind its prefixes, so the one before is the same
      key.shared = static_cast<std::uint32_t>(shared);
    }
    sorted.push_back(key);
  }
  return sorted;
}

}  // namespace

class ByteTrie::Builder {
 public:
  explicit Builder(std::vector<Unit>& units) : units_(units) {}

  void build(std::span<const SortedKey> keys) {
    std::size_t nodes = 0;
    for (const SortedKey& key : keys) nodes += key.text.size() - key.shared;
    units_.reserve(nodes + nodes / 8 + kByteValues * 4);
    units_.resize(kByteValues);  // the root; no other unit stands before the bytes that lead to it
    free_.resize(kByteValues / 64);
    units_[kRoot].parent = kNoNode;
    std::vector<Range> ranges{{0, keys.size(), 0, kRoot}};
    while (!ranges.empty()) {
      auto [at, end, depth, node] = ranges.back();
      ranges.pop_back();
      if (at < end && keys[at].text.size() == depth) units_[node].value = keys[at++].value;
      if (at == end) continue;
      find_children(keys.subspan(0, end), at, depth);
      const std::uint32_t base = find_base();
      units_[node].base = base;
      for (Range& child : children_) {
        child.node += base;
        take(child.node, node);
      }
      for (const Range& child : children_) {
        if (child.end - child.begin == 1) {
          add_chain(keys[child.begin], child.depth, child.node);
        } else {
          ranges.push_back(child);
        }
      }
    }
  }

 private:
  // Keys with the same first `depth` bytes, and the node where these lead.
  struct Range {
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
    std::uint32_t node;
  };

  // Of the node where the first `depth` bytes of all keys from `at` on lead.
  void find_children(std::span<const SortedKey> keys, std::size_t at, std::size_t depth) {
    children_.clear();
    for (std::size_t next = at; next < keys.size(); at = next) {
      ++next;
      while (next < keys.size() && keys[next].shared > depth) ++next;
      children_.push_back({at, next, depth + 1, keys[at].byte(depth)});
    }
  }

  // The rest of a key that shares no further node with another.
  void add_chain(const SortedKey& key, std::size_t depth, std::uint32_t node) {
    for (; depth < key.text.size(); ++depth) {
      while (free_word(first_free_) == 0) ++first_free_;
      const std::uint32_t child = first_free_ * 64 + static_cast<std::uint32_t>(std::countr_zero(free_[first_free_]));
      units_[node].base = child - key.byte(depth);
      take(child, node);
      node = child;
    }
    units_[node].value = key.value;
  }

  void take(std::uint32_t unit, std::uint32_t parent) {
    units_[unit].parent = parent;
    free_[unit / 64] &= ~(std::uint64_t{1} << unit % 64);
  }

  // Bits of 64 units: whether they are free. There are always as many units behind them as a byte can lead over.
  std::uint64_t free_word(std::uint32_t word) {
    if (word + kByteValues / 64 + 1 >= free_.size()) {
      free_.resize(free_.size() + free_.size() / 16 + 2 * kByteValues / 64, ~std::uint64_t{0});
      units_.resize(free_.size() * 64);
    }
    return free_[word];
  }

  std::uint64_t free_from(std::uint32_t unit) const {
    const std::size_t word = unit / 64;
    const std::size_t shift = unit % 64;
    return shift == 0 ? free_[word] : free_[word] >> shift | free_[word + 1] << (64 - shift);
  }

  // A base from which the units of all children's bytes, which are sorted, are free.
  std::uint32_t find_base() {
    const std::uint32_t first_byte = children_.front().node;
    std::uint32_t word = first_free_;
    std::uint64_t fits = 0;
    for (;; ++word) {
      fits = free_word(word);
      for (std::size_t i = 1; i < children_.size() && fits != 0; ++i)
        fits &= free_from(word * 64 + children_[i].node - first_byte);
      if (fits != 0) break;
      if (word == first_free_ && free_[word] == 0) ++first_free_;
    }
    if (word - first_free_ > kMaxTries) first_free_ = word;
    return word * 64 + static_cast<std::uint32_t>(std::countr_zero(fits)) - first_byte;
  }

  std::vector<Unit>& units_;
  std::vector<std::uint64_t> free_;
  std::uint32_t first_free_ = kByteValues / 64;  // the first word of `free_` that is looked at
  std::vector<Range> children_;                  // of the present node; at first, `node` is the byte
};

ByteTrie::ByteTrie(const std::vector<Key>& keys) {
  std::size_t bytes = 0;
  for (const Key& key : keys) bytes += key.first.size();
  if (bytes > kMaxKeyBytes)
    throw make_error(ErrorCode::resource_exhausted, "the tokens have ", bytes, " bytes together; ", kMaxKeyBytes,
                     " are allowed");
  Builder(units_).build(sorted_keys(keys));
}

}  // namespace alate::tokenizers
