#include <string>
#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace alate::tokenizers {
namespace {

class Split final : public PreTokenizer {
 public:
  Split(Pattern pattern, Delimiters behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void apply(PieceList& list) const override {
    std::vector<Piece> cut;
    cut.reserve(list.pieces.size() + list.text.size() / 4);
    std::vector<Span> found;
    std::vector<Match> matches;
    Progress progress(list.text.budget());
    for (const Piece& piece : list.pieces) {
      progress.reached(piece.begin);
      if (piece.token != kNoToken) {
        cut.push_back(piece);
        continue;
      }
      found.clear();
      pattern_.find_all(list.text_of(piece), found, list.text.budget());
      if (behavior_ == Delimiters::isolated) {
        append_all(piece, found, cut);
      } else if (behavior_ == Delimiters::removed && invert_) {
        append_matches(piece, found, cut);
      } else {
        cover(piece, found, matches);
        append_split(matches, behavior_, cut);
      }
    }
    list.pieces = std::move(cut);
  }

 private:
  // Matches and what is between them.
  static void append_all(const Piece& piece, const std::vector<Span>& found, std::vector<Piece>& cut) {
    std::uint32_t last = piece.begin;
    for (const Span match : found) {
      const std::uint32_t begin = piece.begin + match.begin;
      const std::uint32_t end = piece.begin + match.end;
      if (last < begin) cut.push_back({last, begin});
      if (begin < end) cut.push_back({begin, end});
      last = end;
    }
    if (last < piece.end) cut.push_back({last, piece.end});
  }

  static void append_matches(const Piece& piece, const std::vector<Span>& found, std::vector<Piece>& cut) {
    for (const Span match : found) {
      if (match.begin < match.end) cut.push_back({piece.begin + match.begin, piece.begin + match.end});
    }
  }

  void cover(const Piece& piece, const std::vector<Span>& found, std::vector<Match>& matches) const {
    matches.clear();
    std::uint32_t last = piece.begin;
    for (const Span match : found) {
      const std::uint32_t begin = piece.begin + match.begin;
      const std::uint32_t end = piece.begin + match.end;
      if (last != begin) matches.push_back({{last, begin}, invert_});
      matches.push_back({{begin, end}, !invert_});
      last = end;
    }
    if (last != piece.end) matches.push_back({{last, piece.end}, invert_});
  }

  Pattern pattern_;
  Delimiters behavior_;
  bool invert_;
};

}  // namespace

PreTokenizerPtr split(PatternText pattern, Delimiters behavior, bool invert, std::string_view where) {
  return std::make_unique<Split>(Pattern(std::move(pattern), where), behavior, invert);
}

}  // namespace alate::tokenizers
