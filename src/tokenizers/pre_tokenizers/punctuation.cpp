#include <string>
#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/delimiters.h"
#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/unicode/character_classes.h"

namespace alate::tokenizers {
namespace {

class Punctuation final : public PreTokenizer {
 public:
  explicit Punctuation(Delimiters behavior) : behavior_(behavior) {}

  void apply(PieceList& list) const override {
    std::vector<Piece> cut;
    std::vector<Match> matches;
    for (const Piece& piece : list.pieces) {
      if (piece.token != kNoToken) {
        cut.push_back(piece);
        continue;
      }
      matches.clear();
      for (std::uint32_t at = piece.begin; at < piece.end;) {
        const CodePoint c = decode_utf8(list.text.text(), at);
        const std::uint32_t end = at + static_cast<std::uint32_t>(c.length);
        if (is_in(c.value, kPunctuation)) {
          matches.push_back({{at, end}, true});
        } else if (!matches.empty() && !matches.back().is_delimiter) {
          matches.back().range.end = end;
        } else {
          matches.push_back({{at, end}, false});
        }
        at = end;
      }
      append_split(matches, behavior_, cut);
    }
    list.pieces = std::move(cut);
  }

 private:
  Delimiters behavior_;
};

}  // namespace

PreTokenizerPtr make_punctuation(const Json& part, std::string_view where) {
  const Json* behavior = part.find("behavior");
  const Delimiters chosen =
      behavior == nullptr ? Delimiters::isolated : parse_delimiters(as_string(*behavior, where), where);
  return std::make_unique<Punctuation>(chosen);
}

}  // namespace alate::tokenizers
