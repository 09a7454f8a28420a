#include "apps/alate/texts/task_verb.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "alate/error.h"
#include "apps/alate/measuring/measurements.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/texts/job_part.h"
#include "apps/alate/texts/on_error.h"
#include "apps/alate/texts/resume.h"
#include "base/log.h"
#include "formats/json.h"
#include "pipelines/calls/answer_json.h"
#include "runtime/run_rows.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

// What the steps of a part share.
struct TaskJob {
  const TaskVerb& verb;
  const TaskVerb::Begin& begin;
  runtime::RowBudget budget;
  OutputFormat format;
  OnError on_error;
  Output& output;
  std::size_t tokens = 0, written = 0;
  std::vector<std::size_t> truncated = {};
  std::vector<std::string> changed_texts = {};  // as JSON
  std::size_t unanswered = 0;
  std::string first_refusal = {};
};

std::string json_text(std::string_view text) {
  std::string out;
  formats::append_json_string(out, text);
  return out;
}

class TaskPart : public TextPart {
 public:
  explicit TaskPart(TaskJob& job) : TextPart(job.verb.name), job_(job) {}

  void prepare() override {
    run_ = job_.begin(views());
    rows_ = run_->prepare(until_interrupted());
  }
  void run(const PartRun& run) override {
    pipelines::run_prepared(*run_, std::move(rows_), job_.budget, {.cancellation = run.cancellation}, run.computed);
  }
  void write(const PartPlace& place) override {
    if (job_.on_error == OnError::stop) refuse_unanswered(place.first);
    const auto write_one = [&](std::size_t i) { job_.output.write(line_of(i, place.first + i)); };
    write_in_order(texts.size(), place.refused, write_one, [&](const RefusedLine& line) {
      if (job_.format == OutputFormat::jsonl) job_.output.write(error_line(line) + "\n");
    });
    for (const std::size_t index : run_->truncated()) job_.truncated.push_back(place.first + index);
    job_.tokens += run_->tokens();
  }
  std::span<const std::size_t> truncated() const override { return run_->truncated(); }

 private:
  AnsweredText answered_text(std::size_t i, std::size_t number) const {
    return {.run = *run_, .index = i, .text = texts[i], .number = number};
  }

  // Why it has no answer; empty where it has one.
  std::string refusal_of(const AnsweredText& text) const {
    if (std::ranges::binary_search(run_->too_long(), text.index)) return run_->excess();
    return job_.verb.refusal ? job_.verb.refusal(text) : std::string();
  }

  void refuse_unanswered(std::size_t first) const {
    if (!run_->too_long().empty()) throw too_long_error(first + run_->too_long().front(), run_->excess());
    for (std::size_t i = 0; i < texts.size() && job_.verb.refusal; ++i) {
      if (const std::string reason = job_.verb.refusal(answered_text(i, first + i)); !reason.empty())
        throw make_error(ErrorCode::invalid_argument, "text ", first + i + 1, reason);
    }
  }

  std::string line_of(std::size_t i, std::size_t number) {
    const AnsweredText answered = answered_text(i, number);
    const std::string refusal = refusal_of(answered);
    const bool is_refused = !refusal.empty();
    if (is_refused && job_.unanswered++ == 0) job_.first_refusal = "text " + std::to_string(number + 1) + refusal;
    const auto json = [&] { return is_refused ? refusal_json("the text" + refusal) : job_.verb.json(answered); };
    switch (job_.format) {
      case OutputFormat::json: {
        if (job_.verb.changed_text) job_.changed_texts.push_back(is_refused ? json() : json_text(shown_text(answered)));
        return (job_.written++ == 0 ? "" : ",") + json();
      }
      case OutputFormat::jsonl: {
        std::string line = begin_line(members[i]);
        line += "\"index\":" + std::to_string(number) + ",\"text\":" + json_text(shown_text(answered));
        line += ",\"" + std::string(job_.verb.items) + "\":" + json() + ",\"truncated\":";
        return line += std::ranges::binary_search(run_->truncated(), i) ? "true}\n" : "false}\n";
      }
      case OutputFormat::csv: return is_refused ? "" : job_.verb.csv(answered);
      default: return is_refused ? "" : job_.verb.lines(answered);
    }
  }

  std::string shown_text(const AnsweredText& answered) const {
    return job_.verb.changed_text ? job_.verb.changed_text(answered) : std::string(answered.text);
  }

  TaskJob& job_;
  std::unique_ptr<pipelines::TaskRun> run_;
  pipelines::PreparedRows rows_;
};

FingerprintBuilder identity_of(const pipelines::TextModel& model, const std::filesystem::path& folder,
                               const TaskArguments& given, const TaskVerb& verb) {
  FingerprintBuilder identity = identity_of_model(model.model, folder);
  add(identity, given.long_texts);
  verb.identity(identity);
  return identity;
}

void write_head(Output& output, OutputFormat format, const TaskVerb& verb, std::string_view model) {
  if (format == OutputFormat::csv) output.write(verb.csv_head);
  if (format != OutputFormat::json) return;
  output.write(pipelines::begin_answer(model) + ",\"" + std::string(verb.items) + "\":[");
}

}  // namespace

Error too_long_error(std::size_t index, const std::string& excess) {
  return make_error(ErrorCode::invalid_argument, "text ", index + 1, excess,
                    "; shorten it, or choose --long cut or windows");
}

std::string refusal_json(const std::string& message) {
  std::string out = R"({"error":{"code":"invalid_argument","message":)";
  formats::append_json_string(out, message);
  return out += "}}";
}

void add(FingerprintBuilder& identity, const LongTextOptions& options) {
  add_number(identity, options.max_length);
  add_number(identity, options.stride);
  identity.add(options.treatment ? to_string(*options.treatment) : "");
}

void declare_inputs(Arguments& arguments, TaskArguments& given, bool is_optional) {
  arguments.positional("MODEL", !is_optional, given.model);
  declare(arguments, given.input);
}

void declare_options(Arguments& arguments, TaskArguments& given) {
  arguments.one_of("--long", "HOW", "how texts that are too long are treated", {"error", "cut", "cut-left", "windows"},
                   [&given](std::string_view name) { given.long_texts.treatment = parse_long_texts(name); });
  arguments.option("--stride", "N", "tokens that a window shares with the one before it", given.long_texts.stride);
  declare(arguments, given.job);
  declare(arguments, given.common,
          {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading, Shared::max_length,
           Shared::batch_size},
          kTaskFormats);
}

void run_task_verb(Arguments& arguments, TaskArguments& given, const TaskVerb& verb) {
  const CommonOptions& common = given.common;
  apply(common);
  const OutputFormat format = output_format(common, kTaskFormats);
  const bool is_body = format == OutputFormat::json;
  BigJob job(arguments, common,
             {.verb = verb.name,
              .options = given.job,
              .format = format,
              .not_resumable = is_body ? "json has times of one run; choose jsonl, csv or text" : verb.not_resumable},
             given.input);
  given.long_texts.max_length = common.max_length;
  const runtime::LoadRequest load = load_request(common);
  const std::filesystem::path folder = find_model(common, given.model);
  TextSource& source = job.open(std::move(given.input));
  const std::array<std::string_view, 3> own_members = {"index", verb.items, "truncated"};
  if (format == OutputFormat::jsonl) source.keep_members(own_members);
  job.count_single_texts();

  const auto start = Clock::now();
  const pipelines::TextModel model = pipelines::load_text_model(folder, load, verb.task, {});
  const std::int64_t load_ns = nanoseconds_since(start);
  const TaskVerb::Begin begin = verb.on(model);
  const std::size_t length = pipelines::row_length(model, given.long_texts);
  job.take_up([&] { return identity_of(model, folder, given, verb); });
  if (!job.is_begun()) write_head(job.output(), format, verb, given.model);
  TaskJob shared{.verb = verb,
                 .begin = begin,
                 .budget = {.rows = common.batch_size},
                 .format = format,
                 .on_error = given.job.on_error,
                 .output = job.output()};
  job.run([&] { return std::make_unique<TaskPart>(shared); });
  if (is_body) {
    std::string end = "]";
    if (verb.changed_text) pipelines::append_list(end, verb.changed_texts, shared.changed_texts);
    pipelines::finish_answer(end, {.model = given.model,
                                   .total_ns = nanoseconds_since(start),
                                   .load_ns = load_ns,
                                   .tokens = shared.tokens,
                                   .truncated = shared.truncated});
    job.output().write(end += "\n");
  }
  job.finish(length);
  if (shared.unanswered > 0)
    base::log(base::LogLevel::warn, "texts have no answer",
              {{"count", std::to_string(shared.unanswered)}, {"first", shared.first_refusal}},
              std::to_string(shared.unanswered) + (shared.unanswered == 1 ? " text has" : " texts have") +
                  " no answer; the first: " + shared.first_refusal);
}

}  // namespace alate::app
