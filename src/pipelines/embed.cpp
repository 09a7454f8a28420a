#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>

#include "alate/embedding.h"
#include "alate/error.h"
#include "base/threads/thread_pool.h"
#include "pipelines/embedding_graph.h"
#include "pipelines/embedding_rows.h"
#include "pipelines/modules.h"
#include "runtime/batching/packing.h"
#include "runtime/loading/loaded_model.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {

EmbeddingPipeline::State::State(Model loaded, Tokenizer tokens, pipelines::EmbeddingModules read)
    : model(std::move(loaded)), tokenizer(std::move(tokens)), modules(std::move(read)) {}

std::shared_ptr<const runtime::EntryPoint> EmbeddingPipeline::State::entry_point(bool normalize) const {
  return pipelines::embedding_entry_point(model.state(), modules, normalize);
}

namespace {

using Row = std::vector<std::int32_t>;

// Indices of the rows, longest first; rows of equal length keep their order.
std::vector<std::size_t> by_length(std::span<const Row> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].size() > rows[b].size(); });
  return order;
}

// The end of the batch that begins at `begin`: as many rows as the budgets allow, at least one.
std::size_t batch_end(std::span<const Row> rows, const std::vector<std::size_t>& order, std::size_t begin,
                      const EmbedOptions& options) {
  std::size_t tokens = 0, end = begin;
  while (end < order.size()) {
    tokens += rows[order[end]].size();
    const bool full = tokens > options.batch_tokens || (options.batch_size > 0 && end - begin >= options.batch_size);
    if (full && end > begin) break;
    ++end;
  }
  return end;
}

// The first `kept` columns.
Tensor shortened(const Tensor& vectors, std::size_t kept, bool normalized) {
  const auto rows = static_cast<std::size_t>(vectors.extent(0)), width = static_cast<std::size_t>(vectors.extent(1));
  Tensor result = Tensor::uninitialized({DType::f32, {vectors.extent(0), static_cast<std::int64_t>(kept)}});
  const std::span<const float> from = vectors.values<float>();
  const std::span<float> to = result.mutable_values<float>();
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * width), kept,
                to.begin() + static_cast<std::ptrdiff_t>(i * kept));
    pipelines::shorten_vector(to.subspan(i * kept, kept), normalized);
  }
  return result;
}

const std::string& prompt_of(const pipelines::EmbeddingModules& modules, const EmbedOptions& options) {
  static const std::string none;
  if (options.prompt) return *options.prompt;
  const std::string& name = options.prompt_name.empty() ? modules.default_prompt : options.prompt_name;
  if (name.empty()) return none;
  const auto found = modules.prompts.find(name);
  if (found != modules.prompts.end()) return found->second;
  std::string known;
  for (const auto& [other, text] : modules.prompts) known += (known.empty() ? "" : ", ") + other;
  throw make_error(ErrorCode::invalid_argument, "the model has no prompt '", name, "': it has ",
                   known.empty() ? "none" : known);
}

Embeddings run_rows(const EmbeddingPipeline& pipeline, std::span<const Row> rows, std::size_t pool_skip,
                    const EmbedOptions& options, const backends::RunOptions& run) {
  pipelines::check_dimensions(pipeline, options);
  if (options.batch_tokens < 1) throw Error(ErrorCode::invalid_argument, "batch_tokens must be at least 1");
  const bool normalize = pipelines::normalizes(pipeline, options);
  const std::size_t dimensions = pipeline.dimensions(), row_bytes = dimensions * sizeof(float);
  Embeddings result;
  result.vectors =
      Tensor::zeros({DType::f32, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(dimensions)}});
  const std::vector<std::size_t> order = by_length(rows);
  std::vector<pipelines::EmbeddingRow> batch;
  for (std::size_t begin = 0; begin < order.size();) {
    const std::size_t end = batch_end(rows, order, begin, options);
    batch.clear();
    for (std::size_t i = begin; i < end; ++i) {
      batch.push_back({rows[order[i]], static_cast<std::int32_t>(pool_skip)});
      result.tokens += rows[order[i]].size();
    }
    const Tensor vectors = pipelines::run_embedding_rows(pipeline, batch, normalize, run);
    for (std::size_t i = begin; i < end; ++i) {
      std::memcpy(result.vectors.mutable_bytes().data() + order[i] * row_bytes,
                  vectors.bytes().data() + (i - begin) * row_bytes, row_bytes);
    }
    begin = end;
  }
  if (options.dimensions && *options.dimensions < dimensions)
    result.vectors = shortened(result.vectors, *options.dimensions, normalize);
  return result;
}

}  // namespace

namespace pipelines {

TokenizedTexts tokenize_texts(const EmbeddingPipeline& pipeline, std::span<const std::string> texts,
                              const EmbedOptions& options) {
  return tokenize_texts(pipeline, std::vector<std::string_view>(texts.begin(), texts.end()), options);
}

TokenizedTexts tokenize_texts(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                              const EmbedOptions& options) {
  const EmbeddingPipeline::State& state = pipeline.state();
  const std::string& prompt = prompt_of(state.modules, options);
  const std::size_t positions = state.model.facts().max_positions;
  const std::size_t limit = options.max_length.value_or(state.max_length);
  if (limit > positions)
    throw make_error(ErrorCode::invalid_argument, "max_length is ", limit, " but the model has ", positions,
                     " positions");
  EncodeOptions encode;
  encode.max_length = limit;
  encode.side = options.truncation_side;
  encode.with_offsets = false;
  encode.with_tokens = false;
  const auto ids_of = [&](std::string_view text, bool& truncated) {
    const std::string lower = state.modules.lower_case ? tokenizers::lower_cased(text) : std::string();
    Encoding encoding = state.tokenizer.encode(state.modules.lower_case ? std::string_view(lower) : text, encode);
    truncated = encoding.truncated;
    return std::move(encoding.ids);
  };

  TokenizedTexts result;
  result.rows.resize(texts.size());
  std::vector<std::uint8_t> truncated(texts.size());
  constexpr std::size_t kTextsAtATime = 16;
  base::ThreadPool::shared().parallel_for(
      (texts.size() + kTextsAtATime - 1) / kTextsAtATime, state.model.state().options.threads,
      [&](std::size_t part, std::size_t) {
        for (std::size_t i = part * kTextsAtATime; i < std::min((part + 1) * kTextsAtATime, texts.size()); ++i) {
          bool cut = false;
          result.rows[i] = prompt.empty() ? ids_of(texts[i], cut) : ids_of(prompt + std::string(texts[i]), cut);
          truncated[i] = cut ? 1 : 0;
        }
      });
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (truncated[i] != 0) result.truncated.push_back(i);
  }
  if (!prompt.empty() && !state.modules.pool_prompt) {
    bool cut = false;
    const std::size_t with_specials = ids_of(prompt, cut).size();
    result.pool_skip = with_specials > 0 ? with_specials - 1 : 0;  // its last special token comes after the text
  }
  return result;
}

bool normalizes(const EmbeddingPipeline& pipeline, const EmbedOptions& options) {
  return options.normalize.value_or(pipeline.state().modules.normalizes());
}

void check_dimensions(const EmbeddingPipeline& pipeline, const EmbedOptions& options) {
  if (options.dimensions && (*options.dimensions < 1 || *options.dimensions > pipeline.dimensions())) {
    throw make_error(ErrorCode::invalid_argument, "dimensions is ", *options.dimensions,
                     " but the model's vectors have ", pipeline.dimensions());
  }
}

Tensor run_embedding_rows(const EmbeddingPipeline& pipeline, std::span<const EmbeddingRow> rows, bool normalize,
                          const backends::RunOptions& options) {
  PackedTokens packed;
  for (const EmbeddingRow& row : rows) {
    packed.ids.insert(packed.ids.end(), row.ids.begin(), row.ids.end());
    packed.lengths.push_back(static_cast<std::int32_t>(row.ids.size()));
    packed.pool_skip.push_back(row.pool_skip);
  }
  return pipeline.state().entry_point(normalize)->run(packed, {}, options).front();
}

Embeddings embed_texts(const EmbeddingPipeline& pipeline, std::span<const std::string> texts,
                       const EmbedOptions& options, const backends::RunOptions& run) {
  return embed_texts(pipeline, std::vector<std::string_view>(texts.begin(), texts.end()), options, run);
}

Embeddings embed_texts(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                       const EmbedOptions& options, const backends::RunOptions& run) {
  run.cancellation.check();
  TokenizedTexts tokenized = tokenize_texts(pipeline, texts, options);
  Embeddings result = run_rows(pipeline, tokenized.rows, tokenized.pool_skip, options, run);
  result.truncated = std::move(tokenized.truncated);
  return result;
}

Embeddings embed_rows(const EmbeddingPipeline& pipeline, std::span<const Row> rows, const EmbedOptions& options,
                      const backends::RunOptions& run) {
  // Here, where rows have the caller's order: they are sorted by length before they are run.
  for (std::size_t row = 0; row < rows.size(); ++row)
    runtime::require_row(rows[row], pipeline.state().model.state().limits, row);
  return run_rows(pipeline, rows, 0, options, run);
}

void shorten_vector(std::span<float> kept, bool normalized) {
  if (!normalized) return;
  double squares = 0;
  for (const float value : kept) squares += double{value} * double{value};
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& value : kept) value = static_cast<float>(value / length);
}

}  // namespace pipelines

Embeddings EmbeddingPipeline::embed(std::span<const std::string> texts, const EmbedOptions& options,
                                    const CallOptions& call) const {
  return pipelines::embed_texts(*this, texts, options, {.cancellation = call.cancellation});
}

Embeddings EmbeddingPipeline::embed(std::span<const std::string_view> texts, const EmbedOptions& options,
                                    const CallOptions& call) const {
  return pipelines::embed_texts(*this, texts, options, {.cancellation = call.cancellation});
}

Embeddings EmbeddingPipeline::embed_tokens(std::span<const std::vector<std::int32_t>> rows, const EmbedOptions& options,
                                           const CallOptions& call) const {
  return pipelines::embed_rows(*this, rows, options, {.cancellation = call.cancellation});
}

std::size_t EmbeddingPipeline::dimensions() const { return state_->dimensions; }
std::size_t EmbeddingPipeline::max_length() const { return state_->max_length; }
const Tokenizer& EmbeddingPipeline::tokenizer() const { return state_->tokenizer; }
const Model& EmbeddingPipeline::model() const { return state_->model; }
const ModelFacts& EmbeddingPipeline::facts() const { return state_->model.facts(); }

}  // namespace alate
