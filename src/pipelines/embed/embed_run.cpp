#include "pipelines/embed/embed_run.h"

#include <numeric>
#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/window_means.h"
#include "runtime/batching/packing.h"
#include "runtime/loading/loaded_model.h"

namespace alate {
namespace pipelines {
namespace {

constexpr EmbeddingKinds kDense{.dense = true};

// Here, where rows have the caller's order: they are sorted by length before they are run.
PreparedRows rows_as_they_are(const EmbeddingPipeline& pipeline, std::vector<std::vector<std::int32_t>> rows,
                              const EmbedOptions& options) {
  const models::EncoderLimits& limits = pipeline_for(pipeline, options.task).model().state().limits();
  PreparedRows prepared;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    runtime::require_row(rows[row], limits, row);
    prepared.rows.push_back({.ids = std::move(rows[row])});
  }
  return prepared;
}

}  // namespace

EmbedRun::EmbedRun(const EmbeddingPipeline& pipeline, EmbedInputs inputs, const EmbedOptions& options,
                   const EmbeddingKinds& kinds, Vectors vectors)
    : pipeline_(pipeline),
      inputs_(std::move(inputs)),
      size_(inputs_.size()),
      options_(options),
      kinds_(kinds),
      is_plain_(kinds == kDense),
      of_(vectors) {
  require_kinds(pipeline_, kinds_);
}

PreparedRows EmbedRun::prepared_rows(const base::Cancellation& cancellation) {
  cancellation.check();
  EmbedInputs inputs = std::exchange(inputs_, {});
  if (inputs.rows.empty()) return prepare_embedding(pipeline_, inputs.texts, options_, cancellation, limits());
  return inputs.frames_rows ? prepare_framed_ids(pipeline_, inputs.rows, options_)
                            : rows_as_they_are(pipeline_, std::move(inputs.rows), options_);
}

TextRows EmbedRun::make_rows(const base::Cancellation& cancellation) {
  TextRows made{.prepared = prepared_rows(cancellation), .inputs = {}, .encodings = {}, .too_long = {}};
  PreparedRows& prepared = made.prepared;
  windows_ = std::exchange(prepared.inputs, {});
  weights_ = std::exchange(prepared.weights, {});
  made.inputs = windows_;
  if (windows_.empty()) {
    made.inputs.resize(prepared.rows.size());
    std::iota(made.inputs.begin(), made.inputs.end(), std::size_t{0});
  }
  if (options_.long_texts == LongTexts::error) made.too_long = std::exchange(prepared.truncated, {});
  if (is_plain_ && of_ == Vectors::of_texts) kept_dimensions(pipeline_, options_);
  if (is_plain_) return made;
  require_no_windows(options_);
  reader_.emplace(pipeline_, kinds_, options_);
  for (const runtime::BatchRow& row : prepared.rows) ids_.push_back(row.ids);
  return made;
}

std::shared_ptr<const runtime::BatchProgram> EmbedRun::program() const {
  if (reader_) return reader_->entry_point();
  const EmbeddingPipeline::State& state = pipeline_for(pipeline_, options_.task).state();
  if (of_ == Vectors::of_tokens) return state.token_entry_point();
  return state.entry_point(normalizes(pipeline_, options_), options_.task);
}

std::string EmbedRun::excess() const { return embedding_excess(pipeline_, options_); }

void EmbedRun::take(const RowResults& results) {
  if (reader_) {
    for (std::size_t row = 0; row < results.count(); ++row)
      reader_->add(ids_[results.first_row() + row], results.of(row));
    return;
  }
  vectors_ = results.take_all();
  if (of_ == Vectors::of_tokens) return;
  vectors_.resize(finish_embedding(pipeline_, options_, vectors_));
  vectors_.resize(join_windows(pipeline_, options_, windows_, weights_, vectors_));
}

std::size_t EmbedRun::dimensions() const {
  if (of_ == Vectors::of_texts) return kept_dimensions(pipeline_, options_);
  return tokens() > 0 ? vectors_.size() / tokens() : pipeline_.dimensions();
}

KindEmbeddings EmbedRun::take_embeddings() {
  KindEmbeddings answer;
  if (reader_) {
    answer = reader_->take();
  } else {
    const auto width = static_cast<std::int64_t>(kept_dimensions(pipeline_, options_));
    answer.dense = Tensor::from<float>({static_cast<std::int64_t>(size_), width}, std::span<const float>(vectors_));
    vectors_ = {};
  }
  answer.truncated = truncated();
  answer.tokens = tokens();
  return answer;
}

KindEmbeddings embed_texts(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                           const EmbeddingKinds& kinds, const EmbedOptions& options, const backends::RunOptions& run) {
  EmbedRun task(pipeline, {.texts = {texts.begin(), texts.end()}}, options, kinds);
  run_task(task, row_budget(options), run);
  return task.take_embeddings();
}

}  // namespace pipelines

namespace {

Embeddings dense_of(KindEmbeddings all) {
  return {.vectors = std::move(all.dense), .truncated = std::move(all.truncated), .tokens = all.tokens};
}

}  // namespace

Embeddings EmbeddingPipeline::embed(std::span<const std::string> texts, const EmbedOptions& options,
                                    const RunControl& control) const {
  return embed(std::vector<std::string_view>(texts.begin(), texts.end()), options, control);
}

Embeddings EmbeddingPipeline::embed(std::span<const std::string_view> texts, const EmbedOptions& options,
                                    const RunControl& control) const {
  return dense_of(embed_kinds(texts, pipelines::kDense, options, control));
}

Embeddings EmbeddingPipeline::embed_tokens(std::span<const std::vector<std::int32_t>> rows, const EmbedOptions& options,
                                           const RunControl& control) const {
  pipelines::EmbedRun run(*this, {.rows = {rows.begin(), rows.end()}}, options);
  pipelines::run_task(run, pipelines::row_budget(options), control);
  return dense_of(run.take_embeddings());
}

KindEmbeddings EmbeddingPipeline::embed_kinds(std::span<const std::string> texts, const EmbeddingKinds& kinds,
                                              const EmbedOptions& options, const RunControl& control) const {
  return embed_kinds(std::vector<std::string_view>(texts.begin(), texts.end()), kinds, options, control);
}

KindEmbeddings EmbeddingPipeline::embed_kinds(std::span<const std::string_view> texts, const EmbeddingKinds& kinds,
                                              const EmbedOptions& options, const RunControl& control) const {
  pipelines::EmbedRun run(*this, {.texts = {texts.begin(), texts.end()}}, options, kinds);
  pipelines::run_task(run, pipelines::row_budget(options), control);
  return run.take_embeddings();
}

EmbeddingKinds EmbeddingPipeline::kinds() const { return state_->kinds.kinds(); }
EmbeddingKind EmbeddingPipeline::main_kind() const { return state_->kinds.main_kind(); }

}  // namespace alate
