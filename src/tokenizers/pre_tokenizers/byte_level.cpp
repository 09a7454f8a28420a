// GPT-2's pre-tokenizer: splits by its pattern and writes each byte as a character.
#include <utf8proc.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/unicode/character_classes.h"

namespace alate::tokenizers {
namespace {

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
class Scanner {
 public:
  Scanner(std::string_view text, std::uint32_t end) : text_(text), end_(end) {}

  /// The end of the match that starts at `at`, which always exists.
  std::uint32_t match(std::uint32_t at) const {
    if (text_[at] == '\'') {
      const std::uint32_t end = contraction(at + 1);
      if (end > 0) return end;
    }
    const std::uint32_t first = text_[at] == ' ' && at + 1 < end_ ? at + 1 : at;
    const Kind kind = kind_at(first);
    if (kind != Kind::space) return run(first, kind);
    const std::uint32_t end = run(at, Kind::space);
    if (end == end_) return end;
    std::uint32_t last = end - 1;
    while (!starts_code_point(text_[last])) --last;
    return last > at ? last : end;
  }

 private:
  enum class Kind { space, letter, number, other };

  static Kind kind_of(char32_t c) {
    if (is_in(c, kWhitespace)) return Kind::space;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
      case UTF8PROC_CATEGORY_LU:
      case UTF8PROC_CATEGORY_LL:
      case UTF8PROC_CATEGORY_LT:
      case UTF8PROC_CATEGORY_LM:
      case UTF8PROC_CATEGORY_LO: return Kind::letter;
      case UTF8PROC_CATEGORY_ND:
      case UTF8PROC_CATEGORY_NL:
      case UTF8PROC_CATEGORY_NO: return Kind::number;
      default: return Kind::other;
    }
  }
  Kind kind_at(std::uint32_t at) const { return kind_of(decode_utf8(text_, at).value); }

  std::uint32_t run(std::uint32_t at, Kind kind) const {
    while (at < end_) {
      const CodePoint c = decode_utf8(text_, at);
      if (kind_of(c.value) != kind) break;
      at += static_cast<std::uint32_t>(c.length);
    }
    return at;
  }

  // The end of s, t, re, ve, m, ll or d; 0 if there is none of them.
  std::uint32_t contraction(std::uint32_t at) const {
    if (at >= end_) return 0;
    const char first = text_[at];
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 1;
    if (at + 1 >= end_) return 0;
    const std::string_view two = text_.substr(at, 2);
    return two == "re" || two == "ve" || two == "ll" ? at + 2 : 0;
  }

  std::string_view text_;
  std::uint32_t end_;
};

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
    for (Piece& piece : list.pieces) {
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
      if (text.size() > std::numeric_limits<std::uint32_t>::max())
        throw make_error(ErrorCode::resource_exhausted, "the normalized text is over 4 GiB; give a shorter one");
      piece = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(text.size()), piece.token};
    }
    list.text.assign(std::move(text), std::move(alignment), at_start);
  }

  static void split(PieceList& list) {
    std::vector<Piece> cut;
    cut.reserve(list.pieces.size() + list.text.size() / 4);
    for (const Piece& piece : list.pieces) {
      if (piece.token != kNoToken) {
        cut.push_back(piece);
        continue;
      }
      const Scanner scanner(list.text.text(), piece.end);
      for (std::uint32_t at = piece.begin; at < piece.end;) {
        const std::uint32_t end = scanner.match(at);
        cut.push_back({at, end});
        at = end;
      }
    }
    list.pieces = std::move(cut);
  }

  ByteLevelOptions options_;
};

}  // namespace

PreTokenizerPtr byte_level_pre_tokenizer(const ByteLevelOptions& options) {
  return std::make_unique<ByteLevel>(options);
}

}  // namespace alate::tokenizers
