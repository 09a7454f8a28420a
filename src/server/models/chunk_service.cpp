#include "server/models/chunk_service.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "pipelines/chunk/late_chunking.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/kind_rows.h"
#include "server/exchange/refuse.h"
#include "server/models/request_limits.h"

namespace alate::server {
namespace {

constexpr std::size_t kMostNumbers = std::size_t{16} << 20;         // of sentences or tokens
constexpr std::size_t kMostAnsweredNumbers = std::size_t{4} << 20;  // of chunks: some 50 MB of JSON

class Chunking final : public ModelCall {
 public:
  Chunking(Call& call, ChunkRequest request, std::function<Response(ChunkAnswer)> format)
      : ModelCall(call), request_(std::move(request)), format_(std::move(format)) {}

 private:
  const ModelRequest& request() const override { return request_; }
  ModelAnswer& answer() override { return answer_; }
  std::size_t input_count() const override { return 1; }
  bool is_slow_to_answer() const override { return true; }

  void accept() override {
    try {
      pipeline_ = answer_.model->pipelines.embedding();
      pipelines::require_kinds(*pipeline_, EmbeddingKinds::only(EmbeddingKind::dense));
      if (request_.late) pipelines::check_late_chunking(*pipeline_, request_.embed);
    } catch (const Error& error) {
      refuse(Problem::Kind::impossible, error.message(), "model");
    }
  }

  pipelines::PreparedRows prepare() override {
    const EmbeddingPipeline::State& state = pipeline_->state();
    map_.emplace(request_.text, state.tokenizer, state.modules.transformer.lower_case, cancellation());
    if (request_.late) {
      require_room(map_->size());
      late_.emplace(*pipeline_, map_->ids(), request_.embed);
      return {.rows = late_->rows(), .truncated = {}};
    }
    sentences_ = pipelines::sentences_of(*map_);
    require_room(sentences_.texts.size());
    pipelines::PreparedRows rows =
        pipelines::prepare_embedding(*pipeline_, sentences_.texts, {.task = task()}, cancellation(), kRequestLimits);
    rows.truncated.clear();  // a sentence's beginning is enough to compare it
    return rows;
  }

  std::string task() const { return std::string(pipelines::task_of_chunked(*pipeline_)); }

  // Of so many vectors.
  void require_room(std::size_t count) const {
    const std::size_t most = kMostNumbers / std::max<std::size_t>(pipeline_->state().width, 1);
    if (count <= most) return;
    refuse(Problem::Kind::too_large,
           "text has " + std::to_string(count) + (request_.late ? " tokens" : " sentences") +
               "; with this model at most " + std::to_string(most) + " are compared in one request: send it in parts",
           "text");
  }

  void require_few_vectors(std::size_t chunks) const {
    const std::size_t most = kMostAnsweredNumbers / std::max<std::size_t>(pipeline_->state().width, 1);
    if (chunks <= most) return;
    refuse(Problem::Kind::too_large,
           "the text has " + std::to_string(chunks) + " chunks; with this model's vectors at most " +
               std::to_string(most) + " are sent in one answer: ask for larger chunks (target_tokens), or send the " +
               "text in parts",
           "config");
  }

  std::string excess() const override { return ""; }  // nothing is cut

  std::shared_ptr<const runtime::BatchProgram> program() override {
    if (request_.late) return pipeline_->state().token_entry_point();
    return pipelines::pipeline_for(*pipeline_, task()).state().entry_point(true, task());
  }

  void take(std::vector<float> values) override { values_ = std::move(values); }

  Response respond() override {
    const pipelines::PackedChunks packed =
        request_.late ? pipelines::plan_late_chunks(*pipeline_, *map_, *late_, values_, request_.chunk)
                      : pipelines::plan_semantic_chunks(*map_, std::move(sentences_), values_, request_.chunk);
    answer_.chunks = places_of_answer(*map_, packed);
    answer_.text = std::make_shared<const std::string>(std::exchange(request_.text, {}));
    if (request_.late) require_few_vectors(packed.ranges.size());
    if (request_.late) answer_.vectors = late_->vectors_of(*pipeline_, packed.ranges, values_, request_.embed);
    pipeline_.reset();
    return format_(std::move(answer_));
  }

  ChunkRequest request_;
  std::optional<EmbeddingPipeline> pipeline_;
  std::optional<pipelines::TokenMap> map_;  // of the request's text
  pipelines::Sentences sentences_;
  std::optional<pipelines::LateText> late_;
  std::vector<float> values_;
  ChunkAnswer answer_;
  const std::function<Response(ChunkAnswer)> format_;
};

}  // namespace

void chunk_with_vectors(Call& call, ChunkRequest request, std::function<Response(ChunkAnswer)> format) {
  std::make_shared<Chunking>(call, std::move(request), std::move(format))->start();
}

Chunks places_of_answer(const pipelines::TokenMap& map, const pipelines::PackedChunks& packed) {
  const std::string advice =
      ": ask for larger chunks (target_tokens), fewer (max_chunks) or less overlap, or send the text in parts";
  const std::size_t count = packed.ranges.size();
  if (packed.truncated && count >= kMostChunks)
    refuse(Problem::Kind::too_large,
           "the text has more than " + std::to_string(kMostChunks) + " chunks, the most of one answer" + advice,
           "config");
  const std::size_t bytes = pipelines::bytes_of_chunks(map, packed) + count * pipelines::AnswerBudget::kItemBytes;
  if (bytes > kRequestLimits.answer_bytes)
    refuse(Problem::Kind::too_large,
           "the " + std::to_string(count) + " chunks would take " + std::to_string(bytes) + " bytes; at most " +
               std::to_string(kRequestLimits.answer_bytes) + " are sent" + advice,
           "config");
  return pipelines::place_chunks(map, packed);
}

}  // namespace alate::server
