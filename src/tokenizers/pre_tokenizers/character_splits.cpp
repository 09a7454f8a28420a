// Pre-tokenizers that treat single code points as delimiters: punctuation, numbers, a given one.
#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/unicode/character_classes.h"

namespace alate::tokenizers {
namespace {

template <typename IsDelimiter>
class CharacterSplit final : public PreTokenizer {
 public:
  CharacterSplit(IsDelimiter is_delimiter, Delimiters behavior)
      : is_delimiter_(std::move(is_delimiter)), behavior_(behavior) {}

  void apply(PieceList& list) const override {
    const std::string_view text = list.text.text();
    std::vector<Piece> cut;
    cut.reserve(list.pieces.size());
    std::vector<Match> matches;
    Progress progress(list.text.budget());
    for (const Piece& piece : list.pieces) {
      if (piece.token != kNoToken) {
        cut.push_back(piece);
        continue;
      }
      matches.clear();
      for (std::uint32_t at = piece.begin; at < piece.end;) {
        progress.reached(at);
        const CodePoint c = decode_utf8(text, at);
        const std::uint32_t end = at + static_cast<std::uint32_t>(c.length);
        if (is_delimiter_(c.value)) {
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
  IsDelimiter is_delimiter_;
  Delimiters behavior_;
};

template <typename IsDelimiter>
PreTokenizerPtr character_split(IsDelimiter is_delimiter, Delimiters behavior) {
  return std::make_unique<CharacterSplit<IsDelimiter>>(std::move(is_delimiter), behavior);
}

}  // namespace

PreTokenizerPtr punctuation(Delimiters behavior) {
  return character_split([](char32_t c) { return is_in(c, kPunctuation); }, behavior);
}

PreTokenizerPtr digits(bool individual) {
  return character_split([](char32_t c) { return is_in(c, kNumeric); },
                         individual ? Delimiters::isolated : Delimiters::contiguous);
}

PreTokenizerPtr char_delimiter_split(char32_t delimiter) {
  return character_split([delimiter](char32_t c) { return c == delimiter; }, Delimiters::removed);
}

}  // namespace alate::tokenizers
