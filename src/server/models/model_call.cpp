#include "server/models/model_call.h"

#include <algorithm>
#include <exception>

#include "server/exchange/refuse.h"
#include "server/metrics/model_statistics.h"
#include "server/models/touch_model.h"

namespace alate::server {
namespace {

// Up to so many numbers an answer is made on the scheduler's thread: handing it over would take longer.
constexpr std::size_t kSmallAnswer = 16384;

}  // namespace

std::string place_of_input(const ModelRequest& request, std::size_t input) {
  return request.lone ? request.parameter : request.parameter + "[" + std::to_string(input) + "]";
}

void ModelCall::start() {
  check_count();
  acquire(request(), [this](std::shared_ptr<HostedModel> model, std::chrono::nanoseconds load) {
    answer().model = std::move(model);
    answer().load = load;
    begin();
  });
}

void ModelCall::check_count() const {
  const std::size_t count = input_count();
  if (count <= services_.settings.max_inputs) return;
  refuse(Problem::Kind::too_many,
         request().parameter + " has " + std::to_string(count) + " entries; this server takes " +
             std::to_string(services_.settings.max_inputs) + " in one request: send several",
         request().parameter);
}

void ModelCall::begin() {
  touch_model(*exchange_, services_.models, *answer().model, request().keep_alive);
  if (const std::size_t count = input_count(); count > 0) count_request(*exchange_, answer().model->statistics, count);
  accept();
  submit();
}

void ModelCall::submit() {
  const Clock::time_point begin = Clock::now();
  pipelines::PreparedRows prepared = prepare();
  if (!request().truncate && !prepared.truncated.empty()) {
    refuse(Problem::Kind::too_long,
           place_of_input(request(), prepared.truncated.front()) + excess() + "; shorten it, or allow it to be cut",
           request().parameter);
  }
  services_.metrics.truncated(prepared.truncated.size());
  exchange_->stages.tokenize += Clock::now() - begin;

  answer().truncated.insert(answer().truncated.end(), prepared.truncated.begin(), prepared.truncated.end());
  answer().tokens += prepared.tokens();
  for (const runtime::BatchRow& row : prepared.rows) answer().row_tokens.push_back(row.ids.size());
  runtime::BatchJob job;
  job.program = program();
  std::size_t numbers = 0;
  for (const runtime::BatchRow& row : prepared.rows) numbers += job.program->width(row);
  charge(held_bytes() + prepared.bytes() + numbers * sizeof(float));
  job.rows = std::move(prepared.rows);
  job.client = exchange_->client;
  job.deadline = exchange_->deadline();
  job.done = [this, self = shared_from_this()](runtime::BatchResult result) { computed(std::move(result)); };
  // The answer may be sent, releasing the model, while this is still running.
  const std::shared_ptr<HostedModel> model = answer().model;
  const std::shared_ptr<Exchange> exchange = exchange_;
  const std::uint64_t number = model->scheduler->submit(std::move(job));
  exchange->on_abandon([model, number] { model->scheduler->cancel(number); });
}

// Rows wait for the model, those of many requests at a time.
void ModelCall::charge(std::size_t bytes) {
  if (exchange_->account == nullptr) return;
  const HeldBytes::Limit& most = exchange_->account->total->max_rows;
  if (bytes > std::min(most.client, most.all))
    refuse(Problem::Kind::too_large,
           request().parameter + " would take " + std::to_string(bytes) +
               " bytes while it is computed; this server allows " + std::to_string(std::min(most.client, most.all)) +
               ": send fewer or shorter texts",
           request().parameter);
  charge_ = {};
  if (!exchange_->account->has_row_room(bytes))
    refuse(Problem::Kind::overloaded,
           "the requests under way take as much room as they may (max_total_body_mb, max_client_percent): try again "
           "later, or send less at a time");
  charge_ = ByteCharge(exchange_->account, ByteCharge::Kind::rows);
  charge_.raise_to(bytes);
}

// Runs on the scheduler's thread.
void ModelCall::computed(runtime::BatchResult result) {
  guarded([&] {
    if (result.error) std::rethrow_exception(result.error);
    exchange_->stages.queue += result.queue;
    exchange_->stages.compute += result.compute;
    exchange_->stages.computed = true;
    if (!has_more() && result.values.size() <= kSmallAnswer && !is_slow_to_answer()) {
      take(std::move(result.values));
      return reply();
    }
    on_work_queue([this, values = std::move(result.values)]() mutable {
      take(std::move(values));
      if (!has_more()) return reply();
      if (!exchange_->abandoned()) submit();
    });
  });
}

void ModelCall::reply() {
  if (exchange_->abandoned()) return;
  const std::shared_ptr<HostedModel> model = answer().model;
  const Clock::time_point begin = Clock::now();
  answer().total = begin - exchange_->received();
  if (hand_over()) return;
  Response response = respond();
  exchange_->stages.format = Clock::now() - begin;
  // An answer to a request of several models has that of the one it names.
  if (response.headers.find("X-Model-Fingerprint") == nullptr)
    response.headers.set("X-Model-Fingerprint", to_string(model->pipelines.fingerprint()));
  touch_model(*exchange_, services_.models, *model, request().keep_alive);
  exchange_->reply(std::move(response));
}

}  // namespace alate::server
