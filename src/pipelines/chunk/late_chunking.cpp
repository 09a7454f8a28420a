#include "pipelines/chunk/late_chunking.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "alate/error.h"
#include "pipelines/calls/text_frame.h"
#include "pipelines/chunk/chunking.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/kind_rows.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/letter_case.h"

namespace alate::pipelines {
namespace {

constexpr std::size_t kOverlapShare = 4;  // a window shares one token in so many with the one before

// The one pooling that the model's vectors are made with; null where there is more.
const PoolingModule* only_pooling(const EmbeddingModules& modules) {
  if (modules.chain.empty() || modules.chain.size() > 2 || !modules.others.empty()) return nullptr;
  const auto* pooling = std::get_if<PoolingModule>(&modules.chain.front().kind);
  const bool ends_well = modules.chain.size() == 1 || std::holds_alternative<NormalizeModule>(modules.chain[1].kind);
  return pooling != nullptr && ends_well && pooling->modes.size() == 1 ? pooling : nullptr;
}

bool is_of_tokens(graph::PoolMode mode) {
  return mode == graph::PoolMode::mean || mode == graph::PoolMode::max || mode == graph::PoolMode::mean_sqrt_len;
}

std::vector<std::int32_t> prompt_ids(const EmbeddingPipeline& pipeline, const EmbedOptions& options) {
  const std::string& prompt = embedding_prompt(pipeline, options);
  if (prompt.empty()) return {};
  EncodeOptions encode;
  encode.add_special_tokens = encode.with_offsets = encode.with_tokens = false;
  const bool lower_case = pipeline.state().modules.transformer.lower_case;
  return pipeline.tokenizer().encode(lower_case ? tokenizers::lower_cased(prompt) : prompt, encode).ids;
}

}  // namespace

void check_late_chunking(const EmbeddingPipeline& pipeline, const EmbedOptions& options) {
  kept_dimensions(pipeline, options);
  if (!pipeline.state().beside.empty())
    throw make_error(
        ErrorCode::unsupported, "the model '", pipeline.model().state().name,
        "' has a Transformer for each route of its Router, and chunks are made by one; chunk without late, "
        "and embed the chunks: late chunking");
  const PoolingModule* pooling = only_pooling(pipeline.state().modules);
  if (pooling != nullptr && is_of_tokens(pooling->modes.front())) return;
  throw make_error(ErrorCode::unsupported, "the model '", pipeline.model().state().name,
                   "' makes the vector of a text otherwise than by the mean or the maximum of its tokens' vectors, so "
                   "that chunks have none of their own; chunk without late, and embed the chunks: late chunking");
}

LateText::LateText(const EmbeddingPipeline& pipeline, std::span<const std::int32_t> ids, const EmbedOptions& options) {
  const Frame frame = frame_of(pipeline.tokenizer());
  std::vector<std::int32_t> before = frame.before;
  const std::vector<std::int32_t> prompt = prompt_ids(pipeline, options);
  before.insert(before.end(), prompt.begin(), prompt.end());
  const std::size_t limit = embedding_row_limit(pipeline, options), added = before.size() + frame.after.size();
  if (limit < added + 2)
    throw make_error(ErrorCode::invalid_argument, "max_length is ", limit,
                     ", of which the prompt and special tokens take ", added, "; allow more");
  const std::size_t room = limit - added, shared = room / kOverlapShare;
  for (std::size_t first = 0, place = 0; first < ids.size(); first += room - shared) {
    const std::size_t end = std::min(first + room, ids.size());
    runtime::BatchRow& row = rows_.emplace_back(runtime::BatchRow{.ids = before});
    row.ids.insert(row.ids.end(), ids.begin() + static_cast<std::ptrdiff_t>(first),
                   ids.begin() + static_cast<std::ptrdiff_t>(end));
    row.ids.insert(row.ids.end(), frame.after.begin(), frame.after.end());
    // The first half of what two windows share is the earlier one's.
    const bool is_last = end == ids.size();
    windows_.push_back({first, is_last ? end : end - (shared - shared / 2), place + before.size()});
    place += row.ids.size();
    if (is_last) break;
  }
}

Tensor LateText::vectors_of(const EmbeddingPipeline& pipeline, std::span<const TokenRange> chunks,
                            std::span<const float> values, const EmbedOptions& options) const {
  std::size_t computed = 0;
  for (const runtime::BatchRow& row : rows_) computed += row.ids.size();
  const std::size_t width = pipeline.state().width;
  if (values.size() != computed * width)
    throw make_error(ErrorCode::internal, "late chunking got ", values.size(), " numbers for ", computed, " tokens of ",
                     width);
  const graph::PoolMode mode = only_pooling(pipeline.state().modules)->modes.front();
  const bool normalized = normalizes(pipeline, options);
  std::vector<float> vectors;
  std::vector<double> sums(width);
  for (const TokenRange& chunk : chunks) {
    std::ranges::fill(sums, mode == graph::PoolMode::max ? -HUGE_VAL : 0.0);
    auto window = std::ranges::upper_bound(windows_, chunk.first, {}, &Window::end);
    for (std::size_t token = chunk.first; token < chunk.end; ++token) {
      if (token >= window->end) ++window;
      const std::span<const float> vector = values.subspan((window->place + token - window->first) * width, width);
      for (std::size_t i = 0; i < width; ++i)
        sums[i] = mode == graph::PoolMode::max ? std::max(sums[i], double{vector[i]}) : sums[i] + double{vector[i]};
    }
    double divisor = 1;
    const auto count = static_cast<double>(chunk.end - chunk.first);
    if (mode == graph::PoolMode::mean) divisor = count;
    if (mode == graph::PoolMode::mean_sqrt_len) divisor = std::sqrt(count);
    double squares = 0;
    for (double& sum : sums) {
      sum /= divisor;
      squares += sum * sum;
    }
    const double length = normalized ? std::max(std::sqrt(squares), 1e-12) : 1;
    for (const double sum : sums) vectors.push_back(static_cast<float>(sum / length));
  }
  vectors.resize(finish_embedding(pipeline, options, vectors));
  return Tensor::from<float>(
      {static_cast<std::int64_t>(chunks.size()), static_cast<std::int64_t>(kept_dimensions(pipeline, options))},
      std::span<const float>(vectors));
}

PackedChunks plan_late_chunks(const EmbeddingPipeline& pipeline, const TokenMap& map, const LateText& late,
                              std::span<const float> values, const ChunkOptions& options) {
  if (options.method != ChunkMethod::semantic) return plan_chunks(map, options);
  Sentences sentences = sentences_of(map);
  std::vector<TokenRange> ranges;
  for (const Piece& piece : sentences.pieces) ranges.push_back({piece.first, piece.first, piece.end});
  const Tensor vectors = late.vectors_of(pipeline, ranges, values, {.normalize = true});
  return plan_semantic_chunks(map, std::move(sentences), vectors.values<float>(), options);
}

}  // namespace alate::pipelines
