#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace alate::tokenizers {
namespace {

// Rewrites the text of all pieces into a new one, in which they follow each other without gaps.
class MetaspacePass {
 public:
  MetaspacePass(const MetaspaceOptions& options, const std::string& mark, PieceList& list)
      : options_(options),
        mark_(mark),
        list_(list),
        old_(list.text.text()),
        tracks_(list.text.tracks()),
        progress_(list.text.budget()) {
    text_.reserve(old_.size() + old_.size() / 4);
    if (tracks_) alignment_.reserve(text_.capacity());
    pieces_.reserve(list.pieces.size() + (options.split ? old_.size() / 4 : 0));
  }

  void run() {
    for (const Piece& piece : list_.pieces) add(piece);
    list_.text.assign(std::move(text_), std::move(alignment_), at_start_);
    list_.pieces = std::move(pieces_);
  }

 private:
  void add(const Piece& piece) {
    const std::size_t begin = text_.size();
    if (piece.token != kNoToken) {
      copy(piece.begin, piece.end);
      push(begin, piece.token);
      return;
    }
    if (is_prefixed(piece)) append_mark(piece.begin);
    piece_begin_ = begin;
    std::uint32_t from = piece.begin;  // start of what is not copied yet
    for (std::uint32_t at = piece.begin; at < piece.end; ++at) {
      progress_.reached(at);
      if (old_[at] == ' ') {
        copy(from, at);
        start_piece();
        append_mark(at);
        from = at + 1;
      } else if (old_[at] == mark_[0] && old_.substr(at, mark_.size()) == mark_) {
        copy(from, at);
        start_piece();
        from = at;
      }
    }
    copy(from, piece.end);
    push(piece_begin_, kNoToken);
  }

  bool is_prefixed(const Piece& piece) const {
    if (options_.prepend == PrependScheme::never) return false;
    if (old_[piece.begin] == ' ' || list_.text_of(piece).starts_with(mark_)) return false;
    return options_.prepend == PrependScheme::always || piece.begin < list_.text.at_start();
  }

  void start_piece() {
    if (!options_.split || text_.size() == piece_begin_) return;
    push(piece_begin_, kNoToken);
    piece_begin_ = text_.size();
  }

  void push(std::size_t begin, std::int32_t token) {
    list_.text.budget().check_bytes(text_.size());
    pieces_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(text_.size()), token});
  }

  void copy(std::uint32_t begin, std::uint32_t end) {
    text_ += old_.substr(begin, end - begin);
    const auto old_at_start = static_cast<std::uint32_t>(list_.text.at_start());
    if (begin < end && begin < old_at_start) at_start_ = text_.size() - (end - std::min(end, old_at_start));
    for (std::uint32_t i = begin; tracks_ && i < end; ++i) alignment_.push_back(list_.text.source(i));
  }

  void append_mark(std::uint32_t at) {
    text_ += mark_;
    if (at < list_.text.at_start()) at_start_ = text_.size();
    if (tracks_) alignment_.insert(alignment_.end(), mark_.size(), list_.text.source(at));
  }

  const MetaspaceOptions& options_;
  const std::string& mark_;
  PieceList& list_;
  std::string_view old_;
  bool tracks_;
  Progress progress_;
  std::string text_;
  std::vector<Span> alignment_;
  std::vector<Piece> pieces_;
  std::size_t at_start_ = 0;
  std::size_t piece_begin_ = 0;  // of the piece under way in the new text
};

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(const MetaspaceOptions& options) : options_(options) { append_utf8(mark_, options.replacement); }

  void apply(PieceList& list) const override { MetaspacePass(options_, mark_, list).run(); }

 private:
  MetaspaceOptions options_;
  std::string mark_;
};

}  // namespace

PreTokenizerPtr metaspace(const MetaspaceOptions& options) { return std::make_unique<Metaspace>(options); }

}  // namespace alate::tokenizers
