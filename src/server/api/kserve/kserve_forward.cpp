#include "server/api/kserve/kserve_forward.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <ranges>
#include <utility>

#include "pipelines/embed/embedding_rows.h"
#include "runtime/forward.h"
#include "server/api/kserve/kserve_response.h"
#include "server/exchange/failure.h"
#include "server/exchange/refuse.h"
#include "server/metrics/model_statistics.h"
#include "server/models/services.h"
#include "server/pulls/asker_of.h"

namespace alate::server {
namespace {

constexpr std::int64_t kMaxComputedNumbers = std::int64_t{64} << 20;  // all outputs of forward together: 256 MiB

constexpr std::array<std::string_view, 4> kForwardInputs = {"input_ids", "attention_mask", "token_type_ids",
                                                            "position_ids"};

[[noreturn]] void invalid(std::string message, std::string parameter) {
  refuse(Problem::Kind::invalid, std::move(message), std::move(parameter));
}

/// Rows [begin, begin + count) of a tensor.
Tensor rows_of(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  Shape shape = tensor.shape();
  shape.dims[0] = Dim(count);
  Tensor rows = Tensor::uninitialized(std::move(shape));
  const std::size_t bytes = rows.byte_count();
  if (bytes > 0) {
    const std::size_t row_bytes = bytes / static_cast<std::size_t>(count);
    std::memcpy(rows.mutable_bytes().data(), tensor.bytes().data() + static_cast<std::size_t>(begin) * row_bytes,
                bytes);
  }
  return rows;
}

/// Runs token ids through the encoder as tasks of the model's scheduler, each with enough rows to fill a batch, one
/// after the other, so that a large request leaves room for others. A row's result does not depend on the other rows of
/// its batch.
class Forward : public std::enable_shared_from_this<Forward> {
 public:
  Forward(Call& call, std::string name, InferRequest request)
      : services_(call.services),
        exchange_(call.exchange),
        family_(call.route.family),
        name_(std::move(name)),
        backend_(request.parameters.get_string("backend", "")),
        request_(std::move(request)) {}

  void start() {
    read_inputs();
    services_.models.acquire(
        name_, backend_,
        [self = shared_from_this()](const std::shared_ptr<HostedModel>& hosted, const std::exception_ptr& error) {
          if (error) return fail(*self->exchange_, self->family_, error);
          self->services_.models.touch(*hosted);
          if (self->batch_ > 0)
            count_request(*self->exchange_, hosted->statistics, static_cast<std::size_t>(self->batch_));
          self->on_work_queue([self, hosted] {
            self->prepare(hosted->pipelines.model());
            if (self->batch_ == 0) return self->answer();
            self->submit(hosted);
          });
        },
        asker_of(exchange_));
  }

 private:
  template <typename Step>
  void on_work_queue(Step step) {
    services_.work.push(exchange_, [self = shared_from_this(), step = std::move(step)] {
      try {
        step();
      } catch (...) {
        fail(*self->exchange_, self->family_, std::current_exception());
      }
    });
  }

  void read_inputs() {
    const InferTensor& ids = *request_.input("input_ids");
    if (ids.shape.size() != 2) invalid("input_ids must have the shape [batch, length]", "inputs");
    batch_ = ids.shape[0];
    length_ = ids.shape[1];
    for (InferTensor& input : request_.inputs) {
      if (std::ranges::find(kForwardInputs, input.name) == kForwardInputs.end()) {
        invalid("the model has no input " + formats::quoted_name(input.name) +
                    " beside input_ids; it has attention_mask, token_type_ids and position_ids",
                "inputs");
      }
      if (input.holds_texts()) invalid(input.name + " must have the datatype INT64 or INT32", "inputs");
      if (input.shape != ids.shape) invalid(input.name + " must have the shape of input_ids", "inputs");
    }
    for (InferTensor& input : request_.inputs) inputs_.emplace(std::move(input.name), std::move(input.numbers));
    request_.inputs.clear();
  }

  // Checks whether the request can be answered before anything is computed, except for what an ONNX file does not
  // declare.
  void prepare(const Model& model) {
    runtime::add_usual_inputs(model.state(), inputs_);
    std::vector<std::string> names;
    std::map<std::string, Shape, std::less<>> shapes;
    for (const runtime::ForwardOutput& output : runtime::forward_outputs(model.state())) {
      Shape shape{DType::f32, {batch_}};
      if (output.is_per_token) shape.dims.emplace_back(length_);
      for (const std::int64_t extent : output.extents) shape.dims.emplace_back(std::max<std::int64_t>(extent, 0));
      names.push_back(output.name);
      shapes.emplace(output.name, std::move(shape));
    }
    outputs_ = request_.chosen_outputs(names);
    check_sizes(shapes);
    if (batch_ == 0) {
      for (const InferOutput& output : outputs_)
        results_.emplace(output.name, Tensor::zeros(shapes.find(output.name)->second));
    }
    const auto budget = static_cast<std::int64_t>(services_.settings.batch_max_tokens);
    rows_at_a_time_ = std::max<std::int64_t>(1, budget / std::max<std::int64_t>(1, length_));
    fingerprint_ = to_string(model.fingerprint());
  }

  // Checks all outputs, since all are computed, and the total of those answered as JSON.
  void check_sizes(const std::map<std::string, Shape, std::less<>>& shapes) const {
    std::int64_t computed = 0;
    for (const auto& [name, shape] : shapes) {
      const std::int64_t count = shape.element_count();
      computed += std::min(count, kMaxComputedNumbers + 1);
    }
    if (computed > kMaxComputedNumbers) {
      refuse(Problem::Kind::too_many,
             "the model's outputs for these inputs have " + std::to_string(computed) + " numbers or more; at most " +
                 std::to_string(kMaxComputedNumbers) + " are computed at a time: send less",
             "inputs");
    }
    std::size_t as_json = 0;
    for (const InferOutput& output : outputs_) {
      const auto shape = shapes.find(output.name);
      if (!output.binary && shape != shapes.end()) as_json += static_cast<std::size_t>(shape->second.element_count());
    }
    check_json_numbers(as_json);
  }

  // Submits the next rows that have not been computed.
  void submit(const std::shared_ptr<HostedModel>& hosted) {
    const std::int64_t count = std::min(rows_at_a_time_, batch_ - done_rows_);
    auto inputs = std::make_shared<NamedTensors>();
    for (const auto& [name, tensor] : inputs_) inputs->emplace(name, rows_of(tensor, done_rows_, count));
    runtime::BatchJob job;
    job.tokens = static_cast<std::size_t>(count * length_);
    job.row_length = static_cast<std::size_t>(length_);
    job.client = exchange_->client;
    job.deadline = exchange_->deadline();
    auto outputs = std::make_shared<NamedTensors>();
    job.task = [model = hosted->pipelines.model(), inputs, outputs](base::Cancellation cancellation) {
      *outputs = runtime::forward(model.state(), *inputs, {.cancellation = cancellation});
    };
    // The rest runs elsewhere: it may take long, and the scheduler must not release the last reference to its own
    // model, which the exchange holds until it is answered.
    const std::weak_ptr<HostedModel> weak = hosted;
    job.done = [self = shared_from_this(), weak, outputs, count](const runtime::BatchResult& result) {
      self->on_work_queue([self, weak, outputs, count, result] {
        self->take(*outputs, count, result);
        const std::shared_ptr<HostedModel> model = weak.lock();
        if (model) model->statistics->computed(static_cast<std::size_t>(count), result.compute);
        if (self->done_rows_ == self->batch_) return self->answer();
        if (!model)
          throw Error(ErrorCode::unavailable, "the model was unloaded before all rows were computed; ask again");
        self->submit(model);
      });
    };
    const std::uint64_t number = hosted->scheduler->submit(std::move(job));
    // Cancel directly, not via the work queue: if that is busy, the model would keep computing for nobody.
    exchange_->on_abandon([hosted, number] { hosted->scheduler->cancel(number); });
  }

  // Error messages count rows from the start of the batch that was computed together.
  void rethrow(const std::exception_ptr& error) const {
    try {
      std::rethrow_exception(error);
    } catch (const Error& thrown) {
      if (done_rows_ == 0) throw;
      throw thrown.with_context("in the rows from " + std::to_string(done_rows_) + " on");
    }
  }

  // Checks a part of an output, which must have as many rows as were computed; the first part determines the size of
  // the whole. The outputs declared by an ONNX file may be wrong.
  static void check_part(const std::string& name, const Tensor& part, std::int64_t count) {
    if (part.dtype() == DType::f32 && part.rank() > 0 && part.extent(0) == count) return;
    throw make_error(ErrorCode::unsupported, "the model's output ", formats::quoted_name(name), " is ",
                     to_string(part.shape()), " for ", count, " rows, so that it cannot be told which is whose");
  }

  void make_results(const NamedTensors& outputs, std::int64_t count) {
    std::map<std::string, Shape, std::less<>> shapes;
    for (const InferOutput& output : outputs_) {
      const Tensor& part = outputs.find(output.name)->second;
      check_part(output.name, part, count);
      Shape shape = part.shape();
      shape.dims[0] = Dim(batch_);
      shapes.emplace(output.name, std::move(shape));
    }
    check_sizes(shapes);
    for (auto& [name, shape] : shapes) results_.emplace(name, Tensor::uninitialized(std::move(shape)));
  }

  void take(const NamedTensors& outputs, std::int64_t count, const runtime::BatchResult& result) {
    if (result.error) rethrow(result.error);
    exchange_->stages.queue += result.queue;
    exchange_->stages.compute += result.compute;
    exchange_->stages.computed = true;
    if (results_.empty()) make_results(outputs, count);
    for (auto& [name, whole] : results_) {
      const Tensor& part = outputs.find(name)->second;
      check_part(name, part, count);
      if (!std::ranges::equal(part.shape().dims | std::views::drop(1), whole.shape().dims | std::views::drop(1)))
        throw make_error(ErrorCode::unsupported, "the model's output ", formats::quoted_name(name),
                         " has other sizes for some of the rows; send them one by one");
      const std::span<const std::byte> bytes = part.bytes();
      if (bytes.empty()) continue;
      const std::size_t row_bytes = bytes.size() / static_cast<std::size_t>(count);
      std::memcpy(whole.mutable_bytes().data() + static_cast<std::size_t>(done_rows_) * row_bytes, bytes.data(),
                  bytes.size());
    }
    done_rows_ += count;
  }

  void answer() {
    const Clock::time_point begin = Clock::now();
    std::vector<InferResult> tensors;
    for (const InferOutput& output : outputs_) {
      const auto tensor = std::make_shared<const Tensor>(results_.find(output.name)->second);
      InferResult entry{.name = output.name,
                        .shape = {},
                        .values = tensor->values<float>(),
                        .owner = tensor,
                        .binary = output.binary};
      for (std::size_t axis = 0; axis < tensor->rank(); ++axis) entry.shape.push_back(tensor->extent(axis));
      tensors.push_back(std::move(entry));
    }
    Response response = infer_response(name_, request_.id, tensors);
    response.headers.set("X-Model-Fingerprint", fingerprint_);
    exchange_->stages.format = Clock::now() - begin;
    exchange_->reply(std::move(response));
  }

  Services& services_;
  const std::shared_ptr<Exchange> exchange_;
  const Family family_;
  const std::string name_, backend_;
  InferRequest request_;
  NamedTensors inputs_, results_;
  std::int64_t batch_ = 0, length_ = 0;  // product is at most kMaxTokens
  std::int64_t rows_at_a_time_ = 1, done_rows_ = 0;
  std::vector<InferOutput> outputs_;
  std::string fingerprint_;
};

}  // namespace

void kserve_forward(Call& call, std::string model, InferRequest request) {
  std::make_shared<Forward>(call, std::move(model), std::move(request))->start();
}

}  // namespace alate::server
