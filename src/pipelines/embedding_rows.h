// The stages of EmbeddingPipeline::embed one by one, for who batches the texts of many callers.
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

  /// The program that ends in the folder's modules, with their normalization or with the one asked for.
  const runtime::EncoderProgram& program(bool normalize) const;
  /// Takes it as that program, where none has been compiled.
  void keep_program(bool normalize, std::shared_ptr<const runtime::EncoderProgram> program);

 private:
  mutable std::once_flag once_[2];
  mutable std::shared_ptr<const runtime::EncoderProgram> programs_[2];
};

}  // namespace alate

namespace alate::pipelines {

/// A pipeline, and its model while nobody else has it.
struct LoadedPipeline {
  EmbeddingPipeline pipeline;
  std::shared_ptr<Model::State> model;
};
/// EmbeddingPipeline::load for any dtype but auto, which counts as none.
LoadedPipeline load_pipeline(const std::filesystem::path& folder, const LoadOptions& options);

/// Texts as the model takes them.
struct TokenizedTexts {
  std::vector<std::vector<std::int32_t>> rows;  // special tokens included
  std::vector<std::size_t> truncated;           // indices of the texts that were cut, rising
  std::size_t pool_skip = 0;                    // leading tokens of each row that pooling leaves out
};

/// Puts the prompt before the texts, cuts and tokenizes them as `options` say, many at a time on the shared pool.
/// Throws as EmbeddingPipeline::embed.
TokenizedTexts tokenize_texts(const EmbeddingPipeline& pipeline, std::span<const std::string> texts,
                              const EmbedOptions& options);

/// Whether the vectors get length 1 when they are asked for with these options.
bool normalizes(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

/// Throws invalid_argument when the model's vectors do not have so many numbers.
void check_dimensions(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

struct EmbeddingRow {
  std::span<const std::int32_t> ids;
  std::int32_t pool_skip = 0;
};

/// One batch: f32 [rows, dimensions of the model]. The same row gives the same bits in any batch. Throws
/// invalid_argument naming the row for an id that the model does not have, cancelled.
Tensor run_embedding_rows(const EmbeddingPipeline& pipeline, std::span<const EmbeddingRow> rows, bool normalize,
                          const backends::RunOptions& options);

/// EmbeddingPipeline::embed and embed_tokens; `run` goes to each batch's run. Throws cancelled beside what those throw.
Embeddings embed_texts(const EmbeddingPipeline& pipeline, std::span<const std::string> texts,
                       const EmbedOptions& options, const backends::RunOptions& run);
Embeddings embed_rows(const EmbeddingPipeline& pipeline, std::span<const std::vector<std::int32_t>> rows,
                      const EmbedOptions& options, const backends::RunOptions& run);

/// The first `kept` numbers of a vector become a vector of their own, of length 1 where the whole one was. In place.
void shorten_vector(std::span<float> kept, bool normalized);

}  // namespace alate::pipelines
