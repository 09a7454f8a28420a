#include "generation/constraint/free_text.h"

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "formats/utf8.h"
#include "generation/constraint/json_text.h"
#include "generation/constraint/utf8_ranges.h"

namespace alate::generation {
namespace {

constexpr std::size_t kMostBytes = 4096;  // of all texts together
constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

// What the last bytes of a text are the beginning of (Aho, Corasick 1975).
class Beginnings {
 public:
  explicit Beginnings(std::span<const std::string> texts) {
    add_node();
    for (const std::string& text : texts) {
      std::uint32_t at = 0;
      for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (next_[at][byte] == kNowhere) {
          const std::uint32_t added = add_node();
          next_[at][byte] = added;
        }
        at = next_[at][byte];
      }
      is_whole_[at] = true;
    }
    complete();
  }

  std::uint32_t next(std::uint32_t node, std::uint8_t byte) const { return next_[node][byte]; }
  bool is_whole(std::uint32_t node) const { return is_whole_[node]; }

 private:
  std::uint32_t add_node() {
    next_.emplace_back().fill(kNowhere);
    is_whole_.push_back(false);
    return static_cast<std::uint32_t>(next_.size() - 1);
  }
  // Makes an edge for each byte: where a text does not go on, another one may have begun later.
  void complete() {
    std::vector<std::uint32_t> fallback(next_.size(), 0), queue = {0};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const std::uint32_t node = queue[i];
      is_whole_[node] = is_whole_[node] || is_whole_[fallback[node]];
      for (std::size_t byte = 0; byte < 256; ++byte) {
        std::uint32_t& to = next_[node][byte];
        const std::uint32_t otherwise = node == 0 ? 0 : next_[fallback[node]][byte];
        if (to == kNowhere) {
          to = otherwise;
          continue;
        }
        fallback[to] = otherwise;
        queue.push_back(to);
      }
    }
  }

  std::vector<std::array<std::uint32_t, 256>> next_;
  std::vector<bool> is_whole_;
};

// Accepts code points of a set that another automaton accepts too: `next` is its node after a byte, if it has one.
template <typename Next, typename IsFinal>
ByteMachine with_code_points(const tokenizers::CodePointSet& set, const Next& next, const IsFinal& is_final) {
  // The code points as a tree of byte ranges: a place in it, and a node of the other, is a node.
  std::vector<std::vector<std::pair<ByteRange, std::uint32_t>>> places(1);
  for_each_utf8_sequence(set, [&](const Utf8Sequence& sequence) {
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < sequence.count; ++i) {
      std::uint32_t to = 0;
      if (i + 1 < sequence.count) {
        to = static_cast<std::uint32_t>(places.size());
        places.emplace_back();
      }
      places[at].push_back({sequence.bytes[i], to});
      at = to;
    }
  });
  ByteMachine machine;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> nodes;
  const auto number_of = [&](std::uint32_t place, std::uint32_t other) {
    const auto [found, is_new] = numbers.try_emplace({place, other}, static_cast<std::uint32_t>(nodes.size()));
    if (is_new) nodes.emplace_back(place, other);
    return found->second;
  };
  number_of(0, 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto [place, other] = nodes[i];
    std::vector<ByteMachine::Edge> edges;
    for (const auto& [range, to] : places[place]) {
      for (unsigned byte = range.first; byte <= range.last; ++byte) {
        const std::optional<std::uint32_t> reached = next(other, static_cast<std::uint8_t>(byte));
        if (!reached) continue;
        const std::uint32_t node = number_of(to, *reached);
        const auto own = static_cast<std::uint8_t>(byte);
        if (!edges.empty() && edges.back().to == node && edges.back().last + 1 == own) {
          edges.back().last = own;
        } else {
          edges.push_back({own, own, node});
        }
      }
    }
    machine.edges.push_back(std::move(edges));
    machine.is_final.push_back(place == 0 && is_final(other));
  }
  return machine;
}

}  // namespace

ByteMachine text_without(std::span<const std::string> without) {
  std::size_t bytes = 0;
  for (const std::string& text : without) {
    bytes += text.size();
    if (text.empty() || formats::valid_utf8_prefix(text) != text.size())
      throw Error(ErrorCode::invalid_argument, "a text that must not occur in free text is empty or not valid UTF-8");
  }
  if (bytes > kMostBytes)
    throw make_error(ErrorCode::invalid_argument, "the texts that must not occur in free text have ", bytes,
                     " bytes together; they may have ", kMostBytes);
  const Beginnings beginnings(without);
  return with_code_points(
      tokenizers::CodePointSet::all(),
      [&](std::uint32_t beginning, std::uint8_t byte) -> std::optional<std::uint32_t> {
        const std::uint32_t next = beginnings.next(beginning, byte);
        if (beginnings.is_whole(next)) return std::nullopt;
        return next;
      },
      [](std::uint32_t) { return true; });
}

ByteMachine plain_string_other_than(std::span<const std::string> texts) {
  // The texts as a tree; kNowhere is where a text is none of them any more.
  std::vector<std::array<std::uint32_t, 256>> tree(1);
  tree.front().fill(kNowhere);
  std::vector<bool> is_text = {false};
  for (const std::string& text : texts) {
    std::uint32_t at = 0;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (tree[at][byte] == kNowhere) {
        tree[at][byte] = static_cast<std::uint32_t>(tree.size());
        tree.emplace_back().fill(kNowhere);
        is_text.push_back(false);
      }
      at = tree[at][byte];
    }
    is_text[at] = true;
  }
  return with_code_points(
      plain_characters(),
      [&](std::uint32_t at, std::uint8_t byte) { return std::optional(at == kNowhere ? kNowhere : tree[at][byte]); },
      [&](std::uint32_t at) { return at == kNowhere || !is_text[at]; });
}

}  // namespace alate::generation
