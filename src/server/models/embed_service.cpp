#include "server/models/embed_service.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "formats/json.h"
#include "pipelines/embedding_rows.h"
#include "server/failure.h"

namespace alate::server {
namespace {

using Problem = server::Problem;

// Below these sizes work is done on the current thread: handing it over would take longer.
constexpr std::size_t kSmallText = std::size_t{16} << 10;  // bytes
constexpr std::size_t kSmallAnswer = 16384;                // numbers

RequestError refused(Problem::Kind kind, std::string message, std::string parameter) {
  Problem problem;
  problem.kind = kind;
  problem.message = std::move(message);
  problem.parameter = std::move(parameter);
  return RequestError(std::move(problem));
}

// Special tokens that the model's template adds around a single text.
struct Frame {
  std::vector<std::int32_t> before, after;
};

Frame frame_of(const Tokenizer& tokenizer) {
  EncodeOptions options;
  options.with_offsets = options.with_tokens = false;
  const Encoding encoding = tokenizer.encode("a", options);
  Frame frame;
  std::size_t begin = 0, end = encoding.ids.size();
  while (begin < end && encoding.special_mask[begin] != 0) frame.before.push_back(encoding.ids[begin++]);
  while (end > begin && encoding.special_mask[end - 1] != 0) --end;
  frame.after.assign(encoding.ids.begin() + static_cast<std::ptrdiff_t>(end), encoding.ids.end());
  return frame;
}

bool has_frame(const std::vector<std::int32_t>& row, const Frame& frame) {
  return row.size() >= frame.before.size() + frame.after.size() &&
         std::equal(frame.before.begin(), frame.before.end(), row.begin()) &&
         std::equal(frame.after.rbegin(), frame.after.rend(), row.rbegin());
}

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

  void check_count() const {
    const std::size_t count = std::max(request_.texts.size(), request_.token_rows.size());
    if (count <= services_.settings.max_inputs) return;
    throw refused(Problem::Kind::too_many,
                  request_.parameter + " has " + std::to_string(count) + " entries; this server takes " +
                      std::to_string(services_.settings.max_inputs) + " in one request: send several",
                  request_.parameter);
  }

  void prepare() {
    services_.models.touch(*answer_.model, request_.keep_alive);
    if (exchange_->abandoned()) return;
    options_ = embed_options();
    std::size_t bytes = 0;
    for (const std::string& text : request_.texts) bytes += text.size();
    for (const auto& row : request_.token_rows) bytes += row.size();
    if (bytes <= kSmallText) return submit();
    on_work_queue([](Embedding& self) {
      if (!self.exchange_->abandoned()) self.submit();
    });
  }

  std::string place_of(std::size_t input) const {
    return request_.lone ? request_.parameter : request_.parameter + "[" + std::to_string(input) + "]";
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
    if (options.dimensions && (*options.dimensions < 1 || *options.dimensions > pipeline().dimensions())) {
      throw refused(Problem::Kind::impossible,
                    "dimensions is " + std::to_string(*options.dimensions) + "; the model's vectors have " +
                        std::to_string(pipeline().dimensions()),
                    "dimensions");
    }
    return options;
  }

  void submit() {
    const Clock::time_point begin = Clock::now();
    pipelines::TokenizedTexts tokenized;
    if (request_.token_rows.empty()) {
      tokenized = pipelines::tokenize_texts(pipeline(), request_.texts, options_);
    } else {
      tokenized = framed_rows();
    }
    if (!request_.truncate && !tokenized.truncated.empty()) {
      throw refused(Problem::Kind::too_long,
                    place_of(tokenized.truncated.front()) + " has more than the " +
                        std::to_string(pipeline().max_length()) +
                        " tokens that the model takes; shorten it, or allow it to be cut",
                    request_.parameter);
    }
    services_.metrics.truncated(tokenized.truncated.size());
    exchange_->stages.tokenize = Clock::now() - begin;

    answer_.truncated = std::move(tokenized.truncated);
    answer_.rows = tokenized.rows.size();
    runtime::BatchJob job;
    for (auto& row : tokenized.rows) {
      answer_.row_tokens.push_back(row.size());
      answer_.tokens += row.size();
      job.rows.push_back({std::move(row), static_cast<std::int32_t>(tokenized.pool_skip)});
    }
    job.program = pipelines::normalizes(pipeline(), options_) ? 1 : 0;
    job.client = exchange_->client;
    job.deadline = exchange_->deadline();
    job.done = [self = shared_from_this()](runtime::BatchResult result) { self->computed(std::move(result)); };
    // The texts are no longer needed; queued jobs should be small.
    std::vector<std::string>().swap(request_.texts);
    std::vector<std::vector<std::int32_t>>().swap(request_.token_rows);
    // The answer may be sent, releasing the model, while this is still running.
    const std::shared_ptr<HostedModel> model = answer_.model;
    const std::shared_ptr<Exchange> exchange = exchange_;
    const std::uint64_t number = model->scheduler->submit(std::move(job));
    exchange->on_abandon([model, number] { model->scheduler->cancel(number); });
  }

  // Token ids sent by the client, with the model's special tokens added and truncated to its length.
  pipelines::TokenizedTexts framed_rows() {
    const Frame frame = frame_of(pipeline().tokenizer());
    const std::int64_t vocabulary = pipeline().model().state().limits.vocabulary;
    const std::size_t added = frame.before.size() + frame.after.size();
    const std::size_t room = pipeline().max_length() - std::min(pipeline().max_length(), added);
    pipelines::TokenizedTexts result;
    for (std::size_t i = 0; i < request_.token_rows.size(); ++i) {
      std::vector<std::int32_t>& row = request_.token_rows[i];
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (row[j] >= 0 && row[j] < vocabulary) continue;
        throw refused(Problem::Kind::impossible,
                      place_of(i) + "[" + std::to_string(j) + "] is " + std::to_string(row[j]) +
                          "; the model's token ids are 0 to " + std::to_string(vocabulary - 1),
                      request_.parameter);
      }
      const bool framed = has_frame(row, frame);
      const std::ptrdiff_t head = framed ? static_cast<std::ptrdiff_t>(frame.before.size()) : 0;
      const std::ptrdiff_t tail = framed ? static_cast<std::ptrdiff_t>(frame.after.size()) : 0;
      std::span<const std::int32_t> inner(row.begin() + head, row.end() - tail);
      if (inner.size() > room) {
        const bool left = request_.truncation_side == Side::left;
        inner = left ? inner.last(room) : inner.first(room);
        result.truncated.push_back(i);
      }
      std::vector<std::int32_t> whole = frame.before;
      whole.insert(whole.end(), inner.begin(), inner.end());
      whole.insert(whole.end(), frame.after.begin(), frame.after.end());
      result.rows.push_back(std::move(whole));
    }
    return result;
  }

  // Runs on the scheduler's thread.
  void computed(runtime::BatchResult result) {
    guarded([&] {
      if (result.error) std::rethrow_exception(result.error);
      exchange_->stages.queue += result.queue;
      exchange_->stages.compute = result.compute;
      exchange_->stages.computed = true;
      answer_.vectors = std::move(result.values);
      answer_.dimensions = pipeline().dimensions();
      if (answer_.vectors.size() <= kSmallAnswer) return respond();
      on_work_queue([](Embedding& self) { self.respond(); });
    });
  }

  void respond() {
    if (exchange_->abandoned()) return;
    shorten();
    answer_.total = Clock::now() - exchange_->received();
    const std::shared_ptr<HostedModel> model = answer_.model;
    Response response = format_(std::move(answer_));
    response.headers.set("X-Model-Fingerprint", to_string(model->pipeline.model().fingerprint()));
    services_.models.touch(*model, request_.keep_alive);
    exchange_->reply(std::move(response));
  }

  void shorten() {
    const std::size_t kept = options_.dimensions.value_or(answer_.dimensions);
    if (kept == answer_.dimensions) return;
    const bool normalized = pipelines::normalizes(pipeline(), options_);
    std::vector<float>& vectors = answer_.vectors;
    for (std::size_t i = 0; i < answer_.rows; ++i) {
      const auto from = vectors.begin() + static_cast<std::ptrdiff_t>(i * answer_.dimensions);
      const auto to = vectors.begin() + static_cast<std::ptrdiff_t>(i * kept);
      std::copy_n(from, kept, to);
      pipelines::shorten_vector({to, kept}, normalized);
    }
    vectors.resize(answer_.rows * kept);
    answer_.dimensions = kept;
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
