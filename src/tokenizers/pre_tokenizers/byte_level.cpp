// GPT-2's pre-tokenizer: splits by its pattern and writes each byte as a character.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/regex/scanners.h"

namespace alate::tokenizers {
namespace {

class ByteLevel final : public PreTokenizer {
 public:
  explicit ByteLevel(const ByteLevelOptions& options) : options_(options) {}

  void apply(PieceList& list) const override {
    if (options_.add_prefix_space) add_spaces(list);
    if (options_.use_regex) split(list);
    list.byte_level = true;
  }

 private:
  // The space has the source of the character that it precedes.
  static void add_spaces(PieceList& list) {
    const std::string_view old = list.text.text();
    const auto needs_space = [&](const Piece& piece) { return piece.token == kNoToken && old[piece.begin] != ' '; };
    const auto spaces = static_cast<std::size_t>(std::count_if(list.pieces.begin(), list.pieces.end(), needs_space));
    if (spaces == 0) return;
    std::string text;
    text.reserve(old.size() + spaces);
    std::vector<Span> alignment;
    if (list.text.tracks()) alignment.reserve(old.size() + spaces);
    std::size_t at_start = 0;
    Progress progress(list.text.budget());
    for (Piece& piece : list.pieces) {
      progress.reached(piece.begin);
      const std::size_t begin = text.size();
      if (needs_space(piece)) {
        text += ' ';
        if (list.text.tracks()) alignment.push_back(list.text.source(piece.begin));
      }
      text += list.text_of(piece);
      if (piece.begin < list.text.at_start())
        at_start = text.size() - (piece.end - std::min<std::size_t>(piece.end, list.text.at_start()));
      for (std::uint32_t at = piece.begin; list.text.tracks() && at < piece.end; ++at)
        alignment.push_back(list.text.source(at));
      list.text.budget().check_bytes(text.size());
      piece = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(text.size()), piece.token};
    }
    list.text.assign(std::move(text), std::move(alignment), at_start);
  }

  void split(PieceList& list) const {
    std::vector<Piece> cut;
    cut.reserve(list.pieces.size() + list.text.size() / 4);
    std::vector<Span> words;
    Progress progress(list.text.budget());
    for (const Piece& piece : list.pieces) {
      progress.reached(piece.begin);
      if (piece.token != kNoToken) {
        cut.push_back(piece);
        continue;
      }
      words.clear();
      scanner_->find_all(list.text_of(piece), words, list.text.budget());
      for (const Span& word : words) cut.push_back({piece.begin + word.begin, piece.begin + word.end});
    }
    list.pieces = std::move(cut);
  }

  std::unique_ptr<const Pattern::Matcher> scanner_ = scanner_for(kGpt2Pattern);  // its matches cover any text
  ByteLevelOptions options_;
};

}  // namespace

PreTokenizerPtr byte_level_pre_tokenizer(const ByteLevelOptions& options) {
  return std::make_unique<ByteLevel>(options);
}

}  // namespace alate::tokenizers
