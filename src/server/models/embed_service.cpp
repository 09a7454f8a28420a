#include "server/models/embed_service.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "formats/json.h"
#include "pipelines/embedding_rows.h"
#include "server/failure.h"
#include "server/metrics/model_statistics.h"
#include "server/models/request_tokens.h"
#include "server/refuse.h"

namespace alate::server {
namespace {

// Below these sizes work is done on the current thread: handing it over would take longer.
constexpr std::size_t kSmallText = std::size_t{16} << 10;  // bytes
constexpr std::size_t kSmallAnswer = 16384;                // numbers

constexpr std::size_t kMostTokenNumbers = std::size_t{4} << 20;  // some 50 MB of JSON

/// One request, from its arrival at the service to its answer.
class Embedding : public std::enable_shared_from_this<Embedding> {
 public:
  Embedding(Call& call, EmbedRequest request, std::function<Response(EmbedAnswer)> format)
      : services_(call.services),
        exchange_(call.exchange),
        family_(call.route.family),
        request_(std::move(request)),
        format_(std::move(format)) {}

  void start() {
    check_count();
    const Clock::time_point asked = Clock::now();
    services_.models.acquire(
        request_.model, request_.backend,
        [self = shared_from_this(), asked](const std::shared_ptr<HostedModel>& model, const std::exception_ptr& error) {
          self->guarded([&] {
            if (error) std::rethrow_exception(error);
            self->answer_.model = model;
            const auto waited = Clock::now() - asked;
            if (waited > std::chrono::milliseconds(1)) self->answer_.load = waited;
            self->prepare();
          });
        });
  }

 private:
  // Runs a step; an exception becomes the answer.
  template <typename Step>
  void guarded(const Step& step) {
    try {
      step();
    } catch (...) {
      fail(*exchange_, family_, std::current_exception());
    }
  }

  template <typename Step>
  void on_work_queue(Step step) {
    services_.work.push([self = shared_from_this(), step = std::move(step)] { self->guarded([&] { step(*self); }); });
  }

  std::size_t inputs() const { return std::max(request_.texts.size(), request_.token_rows.size()); }

  void check_count() const {
    const std::size_t count = inputs();
    if (count <= services_.settings.max_inputs) return;
    refuse(Problem::Kind::too_many,
           request_.parameter + " has " + std::to_string(count) + " entries; this server takes " +
               std::to_string(services_.settings.max_inputs) + " in one request: send several",
           request_.parameter);
  }

  void prepare() {
    services_.models.touch(*answer_.model, request_.keep_alive);
    if (exchange_->abandoned()) return;
    if (const std::size_t rows = inputs(); rows > 0) count_request(*exchange_, answer_.model->statistics, rows);
    options_ = embed_options();
    std::size_t bytes = 0;
    for (const std::string& text : request_.texts) bytes += text.size();
    for (const auto& row : request_.token_rows) bytes += row.size();
    if (bytes <= kSmallText) return submit();
    on_work_queue([](Embedding& self) {
      if (!self.exchange_->abandoned()) self.submit();
    });
  }

  const EmbeddingPipeline& pipeline() const { return answer_.model->pipeline; }

  EmbedOptions embed_options() const {
    EmbedOptions options;
    options.normalize = request_.normalize;
    options.dimensions = request_.dimensions;
    options.truncation_side = request_.truncation_side;
    options.prompt = request_.prompt;
    options.prompt_name = request_.prompt_name;
    const auto& prompts = pipeline().state().modules.prompts;
    for (const std::string& name : request_.prompt_names) {
      if (!options.prompt_name.empty() || options.prompt) break;
      if (prompts.contains(name)) options.prompt_name = name;
    }
    try {
      pipelines::kept_dimensions(pipeline(), options);
    } catch (const Error& error) {
      refuse(Problem::Kind::impossible, error.message(), "dimensions");
    }
    return options;
  }

  void submit() {
    const Clock::time_point begin = Clock::now();
    pipelines::PreparedRows prepared = prepare_request(pipeline(), request_, options_);
    services_.metrics.truncated(prepared.truncated.size());
    exchange_->stages.tokenize = Clock::now() - begin;

    answer_.truncated = std::move(prepared.truncated);
    answer_.rows = prepared.rows.size();
    answer_.tokens = prepared.tokens();
    for (const runtime::BatchRow& row : prepared.rows) answer_.row_tokens.push_back(row.ids.size());
    // The texts are no longer needed; queued jobs should be small.
    std::vector<std::string>().swap(request_.texts);
    std::vector<std::vector<std::int32_t>>().swap(request_.token_rows);
    runtime::BatchJob job;
    job.program = entry_point();
    job.rows = std::move(prepared.rows);
    job.client = exchange_->client;
    job.deadline = exchange_->deadline();
    job.done = [self = shared_from_this()](runtime::BatchResult result) { self->computed(std::move(result)); };
    // The answer may be sent, releasing the model, while this is still running.
    const std::shared_ptr<HostedModel> model = answer_.model;
    const std::shared_ptr<Exchange> exchange = exchange_;
    const std::uint64_t number = model->scheduler->submit(std::move(job));
    exchange->on_abandon([model, number] { model->scheduler->cancel(number); });
  }

  std::shared_ptr<const runtime::EntryPoint> entry_point() {
    const EmbeddingPipeline::State& state = pipeline().state();
    if (!request_.per_token) return state.entry_point(pipelines::normalizes(pipeline(), options_));
    std::shared_ptr<const runtime::EntryPoint> tokens = state.token_entry_point();
    const std::size_t width = tokens->width().token;
    if (width > 0 && answer_.tokens > kMostTokenNumbers / width) {
      refuse(Problem::Kind::too_many,
             "the answer would have " + std::to_string(answer_.tokens) + " vectors of " + std::to_string(width) +
                 " numbers; at most " + std::to_string(kMostTokenNumbers) + " numbers are sent: send less at a time",
             "inputs");
    }
    return tokens;
  }

  // Runs on the scheduler's thread.
  void computed(runtime::BatchResult result) {
    guarded([&] {
      if (result.error) std::rethrow_exception(result.error);
      exchange_->stages.queue += result.queue;
      exchange_->stages.compute = result.compute;
      exchange_->stages.computed = true;
      answer_.vectors = std::move(result.values);
      answer_.dimensions =
          answer_.tokens > 0 && request_.per_token ? answer_.vectors.size() / answer_.tokens : pipeline().dimensions();
      if (answer_.vectors.size() <= kSmallAnswer) return respond();
      on_work_queue([](Embedding& self) { self.respond(); });
    });
  }

  void respond() {
    if (exchange_->abandoned()) return;
    if (!request_.per_token) {
      answer_.vectors.resize(pipelines::finish_embedding(pipeline(), options_, answer_.vectors));
      answer_.dimensions = pipelines::kept_dimensions(pipeline(), options_);
    }
    answer_.total = Clock::now() - exchange_->received();
    const std::shared_ptr<HostedModel> model = answer_.model;
    const Clock::time_point begin = Clock::now();
    Response response = format_(std::move(answer_));
    exchange_->stages.format = Clock::now() - begin;
    response.headers.set("X-Model-Fingerprint", to_string(model->pipeline.model().fingerprint()));
    services_.models.touch(*model, request_.keep_alive);
    exchange_->reply(std::move(response));
  }

  Services& services_;
  const std::shared_ptr<Exchange> exchange_;
  const Family family_;
  EmbedRequest request_;
  EmbedOptions options_;
  EmbedAnswer answer_;
  const std::function<Response(EmbedAnswer)> format_;
};

}  // namespace

void embed(Call& call, EmbedRequest request, std::function<Response(EmbedAnswer)> format) {
  if (request.backend.empty()) request.backend = call.body.get_string("backend", "");
  std::make_shared<Embedding>(call, std::move(request), std::move(format))->start();
}

VectorRows take_vectors(EmbedAnswer& answer) { return {std::move(answer.vectors), answer.rows, answer.dimensions}; }

void append_vector(std::string& out, std::span<const float> row) {
  out += '[';
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    formats::append_json_number(out, row[i]);
  }
  out += ']';
}

}  // namespace alate::server
