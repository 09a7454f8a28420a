// The stages of EmbeddingPipeline::embed, embed_kinds and embed_tokens (pipelines/calls/task_run.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/embedding_kinds.h"
#include "backends/backend.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/embed/kind_rows.h"

namespace alate::pipelines {

/// What is embedded: texts, or rows of token ids in their place.
struct EmbedInputs {
  std::vector<std::string_view> texts = {};
  std::vector<std::vector<std::int32_t>> rows = {};
  /// Whether rows get the special tokens that they lack, and are cut as texts are; else they are computed as they are.
  bool frames_rows = false;

  std::size_t size() const { return rows.empty() ? texts.size() : rows.size(); }
};

class EmbedRun final : public TaskRun {
 public:
  /// Tokens: the vectors of all tokens before pooling, in place of one for each text; of dense embeddings only.
  enum class Vectors : std::uint8_t { of_texts, of_tokens };

  /// The first `prepare` reads all texts. Throws as require_kinds.
  EmbedRun(const EmbeddingPipeline& pipeline, EmbedInputs inputs, const EmbedOptions& options,
           const EmbeddingKinds& kinds = EmbeddingKinds::only(EmbeddingKind::dense),
           Vectors vectors = Vectors::of_texts);

  std::shared_ptr<const runtime::BatchProgram> program() const override { return entry_point(); }
  /// Compiles it at its first use. Other kinds of embeddings have one once their rows are made.
  std::shared_ptr<const runtime::EntryPoint> entry_point() const;
  std::size_t size() const override { return size_; }
  std::string excess() const override;

  /// Numbers of a dense vector of the answer.
  std::size_t dimensions() const;
  /// The answer, once all pieces are finished; it can be taken once.
  KindEmbeddings take_embeddings();
  /// Its dense vectors in place of a tensor: [texts, kept_dimensions], or of all tokens. REQUIRES: only dense vectors
  /// are asked for.
  std::vector<float> take_vectors() { return std::move(vectors_); }

 private:
  Pieces pieces() const override { return is_plain_ ? Pieces::whole : Pieces::of_all_texts; }
  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;

  PreparedRows prepared_rows(const base::Cancellation& cancellation);

  const EmbeddingPipeline pipeline_;
  EmbedInputs inputs_;  // until their rows are made
  const std::size_t size_;
  const EmbedOptions options_;
  const EmbeddingKinds kinds_;
  const bool is_plain_;  // only dense vectors are asked for
  const Vectors of_;
  std::optional<KindReader> reader_;            // of other kinds
  std::vector<std::vector<std::int32_t>> ids_;  // of each row, for the reader
  std::vector<std::size_t> windows_, weights_;  // PreparedRows::inputs and weights
  std::vector<float> vectors_;
};

/// EmbeddingPipeline::embed_kinds with a backend's options for each run. Throws as that, and cancelled.
KindEmbeddings embed_texts(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                           const EmbeddingKinds& kinds, const EmbedOptions& options, const backends::RunOptions& run);

/// How the rows of a call are batched.
inline runtime::RowBudget row_budget(const EmbedOptions& options) {
  return {.tokens = options.batch_tokens, .rows = options.batch_size};
}

}  // namespace alate::pipelines
