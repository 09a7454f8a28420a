// Splits where the script changes.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

struct ScriptSplit {
  char32_t first;
  std::uint8_t script;
};

#include "tokenizers/unicode/script_splits.inc"

constexpr std::uint8_t kAnyScript = 0;

std::uint8_t script_of(char32_t c) {
  const auto after = std::upper_bound(std::begin(kScriptSplits), std::end(kScriptSplits), c,
                                      [](char32_t value, const ScriptSplit& split) { return value < split.first; });
  return std::prev(after)->script;
}

class UnicodeScripts final : public PreTokenizer {
 public:
  void apply(PieceList& list) const override {
    const std::string_view text = list.text.text();
    std::vector<Piece> cut;
    cut.reserve(list.pieces.size());
    Progress progress(list.text.budget());
    for (const Piece& piece : list.pieces) {
      if (piece.token != kNoToken) {
        cut.push_back(piece);
        continue;
      }
      // As in the reference, spaces go with what is before them, and those at the start of a piece are lost.
      std::uint8_t last = kAnyScript;
      std::uint32_t begin = piece.end;
      for (std::uint32_t at = piece.begin; at < piece.end;) {
        progress.reached(at);
        const CodePoint c = decode_utf8(text, at);
        const std::uint8_t script = script_of(c.value);
        if (script != kAnyScript && script != last) {
          if (begin < at) cut.push_back({begin, at});
          begin = at;
          last = script;
        }
        at += static_cast<std::uint32_t>(c.length);
      }
      if (begin < piece.end) cut.push_back({begin, piece.end});
    }
    list.pieces = std::move(cut);
  }
};

}  // namespace

PreTokenizerPtr unicode_scripts() { return std::make_unique<UnicodeScripts>(); }

}  // namespace alate::tokenizers
