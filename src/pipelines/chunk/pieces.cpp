#include "pipelines/chunk/pieces.h"

#include <algorithm>

#include "pipelines/chunk/text_structure.h"
#include "tokenizers/unicode/sentence_breaks.h"

namespace alate::pipelines {
namespace {

constexpr std::size_t kHeadingLevels = 6;

// Cuts what is too long at the units of the next level.
class StructureCutter {
 public:
  StructureCutter(const TokenMap& map, std::size_t target) : target_(target) {
    const TextStructure structure = structure_of(map.text());
    for (const std::vector<std::size_t>& headings : structure.headings) levels_.push_back(tokens_at(map, headings));
    levels_.push_back(tokens_at(map, structure.paragraphs));
    levels_.push_back(tokens_at(map, structure.lines));
    levels_.push_back(tokens_at(map, tokenizers::sentence_starts(map.text())));
  }

  std::vector<Piece> cut(std::size_t tokens) {
    if (tokens > 0) cut(0, tokens, 0);
    return std::move(pieces_);
  }

 private:
  void cut(std::size_t first, std::size_t end, std::size_t level) {
    if (end - first <= target_ || level == levels_.size()) return pieces_.push_back({first, end, group_});
    const std::vector<std::size_t>& starts = levels_[level];
    auto next = std::ranges::upper_bound(starts, first);
    for (std::size_t at = first; at < end;) {
      const std::size_t unit_end = next == starts.end() ? end : std::min(*next++, end);
      // A section with a heading of its own is about something of its own.
      const bool is_joined = unit_end - at <= target_ && level >= kHeadingLevels;
      if (!is_joined) ++group_;
      cut(at, unit_end, level + 1);
      if (!is_joined) ++group_;
      at = unit_end;
    }
  }

  std::size_t target_;
  std::vector<std::vector<std::size_t>> levels_;  // the tokens at which units begin
  std::vector<Piece> pieces_;
  std::size_t group_ = 0;
};

}  // namespace

std::vector<std::size_t> tokens_at(const TokenMap& map, std::span<const std::size_t> bytes) {
  std::vector<std::size_t> tokens;
  for (const std::size_t byte : bytes) {
    const std::size_t token = map.token_from(byte);
    if (token == 0 || token == map.size() || !map.is_border(token)) continue;
    if (tokens.empty() || tokens.back() < token) tokens.push_back(token);
  }
  return tokens;
}

std::vector<Piece> pieces_between(const TokenMap& map, std::span<const std::size_t> starts) {
  std::vector<Piece> pieces;
  std::size_t at = 0;
  for (const std::size_t start : starts) {
    pieces.push_back({at, start});
    at = start;
  }
  if (at < map.size()) pieces.push_back({at, map.size()});
  return pieces;
}

std::vector<Piece> structural_pieces(const TokenMap& map, std::size_t target) {
  return StructureCutter(map, target).cut(map.size());
}

}  // namespace alate::pipelines
