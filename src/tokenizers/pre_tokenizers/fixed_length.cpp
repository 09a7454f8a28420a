#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace alate::tokenizers {
namespace {

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(std::size_t code_points) : code_points_(code_points) {}

  void apply(PieceList& list) const override {
    const std::string_view text = list.text.text();
    std::vector<Piece> cut;
    Progress progress(list.text.budget());
    for (const Piece& piece : list.pieces) {
      if (piece.token != kNoToken) {
        cut.push_back(piece);
        continue;
      }
      std::uint32_t begin = piece.begin;
      std::size_t count = 0;
      for (std::uint32_t at = piece.begin; at < piece.end; ++at) {
        progress.reached(at);
        if (!starts_code_point(text[at]) || count++ < code_points_) continue;
        cut.push_back({begin, at});
        begin = at;
        count = 1;
      }
      cut.push_back({begin, piece.end});
    }
    list.pieces = std::move(cut);
  }

 private:
  std::size_t code_points_;
};

}  // namespace

PreTokenizerPtr fixed_length(std::size_t code_points) { return std::make_unique<FixedLength>(code_points); }

}  // namespace alate::tokenizers
