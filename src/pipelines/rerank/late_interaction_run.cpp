#include "pipelines/rerank/late_interaction_run.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "alate/error.h"
#include "alate/late_interaction.h"
#include "alate/tensor.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/kind_rows.h"
#include "pipelines/embed/late_interaction_rows.h"

namespace alate::pipelines {
namespace {

const EmbeddingKinds kTokenVectors = EmbeddingKinds::only(EmbeddingKind::multi_vector);

// Appends rows of `made` to those of a run; of the texts that are too long only the indices.
void append_texts(TextRows& all, PreparedRows made, bool cut_is_error) {
  for (std::size_t i = 0; i < made.rows.size(); ++i) {
    if (cut_is_error && std::ranges::binary_search(made.truncated, i)) {
      all.too_long.push_back(i);
      continue;
    }
    all.inputs.push_back(i);
    all.prepared.rows.push_back(std::move(made.rows[i]));
  }
  if (!cut_is_error) all.prepared.truncated = std::move(made.truncated);
}

}  // namespace

LateInteractionRun::LateInteractionRun(const RerankPipeline& pipeline, std::string_view query,
                                       std::vector<std::string_view> texts, RerankOptions options)
    : RerankRun(texts.size()),
      pipeline_(*pipeline.state().embedding),
      query_(query),
      texts_(std::move(texts)),
      options_(std::move(options)) {
  const std::optional<LongTexts> treatment = options_.long_texts.treatment;
  if (treatment == LongTexts::windows)
    throw Error(ErrorCode::unsupported,
                "a model for late interaction reads the beginning or the end of a long text; choose cut or cut-left, "
                "or split the text: windows");
  query_options_.task = "query";
  query_options_.prompt_name = options_.prompt_name;
  query_options_.prompt = options_.prompt;
  text_options_.task = "document";
  text_options_.max_length = options_.long_texts.max_length;
  if (treatment == LongTexts::cut) text_options_.truncation_side = Side::right;
  if (treatment == LongTexts::cut_left) text_options_.truncation_side = Side::left;
}

std::shared_ptr<const runtime::BatchProgram> LateInteractionRun::program() const {
  return KindReader(pipeline_, kTokenVectors, text_options_).entry_point();
}

std::string LateInteractionRun::excess() const {
  return " has more than the " + std::to_string(late_interaction_length(pipeline_, text_options_)) +
         " tokens that are read at once";
}

TextRows LateInteractionRun::make_rows(const base::Cancellation& cancellation) {
  TextRows all;
  if (texts_.empty()) return all;
  const std::string_view query = query_;
  PreparedRows asked = prepare_embedding(pipeline_, std::span(&query, 1), query_options_, cancellation, limits());
  all.inputs.push_back(0);
  all.prepared.rows.push_back(std::move(asked.rows.front()));
  append_texts(all, prepare_embedding(pipeline_, std::exchange(texts_, {}), text_options_, cancellation, limits()),
               options_.long_texts.treatment == LongTexts::error);
  for (const runtime::BatchRow& row : all.prepared.rows) ids_.push_back(row.ids);
  return all;
}

// The mean of the query's vectors is a cosine where vectors have the length 1.
float LateInteractionRun::scaled(float sum, std::size_t query_vectors) const {
  const bool takes_mean = options_.model_scores && pipeline_.state().modules.similarity == "meanmaxsim";
  if (options_.raw_scores || (options_.model_scores && !takes_mean)) return sum;
  const double mean = query_vectors == 0 ? 0 : double{sum} / static_cast<double>(query_vectors);
  if (takes_mean) return static_cast<float>(mean);
  const auto& module = pipeline_.state().kinds.late_interaction;
  const bool is_cosine = !module || module->normalizes;
  return static_cast<float>(is_cosine ? std::clamp((1 + mean) / 2, 0.0, 1.0) : 1 / (1 + std::exp(-mean)));
}

void LateInteractionRun::take(const RowResults& results) {
  clear_scores();
  if (results.count() == 0) return;
  KindReader queries(pipeline_, kTokenVectors, query_options_), documents(pipeline_, kTokenVectors, text_options_);
  queries.add(ids_.front(), results.of(0));
  for (std::size_t row = 1; row < results.count(); ++row) documents.add(ids_[row], results.of(row));
  const Tensor query = queries.take().multi_vectors.front();
  const std::vector<float> sums = late_interaction_scores(query, documents.take().multi_vectors);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    scores_[results.input(i + 1)] = scaled(sums[i], static_cast<std::size_t>(query.extent(0)));
    raw_scores_[results.input(i + 1)] = sums[i];
  }
}

}  // namespace alate::pipelines
