#include "alate/chunk.h"

#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"
#include "pipelines/chunk/chunking.h"
#include "pipelines/chunk/late_chunking.h"
#include "pipelines/chunk/separators.h"
#include "pipelines/chunk/token_map.h"
#include "pipelines/embed/embed_run.h"
#include "pipelines/embed/embedding_rows.h"
#include "runtime/run_rows.h"

namespace alate {
namespace {

using pipelines::PackedChunks;
using pipelines::TokenMap;

bool reads_lower_case(const std::optional<EmbeddingPipeline>& pipeline) {
  return pipeline && pipeline->state().modules.transformer.lower_case;
}

PackedChunks plan(const TokenMap& map, const std::optional<EmbeddingPipeline>& pipeline,
                  const std::optional<RecognizePipeline>& recognizer, const ChunkOptions& options,
                  const base::Cancellation& cancellation) {
  if (options.method == ChunkMethod::classifier) {
    if (!recognizer)
      throw Error(ErrorCode::unsupported,
                  "the method classifier asks a model where chunks end; name a model for token classification: "
                  "classifier");
    return pipelines::plan_divided_chunks(map, pipelines::separator_ends(*recognizer, map.text(), cancellation),
                                          options);
  }
  if (options.method != ChunkMethod::semantic) return pipelines::plan_chunks(map, options);
  if (!pipeline)
    throw Error(ErrorCode::unsupported,
                "the method semantic compares sentences by their embeddings; name an embedding model: semantic");
  pipelines::Sentences sentences = pipelines::sentences_of(map);
  const EmbedOptions embed{.normalize = true, .task = std::string(pipelines::task_of_chunked(*pipeline))};
  const KindEmbeddings made = pipelines::embed_texts(
      *pipeline, sentences.texts, EmbeddingKinds::only(EmbeddingKind::dense), embed, {.cancellation = cancellation});
  return pipelines::plan_semantic_chunks(map, std::move(sentences), made.dense.values<float>(), options);
}

}  // namespace

Chunker::Chunker() = default;
Chunker::Chunker(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}
Chunker::Chunker(EmbeddingPipeline pipeline) : tokenizer_(pipeline.tokenizer()), pipeline_(std::move(pipeline)) {}

Chunker::Chunker(RecognizePipeline recognizer)
    : tokenizer_(recognizer.tokenizer()), recognizer_(std::move(recognizer)) {}

Chunks Chunker::chunk(std::string_view text, const ChunkOptions& options, const RunControl& control) const {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    pipelines::check_chunk_options(options);
    const TokenMap map(text, tokenizer_, reads_lower_case(pipeline_), call.cancellation());
    return pipelines::cut_chunks(map, plan(map, pipeline_, recognizer_, options, call.cancellation()));
  });
}

LateChunks Chunker::chunk_late(std::string_view text, const ChunkOptions& options, const EmbedOptions& embed,
                               const RunControl& control) const {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    if (!pipeline_)
      throw Error(ErrorCode::unsupported, "late chunking pools the vectors of an embedding model; name one: late");
    pipelines::check_chunk_options(options);
    pipelines::check_late_chunking(*pipeline_, embed);
    const TokenMap map(text, tokenizer_, reads_lower_case(pipeline_), call.cancellation());
    const pipelines::LateText late(*pipeline_, map.ids(), embed);
    const auto entry_point = pipeline_->state().token_entry_point();
    const runtime::RowBudget budget{.tokens = embed.batch_tokens, .rows = embed.batch_size};
    const runtime::RowValues values = runtime::run_rows(
        *entry_point, late.rows(), budget, {.cancellation = call.cancellation()}, call.computed_of(late.rows().size()));
    const std::span<const float> numbers = values.values.values<float>();
    const PackedChunks packed = pipelines::plan_late_chunks(*pipeline_, map, late, numbers, options);
    LateChunks result{.chunks = pipelines::cut_chunks(map, packed)};
    for (const runtime::BatchRow& row : late.rows()) result.computed += row.ids.size();
    result.vectors = late.vectors_of(*pipeline_, packed.ranges, numbers, embed);
    return result;
  });
}

}  // namespace alate
