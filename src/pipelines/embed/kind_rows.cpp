#include "pipelines/embed/kind_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "runtime/loading/loaded_model.h"

namespace alate {
namespace {

// Indices and weights in any order, at most `most` of them, to ascending indices.
SparseEmbedding sparse_of(std::vector<std::pair<std::int32_t, float>> weights, std::optional<std::size_t> most) {
  if (most && *most < weights.size()) {
    const auto end = weights.begin() + static_cast<std::ptrdiff_t>(*most);
    std::ranges::nth_element(weights, end, [](const auto& a, const auto& b) {
      return a.second > b.second || (a.second == b.second && a.first < b.first);
    });
    weights.erase(end, weights.end());
  }
  std::ranges::sort(weights);
  SparseEmbedding sparse;
  for (const auto& [index, weight] : weights) {
    sparse.indices.push_back(index);
    sparse.values.push_back(weight);
  }
  return sparse;
}

// The ids of those that the tokenizer has.
std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, const std::vector<std::string>& tokens) {
  std::vector<std::int32_t> ids;
  for (const std::string& token : tokens) {
    if (const std::optional<std::int32_t> id = tokenizer.token_to_id(token)) ids.push_back(*id);
  }
  return ids;
}

}  // namespace

namespace pipelines {

KindReader::KindReader(const EmbeddingPipeline& pipeline, const EmbeddingKinds& kinds, const EmbedOptions& options)
    : pipeline_(pipeline_for(pipeline, options.task)), kinds_(kinds), options_(options) {
  require_kinds(pipeline, kinds);
  if (options.sparse_top_k && *options.sparse_top_k == 0)
    throw Error(ErrorCode::invalid_argument, "sparse_top_k must be at least 1");
  if (kinds.dense) kept_dimensions(pipeline, options);
  const EmbeddingPipeline::State& state = pipeline_.state();
  is_static_ = state.kinds.is_static(options.task);
  entry_point_ = state.kind_entry_point(kinds, kinds.dense && normalizes(pipeline, options), options.task);
  if (state.kinds.token_weights) left_out_ = ids_of(state.tokenizer, state.kinds.token_weights->left_out);
  if (const auto& module = state.kinds.late_interaction) {
    const bool skips = is_query(options) ? module->skips_in_queries : module->skips_in_documents;
    if (skips) skipped_ = ids_of(state.tokenizer, module->skipped);
  }
  std::ranges::sort(left_out_);
  std::ranges::sort(skipped_);
}

SparseEmbedding KindReader::from_vocabulary(std::span<const float> weights) const {
  std::vector<std::pair<std::int32_t, float>> found;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] != 0) found.emplace_back(static_cast<std::int32_t>(i), weights[i]);
  }
  return sparse_of(std::move(found), options_.sparse_top_k);
}

// The largest numbers, of which those above 0 count.
SparseEmbedding KindReader::from_codes(std::span<const float> codes) const {
  std::vector<std::pair<std::int32_t, float>> found;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] > 0) found.emplace_back(static_cast<std::int32_t>(i), codes[i]);
  }
  return sparse_of(std::move(found), options_.sparse_top_k.value_or(pipeline_.state().kinds.autoencoder->kept));
}

SparseEmbedding KindReader::from_tokens(std::span<const std::int32_t> ids, std::span<const float> weights) const {
  std::vector<std::pair<std::int32_t, float>> found;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if ((is_static_ ? weights[i] != 0 : weights[i] > 0) && !std::ranges::binary_search(left_out_, ids[i]))
      found.emplace_back(ids[i], weights[i]);
  }
  // The largest weight of each token comes first, and stays.
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.first < b.first || (a.first == b.first && a.second > b.second);
  });
  const auto repeated = std::ranges::unique(found, {}, &std::pair<std::int32_t, float>::first);
  found.erase(repeated.begin(), repeated.end());
  return sparse_of(std::move(found), options_.sparse_top_k);
}

Tensor KindReader::vectors_of(std::span<const std::int32_t> ids, std::span<const float> values) const {
  if (ids.empty())
    return Tensor::zeros(
        {DType::f32, {0, static_cast<std::int64_t>(entry_point_->numbers(entry_point_->outputs().size() - 1))}});
  const std::size_t width = values.size() / ids.size();
  const std::size_t first = pipeline_.state().kinds.late_interaction ? 0 : 1;
  std::vector<float> kept;
  std::int64_t count = 0;
  for (std::size_t i = first; i < ids.size(); ++i) {
    if (std::ranges::binary_search(skipped_, ids[i])) continue;
    const std::span<const float> vector = values.subspan(i * width, width);
    kept.insert(kept.end(), vector.begin(), vector.end());
    ++count;
  }
  return Tensor::from<float>({count, static_cast<std::int64_t>(width)}, std::span<const float>(kept));
}

void KindReader::add(std::span<const std::int32_t> ids, std::span<const float> values) {
  std::size_t output = 0;
  const auto next = [&] {
    const std::size_t count = entry_point_->width(output++, ids.size());
    const std::span<const float> numbers = values.first(count);
    values = values.subspan(count);
    return numbers;
  };
  ++rows_;
  if (kinds_.dense) {
    const std::span<const float> vector = next();
    dense_.insert(dense_.end(), vector.begin(), vector.end());
  }
  if (kinds_.sparse) {
    const KindModules& modules = pipeline_.state().kinds;
    if (modules.autoencoder)
      sparse_.push_back(from_codes(next()));
    else
      sparse_.push_back(modules.splade && !is_static_ ? from_vocabulary(next()) : from_tokens(ids, next()));
  }
  if (kinds_.multi_vector) multi_vectors_.push_back(vectors_of(ids, next()));
}

KindEmbeddings KindReader::take() {
  KindEmbeddings taken;
  if (kinds_.dense) {
    dense_.resize(finish_embedding(pipeline_, options_, dense_));
    taken.dense = Tensor::from<float>(
        {static_cast<std::int64_t>(rows_), static_cast<std::int64_t>(kept_dimensions(pipeline_, options_))},
        std::span<const float>(dense_));
  }
  taken.sparse = std::exchange(sparse_, {});
  taken.multi_vectors = std::exchange(multi_vectors_, {});
  dense_.clear();
  rows_ = 0;
  return taken;
}

void require_no_windows(const EmbedOptions& options) {
  if (options.long_texts == LongTexts::windows)
    throw Error(
        ErrorCode::invalid_argument,
        "windows are joined by the mean of dense vectors, and other kinds are asked for; let long texts be cut or "
        "refused");
}

}  // namespace pipelines

}  // namespace alate
