#include "pipelines/chunk/packing.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace alate::pipelines {
namespace {

class Packer {
 public:
  Packer(const TokenMap& map, const PackingLimits& limits, std::span<const std::size_t> words,
         std::span<const std::size_t> units)
      : map_(map), limits_(limits), words_(words), units_(units) {}

  void add(const Piece& piece) {
    if (current_ && group_ != piece.group) {
      close();
      current_.reset();
    }
    group_ = piece.group;
    if (!current_) current_ = TokenRange{.first = piece.first, .own = piece.first, .end = piece.first};
    const auto is_over = [&] { return piece.end - current_->first > limits_.target; };
    if (is_over() && current_->end > current_->own) begin_next(piece.end - piece.first);
    while (is_over() && !is_full()) {
      current_->end = cut_of(*current_);
      if (current_->end >= piece.end) break;  // one character of many tokens
      begin_next(0);
    }
    current_->end = piece.end;
  }

  // Whether there are more chunks than asked for.
  bool is_full() const { return chunks_.size() > limits_.max_chunks; }

  PackedChunks finish() {
    close();
    PackedChunks packed{.ranges = std::move(chunks_)};
    packed.truncated = packed.ranges.size() > limits_.max_chunks;
    if (packed.truncated) packed.ranges.resize(limits_.max_chunks);
    return packed;
  }

 private:
  void close() {
    if (current_ && current_->end > current_->own) chunks_.push_back(*current_);
  }

  // Closes the chunk and begins one behind it, which repeats less where `needed` tokens so fit.
  void begin_next(std::size_t needed) {
    close();
    const std::size_t at = current_->end;
    std::size_t room = std::min(limits_.overlap, at);
    if (needed <= limits_.target) room = std::min(room, limits_.target - needed);
    // The new chunk must not repeat all of the last one.
    const std::size_t least = std::max(at - room, current_->first + 1);
    const auto unit = std::ranges::lower_bound(units_, least);
    const std::size_t first = unit == units_.end() ? at : std::min(*unit, at);
    current_ = TokenRange{.first = first, .own = at, .end = at};
  }

  // Where a chunk that is too long ends: between words in its second half, else between tokens.
  std::size_t cut_of(const TokenRange& chunk) const {
    const std::size_t most = chunk.first + limits_.target;
    const std::size_t least = std::max(chunk.own + 1, chunk.first + limits_.target / 2);
    const auto behind = std::ranges::upper_bound(words_, most);
    if (behind != words_.begin() && *std::prev(behind) >= least) return *std::prev(behind);
    for (std::size_t at = most; at > chunk.own; --at) {
      if (map_.is_border(at)) return at;
    }
    std::size_t at = most + 1;
    while (!map_.is_border(at)) ++at;
    return at;
  }

  const TokenMap& map_;
  const PackingLimits limits_;
  std::span<const std::size_t> words_, units_;
  std::optional<TokenRange> current_;
  std::size_t group_ = 0;
  std::vector<TokenRange> chunks_;
};

}  // namespace

PackedChunks join_pieces(const TokenMap& map, std::span<const Piece> pieces, const PackingLimits& limits,
                         std::span<const std::size_t> words, std::span<const std::size_t> units) {
  Packer packer(map, limits, words, units);
  for (const Piece& piece : pieces) {
    if (packer.is_full()) break;
    packer.add(piece);
  }
  return packer.finish();
}

}  // namespace alate::pipelines
