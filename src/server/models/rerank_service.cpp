#include "server/models/rerank_service.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "pipelines/rerank/rerank_rows.h"
#include "pipelines/task_head.h"
#include "server/refuse.h"

namespace alate::server {
namespace {

// The query is tokenized with each text.
constexpr std::size_t kMostTokenizedBytes = std::size_t{64} << 20;

class Reranking final : public ModelCall {
 public:
  Reranking(Call& call, RerankRequest request, std::function<Response(RerankAnswer)> format)
      : ModelCall(call), request_(std::move(request)), format_(std::move(format)) {
    options_.raw_scores = request_.raw_scores;
    options_.truncation_side = request_.truncation_side;
  }

 private:
  const ModelRequest& request() const override { return request_; }
  ModelAnswer& answer() override { return answer_; }

  Inputs inputs() const override {
    Inputs given{.count = request_.texts.size(), .bytes = request_.query.size() * request_.texts.size()};
    for (const std::string& text : request_.texts) given.bytes += text.size();
    return given;
  }

  bool may_compile() const override { return true; }

  void accept() override {
    if (const std::size_t bytes = inputs().bytes; bytes > kMostTokenizedBytes) {
      refuse(Problem::Kind::too_large,
             "query has " + std::to_string(request_.query.size()) + " bytes and is read with each of " +
                 std::to_string(request_.texts.size()) + " texts, " + std::to_string(bytes) +
                 " bytes in all; this route takes " + std::to_string(kMostTokenizedBytes) +
                 ": shorten the query, or send fewer texts",
             "query");
    }
  }

  pipelines::PreparedRows prepare() override {
    try {
      reranker_ = answer_.model->pipelines.reranker();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      refuse(Problem::Kind::impossible, error.message(), "model");
    }
    const std::vector<std::string_view> texts(request_.texts.begin(), request_.texts.end());
    return pipelines::prepare_rerank(*reranker_, request_.query, texts, options_, base::Cancellation::never());
  }

  std::string excess() const override {
    return " has, with the query, more than the " + std::to_string(reranker_->max_length()) +
           " tokens that the model takes";
  }

  std::shared_ptr<const runtime::BatchProgram> program() override {
    std::string().swap(request_.query);
    std::vector<std::string>().swap(request_.texts);
    return pipelines::task_entry_point(reranker_->model().state(), pipelines::Task::rerank);
  }

  void take(std::vector<float> values) override { answer_.scores = std::move(values); }

  Response respond() override {
    pipelines::finish_rerank(options_, answer_.scores);
    reranker_.reset();
    return format_(std::move(answer_));
  }

  RerankRequest request_;
  RerankOptions options_;
  std::optional<RerankPipeline> reranker_;
  RerankAnswer answer_;
  const std::function<Response(RerankAnswer)> format_;
};

}  // namespace

void rerank(Call& call, RerankRequest request, std::function<Response(RerankAnswer)> format) {
  std::make_shared<Reranking>(call, std::move(request), std::move(format))->start();
}

}  // namespace alate::server
