// The stages of EmbeddingPipeline::embed one by one, for code that batches the texts of many callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "backends/backend.h"
#include "pipelines/modules.h"
#include "runtime/loading/loaded_model.h"

namespace alate {

struct EmbeddingPipeline::State {
  State(Model loaded, Tokenizer tokens, pipelines::EmbeddingModules read);

  Model model;
  Tokenizer tokenizer;
  pipelines::EmbeddingModules modules;
  std::size_t max_length = 0;
  std::size_t dimensions = 0;

  /// The entry point that ends in the folder's modules, with or without normalization; compiled at first use.
  std::shared_ptr<const runtime::EntryPoint> entry_point(bool normalize) const;
};

}  // namespace alate

namespace alate::pipelines {

/// A pipeline, and its model while it has no other owner.
struct LoadedPipeline {
  EmbeddingPipeline pipeline;
  std::shared_ptr<Model::State> model;
};
/// EmbeddingPipeline::load for any dtype but auto, which is treated as no dtype.
LoadedPipeline load_pipeline(const std::filesystem::path& folder, const LoadOptions& options);

/// Texts as the model takes them.
struct TokenizedTexts {
  std::vector<std::vector<std::int32_t>> rows;  // special tokens included
  std::vector<std::size_t> truncated;           // indices of truncated texts, ascending
  std::size_t pool_skip = 0;                    // leading tokens of each row that pooling leaves out
};

/// Prepends the prompt, truncates and tokenizes the texts as in `options`, in parallel on the shared pool. Throws as
/// EmbeddingPipeline::embed.
TokenizedTexts tokenize_texts(const EmbeddingPipeline& pipeline, std::span<const std::string> texts,
                              const EmbedOptions& options);
TokenizedTexts tokenize_texts(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                              const EmbedOptions& options);

/// Whether vectors are normalized to length 1 with these options.
bool normalizes(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

/// Throws invalid_argument when the options ask for more dimensions than the model's vectors have.
void check_dimensions(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

struct EmbeddingRow {
  std::span<const std::int32_t> ids;
  std::int32_t pool_skip = 0;
};

/// Runs one batch; returns f32 [rows, dimensions of the model]. A row gives the same bits in any batch. Throws
/// invalid_argument naming the row for an id that the model does not have, cancelled.
Tensor run_embedding_rows(const EmbeddingPipeline& pipeline, std::span<const EmbeddingRow> rows, bool normalize,
                          const backends::RunOptions& options);

/// EmbeddingPipeline::embed and embed_tokens; `run` is passed to each batch's run. Throws as those, and cancelled.
Embeddings embed_texts(const EmbeddingPipeline& pipeline, std::span<const std::string> texts,
                       const EmbedOptions& options, const backends::RunOptions& run);
Embeddings embed_texts(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                       const EmbedOptions& options, const backends::RunOptions& run);
Embeddings embed_rows(const EmbeddingPipeline& pipeline, std::span<const std::vector<std::int32_t>> rows,
                      const EmbedOptions& options, const backends::RunOptions& run);

/// Makes the leading numbers of a vector, `kept`, a vector of its own, rescaled to length 1 if the whole one was
/// `normalized`. In place.
void shorten_vector(std::span<float> kept, bool normalized);

}  // namespace alate::pipelines
