#include "server/models/task_service.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "runtime/loading/entry_point.h"
#include "server/exchange/refuse.h"
#include "server/models/request_limits.h"

namespace alate::server {
namespace {

class TaskCall final : public ModelCall {
 public:
  TaskCall(Call& call, TaskRequest request, BeginTaskOfPipelines begin, std::function<Response(TaskAnswer&)> format)
      : ModelCall(call), request_(std::move(request)), begin_(std::move(begin)), format_(std::move(format)) {}

 private:
  const ModelRequest& request() const override { return request_; }
  ModelAnswer& answer() override { return answer_; }

  std::size_t input_count() const override { return std::max(request_.texts.size(), request_.other_inputs); }

  std::size_t bytes_to_read() const {
    std::size_t bytes = 0;
    for (const std::string& text : request_.texts) bytes += text.size() * request_.rows_of_text;
    return bytes + read_texts() * request_.text_bytes;  // what is read with each text is made even if there is none
  }

  std::size_t read_texts() const { return std::max<std::size_t>(request_.texts.size(), 1); }

  bool is_slow_to_answer() const override { return !request_.is_quick_to_answer; }

  void accept() override {
    const std::size_t most = services().settings.max_inputs;
    if (request_.rows_of_text > most / read_texts())
      refuse(Problem::Kind::too_many,
             request_.parameter + " has " + std::to_string(request_.texts.size()) + " entries, each read " +
                 std::to_string(request_.rows_of_text) + " times, as often as there are labels; this server reads " +
                 std::to_string(most) + " in one request: send several",
             request_.parameter);
    if (const std::size_t bytes = bytes_to_read(); bytes > kRequestLimits.read_bytes)
      refuse(Problem::Kind::too_large,
             request_.parameter + " has " + std::to_string(bytes) +
                 " bytes to be read in all, with what each text is " + "read with; this route takes " +
                 std::to_string(kRequestLimits.read_bytes) + ": send fewer or shorter texts",
             request_.parameter);
  }

  pipelines::PreparedRows prepare() override {
    if (answer_.run != nullptr) {
      answer_.run->finish_in_place(std::exchange(values_, {}), cancellation());
    } else {
      begin_run();
    }
    pipelines::PreparedRows prepared = answer_.run->prepare(cancellation());
    if (!request_.per_item && !answer_.run->too_long().empty())
      refuse(Problem::Kind::too_long,
             place_of_input(request_, answer_.run->too_long().front()) + excess() +
                 "; shorten it, or let it be cut or read in windows",
             request_.parameter);
    if (request_.check) request_.check(*answer_.run);
    if (!request_.quotes_texts && !answer_.run->has_more()) std::vector<std::string>().swap(request_.texts);
    return prepared;
  }

  void begin_run() {
    try {
      answer_.run = begin_(answer_.model->pipelines, {request_.texts.begin(), request_.texts.end()});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      refuse(Problem::Kind::impossible, error.message(), "model");
    }
    answer_.run->limit(kRequestLimits);
  }

  bool has_more() const override { return answer_.run->has_more(); }
  std::size_t held_bytes() const override { return answer_.run->held_bytes(); }
  std::string excess() const override { return answer_.run->excess(); }
  std::shared_ptr<const runtime::BatchProgram> program() override { return answer_.run->program(); }
  void take(std::vector<float> values) override { values_ = std::move(values); }

  Response respond() override {
    answer_.run->finish_in_place(std::exchange(values_, {}), cancellation());
    Response response = format_(answer_);
    answer_.run.reset();
    return response;
  }

  TaskRequest request_;
  const BeginTaskOfPipelines begin_;  // may hold what the run reads, such as the second texts of pairs
  TaskAnswer answer_;
  std::vector<float> values_;
  const std::function<Response(TaskAnswer&)> format_;
};

}  // namespace

std::optional<std::string> TaskAnswer::error_of(std::size_t text) const {
  if (!std::ranges::binary_search(run->too_long(), text)) return std::nullopt;
  std::string out = R"({"error":{"code":"too_long","message":)";
  formats::append_json_string(out, "the text" + run->excess() + "; shorten it, or let it be cut or read in windows");
  return out += "}}";
}

void run_task(Call& call, TaskRequest request, BeginTask begin, std::function<Response(TaskAnswer&)> format) {
  run_task(
      call, std::move(request),
      [begin = std::move(begin)](const pipelines::TaskPipelines& pipelines, std::vector<std::string_view> texts) {
        return begin(pipelines.text_model(), std::move(texts));
      },
      std::move(format));
}

void run_task(Call& call, TaskRequest request, BeginTaskOfPipelines begin,
              std::function<Response(TaskAnswer&)> format) {
  std::make_shared<TaskCall>(call, std::move(request), std::move(begin), std::move(format))->start();
}

}  // namespace alate::server
