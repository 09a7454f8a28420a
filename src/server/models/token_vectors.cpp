#include "server/models/token_vectors.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/embedding_rows.h"
#include "runtime/forward.h"
#include "server/refuse.h"

namespace alate::server {
namespace {

constexpr std::size_t kMostNumbers = std::size_t{4} << 20;  // some 50 MB of JSON

/// Computes the rows of one request, some at a time, so that a large request leaves room for others. A row's result
/// does not depend on the other rows of its batch.
class TokenRun : public std::enable_shared_from_this<TokenRun> {
 public:
  TokenRun(Services& services, std::shared_ptr<Exchange> exchange, std::shared_ptr<HostedModel> model,
           std::vector<std::vector<std::int32_t>> rows, std::function<void(TokenVectors, std::exception_ptr)> done)
      : services_(services),
        exchange_(std::move(exchange)),
        model_(std::move(model)),
        rows_(std::move(rows)),
        done_(std::move(done)) {}

  void start() {
    on_work_queue([](TokenRun& self) {
      self.prepare();
      self.submit();
    });
  }

 private:
  template <typename Step>
  void on_work_queue(Step step) {
    services_.work.push([self = shared_from_this(), step = std::move(step)] {
      if (self->exchange_->abandoned()) return;
      try {
        step(*self);
      } catch (...) {
        self->done_({}, std::current_exception());
      }
    });
  }

  const Model::State& state() const { return model_->pipeline.model().state(); }

  // The output of the encoder's last layer; ONNX files name it variously.
  void prepare() {
    const std::vector<runtime::ForwardOutput> outputs = runtime::forward_outputs(state());
    const auto hidden = static_cast<std::int64_t>(model_->pipeline.facts().hidden_size);
    const auto chosen = std::ranges::find_if(outputs, [&](const runtime::ForwardOutput& output) {
      if (!output.is_per_token || output.extents.size() != 1) return false;
      return output.name == "last_hidden_state" || output.name == "token_embeddings" ||
             output.extents.front() == hidden;
    });
    if (chosen == outputs.end())
      throw make_error(ErrorCode::unsupported, "the model gives no vectors of single tokens");
    output_ = chosen->name;
    const std::vector<std::string> inputs = runtime::forward_inputs(state());
    takes_mask_ = std::ranges::find(inputs, "attention_mask") != inputs.end();
    if (chosen->extents.front() > 0) set_width(static_cast<std::size_t>(chosen->extents.front()));
  }

  void set_width(std::size_t width) {
    std::size_t tokens = 0;
    for (const auto& row : rows_) tokens += row.size();
    if (width > 0 && tokens > kMostNumbers / width) {
      refuse(Problem::Kind::too_many,
             "the answer would have " + std::to_string(tokens) + " vectors of " + std::to_string(width) +
                 " numbers; at most " + std::to_string(kMostNumbers) + " numbers are sent: send less at a time",
             "inputs");
    }
    result_.width = width;
    result_.values.reserve(tokens * width);
  }

  // Number of the next rows that fit a batch when they are padded to the longest of them.
  std::size_t rows_at_a_time() const {
    if (!takes_mask_) return 1;
    std::size_t count = 0, longest = 0;
    while (done_rows_ + count < rows_.size()) {
      longest = std::max(longest, rows_[done_rows_ + count].size());
      if (count > 0 && (count + 1) * longest > services_.settings.batch_max_tokens) break;
      ++count;
    }
    return count;
  }

  NamedTensors inputs_of(std::span<const std::vector<std::int32_t>> rows, std::size_t length) const {
    std::vector<std::int64_t> ids(rows.size() * length), mask(rows.size() * length);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto from = static_cast<std::ptrdiff_t>(i * length);
      std::ranges::copy(rows[i], ids.begin() + from);
      std::fill_n(mask.begin() + from, rows[i].size(), 1);
    }
    const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(length)};
    NamedTensors inputs;
    inputs.emplace("input_ids", Tensor::from<std::int64_t>(shape, ids));
    if (takes_mask_) inputs.emplace("attention_mask", Tensor::from<std::int64_t>(shape, mask));
    runtime::add_usual_inputs(state(), inputs);
    return inputs;
  }

  void submit() {
    while (done_rows_ < rows_.size() && rows_[done_rows_].empty()) ++done_rows_;
    if (done_rows_ == rows_.size()) return done_(std::move(result_), nullptr);
    const std::size_t count = rows_at_a_time();
    const auto rows = std::span(rows_).subspan(done_rows_, count);
    std::size_t length = 0;
    for (const auto& row : rows) length = std::max(length, row.size());
    auto inputs = std::make_shared<NamedTensors>(inputs_of(rows, length));
    auto outputs = std::make_shared<NamedTensors>();
    runtime::BatchJob job;
    job.tokens = count * length;
    job.row_length = length;
    job.client = exchange_->client;
    job.deadline = exchange_->deadline();
    job.task = [model = model_->pipeline.model(), inputs, outputs](Cancellation cancellation) {
      *outputs = runtime::forward(model.state(), *inputs, {.cancellation = cancellation});
    };
    // The rest runs elsewhere, because it may take long.
    job.done = [self = shared_from_this(), outputs, count, length](const runtime::BatchResult& result) {
      self->on_work_queue([outputs, count, length, result](TokenRun& run) {
        run.take(*outputs, count, length, result);
        run.submit();
      });
    };
    // The model may be released by the last callback, while this is still running.
    const std::shared_ptr<HostedModel> model = model_;
    const std::shared_ptr<Exchange> exchange = exchange_;
    const std::uint64_t number = model->scheduler->submit(std::move(job));
    exchange->on_abandon([model, number] { model->scheduler->cancel(number); });
  }

  void take(const NamedTensors& outputs, std::size_t count, std::size_t length, const runtime::BatchResult& result) {
    if (result.error) std::rethrow_exception(result.error);
    exchange_->stages.queue += result.queue;
    exchange_->stages.compute += result.compute;
    exchange_->stages.computed = true;
    model_->statistics->computed(count, result.compute);
    const auto found = outputs.find(output_);
    // The outputs declared by an ONNX file may be wrong.
    const bool fits = found != outputs.end() && found->second.dtype() == DType::f32 && found->second.rank() == 3 &&
                      std::cmp_equal(found->second.extent(0), count) && std::cmp_equal(found->second.extent(1), length);
    if (!fits)
      throw make_error(ErrorCode::unsupported, "the model's output ", formats::quoted_name(output_),
                       " does not have a vector for each token");
    const Tensor& tensor = found->second;
    const auto width = static_cast<std::size_t>(tensor.extent(2));
    if (result_.values.empty()) set_width(width);
    if (result_.width != width)
      throw make_error(ErrorCode::unsupported, "the model's output ", formats::quoted_name(output_),
                       " has vectors of other sizes for some of the texts");
    const std::span<const float> values = tensor.values<float>();
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = values.subspan(i * length * width, rows_[done_rows_ + i].size() * width);
      result_.values.insert(result_.values.end(), row.begin(), row.end());
    }
    done_rows_ += count;
  }

  Services& services_;
  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<HostedModel> model_;
  const std::vector<std::vector<std::int32_t>> rows_;
  const std::function<void(TokenVectors, std::exception_ptr)> done_;
  std::string output_;
  bool takes_mask_ = true;
  std::size_t done_rows_ = 0;
  TokenVectors result_;
};

}  // namespace

void compute_token_vectors(Services& services, std::shared_ptr<Exchange> exchange, std::shared_ptr<HostedModel> model,
                           std::vector<std::vector<std::int32_t>> rows,
                           std::function<void(TokenVectors, std::exception_ptr)> done) {
  std::make_shared<TokenRun>(services, std::move(exchange), std::move(model), std::move(rows), std::move(done))
      ->start();
}

}  // namespace alate::server
