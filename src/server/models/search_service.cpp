#include "server/models/search_service.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/threads/thread_pool.h"
#include "folders/model_reference.h"
#include "formats/json.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/kind_rows.h"
#include "search/index_identity.h"
#include "search/passage_search.h"
#include "search/question_vectors.h"
#include "server/exchange/failure.h"
#include "server/exchange/refuse.h"
#include "server/models/rerank_service.h"

namespace alate::server {
namespace {

constexpr std::size_t kMostAnsweredBytes = std::size_t{64} << 20;  // of passages

using Format = std::function<Response(SearchAnswer)>;

// The question's vector, and then the passages. One for the question and, if there is a reranker, one more request for
// the passages, which is started when they are known.
class SearchCall final : public ModelCall {
 public:
  SearchCall(Call call, SearchRequest request, std::shared_ptr<const HostedIndex> index, Format format)
      : ModelCall(call),
        call_(std::move(call)),
        request_(std::move(request)),
        index_(std::move(index)),
        format_(std::move(format)) {}

 private:
  const ModelRequest& request() const override { return request_; }
  ModelAnswer& answer() override { return answer_; }
  std::size_t input_count() const override { return 1; }
  bool is_slow_to_answer() const override { return true; }

  const EmbeddingPipeline& pipeline() const { return answer_.model->pipelines.embedding(); }

  pipelines::PreparedRows prepare() override {
    index_->require_model(answer_.model);
    try {
      kinds_ = search::kinds_of_mode(index_->file(), request_.options.mode);
    } catch (const Error& error) {
      refuse(Problem::Kind::impossible, error.message(), "mode");
    }
    const std::string_view question = request_.question;
    pipelines::PreparedRows prepared =
        pipelines::prepare_embedding(pipeline(), std::span(&question, 1), options_, exchange().cancellation());
    ids_ = prepared.rows.front().ids;
    return prepared;
  }
  std::string excess() const override { return pipelines::embedding_excess(pipeline(), options_); }
  std::shared_ptr<const runtime::BatchProgram> program() override {
    if (kinds_ == EmbeddingKinds::only(EmbeddingKind::dense))
      return pipelines::pipeline_for(pipeline(), options_.task)
          .state()
          .entry_point(pipelines::normalizes(pipeline(), options_), options_.task);
    reader_.emplace(pipeline(), kinds_, options_);
    return reader_->entry_point();
  }
  void take(std::vector<float> values) override { values_ = std::move(values); }

  // Makes the question's vectors of the numbers.
  void read_question() {
    if (!reader_) {
      values_.resize(pipelines::finish_embedding(pipeline(), options_, values_));
      return;
    }
    reader_->add(ids_, values_);
    KindEmbeddings read = reader_->take();
    const std::span<const float> dense = kinds_.dense ? read.dense.values<float>() : std::span<const float>();
    values_.assign(dense.begin(), dense.end());
    if (kinds_.sparse) sparse_ = std::move(read.sparse.front());
  }

  void find_passages() {
    read_question();
    const std::vector<search::RowScore> passages =
        search::nearest_passages(index_->file(), kinds_, values_, sparse_,
                                 search::candidates_of(request_.options, !request_.rerank_model.empty()),
                                 base::ThreadPool::shared(), exchange().cancellation());
    std::size_t bytes = 0;
    for (const search::RowScore& passage : passages) bytes += index_->file().text(passage.row).size();
    if (bytes > kMostAnsweredBytes)
      refuse(Problem::Kind::too_many,
             "the passages have " + std::to_string(bytes) + " bytes; this route answers with " +
                 std::to_string(kMostAnsweredBytes) + ": ask for fewer",
             "top_k");
    results_ = search::results_of(index_->file(), request_.question, passages);
  }

  bool hand_over() override {
    find_passages();
    if (request_.rerank_model.empty() || results_.empty()) return false;
    RerankRequest rerank_request;
    rerank_request.model = request_.rerank_model;
    rerank_request.keep_alive = request_.keep_alive;
    rerank_request.parameter = "top_k";
    rerank_request.query = request_.question;
    for (const SearchResult& result : results_) rerank_request.texts.push_back(result.text);
    rerank(call_, std::move(rerank_request),
           [self = std::static_pointer_cast<SearchCall>(shared_from_this())](const RerankAnswer& answer) {
             Response response =
                 self->format_({.index = *self->index_,
                                .model = self->answer_,
                                .reranker = &answer.task,
                                .results = search::reranked(std::move(self->results_), answer.scores, answer.raw_scores,
                                                            self->request_.options.top)});
             response.headers.set("X-Model-Fingerprint", to_string(self->answer_.model->pipelines.fingerprint()));
             response.headers.set("X-Rerank-Model-Fingerprint", to_string(answer.task.model->pipelines.fingerprint()));
             return response;
           });
    return true;
  }

  Response respond() override { return format_({.index = *index_, .model = answer_, .results = std::move(results_)}); }

  Call call_;
  SearchRequest request_;
  const std::shared_ptr<const HostedIndex> index_;
  const Format format_;
  const EmbedOptions options_ = search::question_options();
  ModelAnswer answer_;
  EmbeddingKinds kinds_;
  std::optional<pipelines::KindReader> reader_;  // where sparse vectors are compared
  std::vector<std::int32_t> ids_;                // of the question
  std::vector<float> values_;
  SparseEmbedding sparse_;
  std::vector<SearchResult> results_;
};

// The name by which the index knows its model, if that is one that requests may use.
std::string model_of_index(const HostedIndex& index) {
  const std::string& name = index.file().origin().model;
  if (name.empty() || name.starts_with("builtin:") || folders::is_model_name(folders::split_variant(name).model))
    return name;
  refuse(Problem::Kind::impossible,
         "the index " + formats::quoted_name(index.name()) +
             " was made with a model in a folder of its own; say in model what it is called on this server",
         "model");
}

}  // namespace

void search_index(Call& call, SearchRequest request, Format format) {
  call.services.indexes.require(request.index);
  // The disk is not for the transport's thread.
  const std::shared_ptr<Exchange> exchange = call.exchange;
  call.services.work.push(exchange, [call, request = std::move(request), format = std::move(format)]() mutable {
    const std::shared_ptr<Exchange> asked = call.exchange;
    const Family family = call.route.family;
    try {
      std::shared_ptr<const HostedIndex> index = call.services.indexes.open(request.index);
      if (request.model.empty()) request.model = model_of_index(*index);
      std::make_shared<SearchCall>(std::move(call), std::move(request), std::move(index), std::move(format))->start();
    } catch (...) {
      fail(*asked, family, std::current_exception());
    }
  });
}

}  // namespace alate::server
