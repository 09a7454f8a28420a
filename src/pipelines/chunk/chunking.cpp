#include "pipelines/chunk/chunking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "alate/error.h"
#include "pipelines/calls/call_limits.h"
#include "pipelines/chunk/text_structure.h"
#include "tokenizers/unicode/sentence_breaks.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 5> kMethodNames = {"fixed", "recursive", "sentence", "semantic", "classifier"};

}  // namespace

std::string_view to_string(ChunkMethod method) { return kMethodNames.at(static_cast<std::size_t>(method)); }

std::optional<ChunkMethod> parse_chunk_method(std::string_view name) {
  const auto found = std::ranges::find(kMethodNames, name);
  return found == kMethodNames.end() ? std::nullopt
                                     : std::optional(static_cast<ChunkMethod>(found - kMethodNames.begin()));
}

namespace pipelines {
namespace {

constexpr std::size_t kUsualOverlap = 50;

std::size_t overlap_of(const ChunkOptions& options) {
  return options.overlap_tokens.value_or(std::min(options.target_tokens / 10, kUsualOverlap));
}

PackingLimits limits_of(const ChunkOptions& options) {
  PackingLimits limits{.target = options.target_tokens, .overlap = overlap_of(options)};
  if (options.max_chunks) limits.max_chunks = *options.max_chunks;
  return limits;
}

std::vector<std::size_t> word_starts(const TokenMap& map) {
  std::vector<std::size_t> starts;
  for (std::size_t token = 1; token < map.size(); ++token) {
    if (map.is_word_start(token)) starts.push_back(token);
  }
  return starts;
}

std::vector<std::size_t> sentence_tokens(const TokenMap& map) {
  return tokens_at(map, tokenizers::sentence_starts(map.text()));
}

// The cosine below which a chunk ends.
double least_cosine(const std::vector<double>& cosines, const ChunkOptions& options) {
  if (!options.percentile) return options.threshold;
  if (cosines.empty()) return 0;
  std::vector<double> sorted = cosines;
  std::ranges::sort(sorted);
  // Between two of them, as numpy.percentile does by default.
  const double place = *options.percentile / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

// Counts code points up to byte offsets that ascend.
class CodePointCounter {
 public:
  explicit CodePointCounter(std::string_view text) : text_(text) {}
  std::size_t at(std::size_t byte) {
    count_ += tokenizers::count_code_points(text_.substr(byte_, byte - byte_));
    byte_ = byte;
    return count_;
  }

 private:
  std::string_view text_;
  std::size_t byte_ = 0, count_ = 0;
};

}  // namespace

void check_chunk_options(const ChunkOptions& options) {
  if (options.target_tokens == 0) throw Error(ErrorCode::invalid_argument, "target_tokens is 0; it is at least 1");
  if (options.max_chunks == std::size_t{0})
    throw Error(ErrorCode::invalid_argument, "max_chunks is 0; it is at least 1");
  const bool overlaps = options.method != ChunkMethod::semantic && options.method != ChunkMethod::classifier;
  if (overlaps && overlap_of(options) >= options.target_tokens)
    throw make_error(ErrorCode::invalid_argument, "overlap_tokens is ", overlap_of(options),
                     "; it must be less than target_tokens, ", options.target_tokens);
  if (!std::isfinite(options.threshold))
    throw Error(ErrorCode::invalid_argument, "threshold is not a number; it is a cosine, -1 to 1");
  if (options.percentile && !(*options.percentile >= 0 && *options.percentile <= 100))
    throw make_error(ErrorCode::invalid_argument, "percentile is ", *options.percentile, "; it is 0 to 100");
}

PackedChunks plan_chunks(const TokenMap& map, const ChunkOptions& options) {
  const std::vector<std::size_t> words = word_starts(map);
  if (options.method == ChunkMethod::sentence) {
    const std::vector<std::size_t> sentences = sentence_tokens(map);
    return join_pieces(map, pieces_between(map, sentences), limits_of(options), words, sentences);
  }
  const std::vector<Piece> pieces =
      options.method == ChunkMethod::recursive
          ? structural_pieces(map, options.target_tokens)
          : pieces_between(map, tokens_at(map, section_starts(map.text(), options.separator)));
  return join_pieces(map, pieces, limits_of(options), words, words);
}

Sentences sentences_of(const TokenMap& map) {
  Sentences found;
  found.pieces = pieces_between(map, sentence_tokens(map));
  for (const Piece& piece : found.pieces) {
    const auto [first, end] = map.bytes_of(piece.first, piece.end);
    found.texts.push_back(map.text().substr(first, end - first));
  }
  return found;
}

PackedChunks plan_semantic_chunks(const TokenMap& map, Sentences sentences, std::span<const float> vectors,
                                  const ChunkOptions& options) {
  const std::size_t count = sentences.pieces.size();
  if (count == 0) return {};
  const std::size_t width = vectors.size() / count;
  std::vector<double> cosines;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const auto a = vectors.subspan(i * width, width), b = vectors.subspan((i + 1) * width, width);
    cosines.push_back(std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
  }
  const double least = least_cosine(cosines, options);
  for (std::size_t i = 1; i < count; ++i) {
    const bool is_other = !(cosines[i - 1] >= least);
    sentences.pieces[i].group = sentences.pieces[i - 1].group + (is_other ? 1 : 0);
  }
  PackingLimits limits = limits_of(options);
  limits.overlap = 0;
  return join_pieces(map, sentences.pieces, limits, word_starts(map), {});
}

PackedChunks plan_divided_chunks(const TokenMap& map, std::span<const std::size_t> starts,
                                 const ChunkOptions& options) {
  std::vector<Piece> pieces = pieces_between(map, tokens_at(map, starts));
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].group = i;
  PackingLimits limits = limits_of(options);
  limits.overlap = 0;
  return join_pieces(map, pieces, limits, word_starts(map), {});
}

std::size_t bytes_of_chunks(const TokenMap& map, const PackedChunks& packed) {
  std::size_t bytes = 0;
  for (const TokenRange& range : packed.ranges) {
    const auto [first, end] = map.bytes_of(range.first, range.end);
    bytes += end - first;
  }
  return bytes;
}

Chunks place_chunks(const TokenMap& map, const PackedChunks& packed) {
  Chunks result{.tokens = map.size(), .truncated = packed.truncated};
  CodePointCounter starts(map.text()), ends(map.text());
  for (const TokenRange& range : packed.ranges) {
    const auto [first, end] = map.bytes_of(range.first, range.end);
    result.chunks.push_back({.text = {},
                             .start = starts.at(first),
                             .end = ends.at(end),
                             .byte_start = first,
                             .byte_end = end,
                             .tokens = range.end - range.first});
  }
  return result;
}

Chunks cut_chunks(const TokenMap& map, const PackedChunks& packed) {
  AnswerBudget budget;
  for (const TokenRange& range : packed.ranges) {
    const auto [first, end] = map.bytes_of(range.first, range.end);
    budget.add(end - first);
  }
  Chunks result = place_chunks(map, packed);
  for (Chunk& chunk : result.chunks)
    chunk.text = map.text().substr(chunk.byte_start, chunk.byte_end - chunk.byte_start);
  return result;
}

}  // namespace pipelines
}  // namespace alate
