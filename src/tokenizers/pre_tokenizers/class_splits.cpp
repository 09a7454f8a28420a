// Pre-tokenizers that split where the code point class changes: BERT's and the white space ones.
#include <cstdint>
#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/unicode/character_classes.h"

namespace alate::tokenizers {
namespace {

enum class Cut : std::uint8_t { drop, alone, run_a, run_b };  // runs of the same letter stay together

template <typename CutOf>
void cut_pieces(PieceList& list, CutOf cut_of) {
  const std::string_view text = list.text.text();
  std::vector<Piece> cut;
  cut.reserve(list.pieces.size() + text.size() / 4);
  Progress progress(list.text.budget());
  for (const Piece& piece : list.pieces) {
    if (piece.token != kNoToken) {
      cut.push_back(piece);
      continue;
    }
    std::uint32_t begin = piece.begin;
    Cut run = Cut::drop;
    const auto end_run = [&](std::uint32_t end) {
      if (run != Cut::drop) cut.push_back({begin, end});
    };
    for (std::uint32_t at = piece.begin; at < piece.end;) {
      progress.reached(at);
      const CodePoint c = decode_utf8(text, at);
      const Cut next = cut_of(c.value);
      if (next != run || next == Cut::alone) {
        end_run(at);
        begin = at;
        run = next;
      }
      at += static_cast<std::uint32_t>(c.length);
    }
    end_run(piece.end);
  }
  list.pieces = std::move(cut);
}

class BertPreTokenizer final : public PreTokenizer {
 public:
  void apply(PieceList& list) const override {
    cut_pieces(list, [](char32_t c) {
      const std::uint16_t classes = classes_of(c);
      if ((classes & kWhitespace) != 0) return Cut::drop;
      return (classes & kPunctuation) != 0 ? Cut::alone : Cut::run_a;
    });
  }
};

class Whitespace final : public PreTokenizer {  // \w+|[^\w\s]+
 public:
  void apply(PieceList& list) const override {
    cut_pieces(list, [](char32_t c) {
      const std::uint16_t classes = classes_of(c);
      if ((classes & kWord) != 0) return Cut::run_a;
      return (classes & kWhitespace) != 0 ? Cut::drop : Cut::run_b;
    });
  }
};

class WhitespaceSplit final : public PreTokenizer {
 public:
  void apply(PieceList& list) const override {
    cut_pieces(list, [](char32_t c) { return is_in(c, kWhitespace) ? Cut::drop : Cut::run_a; });
  }
};

}  // namespace

PreTokenizerPtr bert_pre_tokenizer() { return std::make_unique<BertPreTokenizer>(); }
PreTokenizerPtr whitespace() { return std::make_unique<Whitespace>(); }
PreTokenizerPtr whitespace_split() { return std::make_unique<WhitespaceSplit>(); }

}  // namespace alate::tokenizers
