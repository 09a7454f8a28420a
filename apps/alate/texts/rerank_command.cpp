// alate rerank
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/rerank.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/measurements.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/texts/big_job.h"
#include "apps/alate/texts/on_error.h"
#include "apps/alate/texts/ranked_lines.h"
#include "apps/alate/texts/ranking_writer.h"
#include "apps/alate/texts/resume.h"
#include "apps/alate/texts/task_verb.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "pipelines/rerank/ranking_json.h"
#include "pipelines/rerank/rerank_run.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

// What the steps of a part share.
struct RerankJob {
  const RerankPipeline& pipeline;
  const RerankOptions& options;
  std::string_view query;
  OutputFormat format;
  OnError on_error;
  RankedLines* lines;  // null for json, which needs no texts but all of these:
  std::vector<float> scores = {}, raw_scores = {};
  std::map<std::size_t, std::string> errors = {};
  std::vector<std::size_t> truncated = {};
  std::size_t tokens = 0;
};

class RerankPart : public TextPart {
 public:
  explicit RerankPart(RerankJob& job) : TextPart("rerank"), job_(job) {}

  void prepare() override {
    run_ = pipelines::begin_rerank(job_.pipeline, job_.query, views(), job_.options);
    rows_ = run_->prepare(until_interrupted());
  }
  void run(const PartRun& run) override {
    pipelines::run_prepared(*run_, std::move(rows_), {.rows = job_.options.batch_size},
                            {.cancellation = run.cancellation}, run.computed);
  }
  void write(const PartPlace& place) override {
    if (!run_->too_long().empty() && job_.on_error == OnError::stop)
      throw too_long_error(place.first + run_->too_long().front(), run_->excess());
    if (job_.lines == nullptr) return keep_numbers(place.first);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (is_too_long(i)) {
        // Its score is no number, so that it comes last.
        if (job_.format == OutputFormat::jsonl)
          job_.lines->add(run_->scores()[i], run_->raw_scores()[i], error_line_of(place.first + i, i));
        continue;
      }
      const float score = run_->scores()[i];
      job_.lines->add(score, run_->raw_scores()[i],
                      ranking_line(job_.format, {.index = place.first + i,
                                                 .score = score,
                                                 .text = texts[i],
                                                 .members = members[i],
                                                 .is_truncated = std::ranges::binary_search(run_->truncated(), i)}));
    }
  }
  std::span<const std::size_t> truncated() const override { return run_->truncated(); }

 private:
  bool is_too_long(std::size_t i) const { return std::ranges::binary_search(run_->too_long(), i); }

  void keep_numbers(std::size_t first) {
    std::ranges::copy(run_->scores(), std::back_inserter(job_.scores));
    std::ranges::copy(run_->raw_scores(), std::back_inserter(job_.raw_scores));
    for (const std::size_t index : run_->too_long())
      job_.errors.emplace(first + index, refusal_json("the text" + run_->excess()));
    for (const std::size_t index : run_->truncated()) job_.truncated.push_back(first + index);
    job_.tokens += run_->tokens();
  }

  std::string error_line_of(std::size_t number, std::size_t i) const {
    std::string line = begin_line(members[i]) + "\"index\":" + std::to_string(number) + ",\"relevance_score\":";
    line += refusal_json("the text" + run_->excess()) + ",\"text\":";
    formats::append_json_string(line, texts[i]);
    return line += ",\"truncated\":false}\n";
  }

  RerankJob& job_;
  std::unique_ptr<pipelines::RerankRun> run_;
  pipelines::PreparedRows rows_;
};

// What the scores depend on, besides the texts.
FingerprintBuilder identity_of(const std::filesystem::path& folder, const RerankPipeline& pipeline,
                               const RerankOptions& options, std::string_view query) {
  FingerprintBuilder identity = identity_of_model(pipeline.model(), folder);
  app::add(identity, options.long_texts);  // not one of a neighbour in a unity build
  identity.add(std::uint64_t{options.raw_scores}).add(std::uint64_t{options.model_scores}).add(query);
  identity.add(options.prompt_name).add(std::uint64_t{options.prompt.has_value()}).add(options.prompt.value_or(""));
  return identity;
}

void write_lines(const RankedLines& lines, OutputFormat format, std::optional<std::size_t> count, Output& output) {
  output.write(ranking_head(format));
  lines.best_first(count, [&](std::string_view line) { output.write(line); });
}

}  // namespace

void run_rerank(Arguments& arguments) {
  TaskArguments given;
  std::optional<std::string> query;
  std::optional<std::size_t> top_n;
  RerankOptions rerank;
  declare_inputs(arguments, given);
  arguments.option("--query", "TEXT", "what the texts are to answer", query);
  arguments.option("--top-n", "N", "only the best N texts", top_n);
  arguments.flag("--raw-scores", "the model's own numbers; else scores from 0 to 1", rerank.raw_scores);
  arguments.flag("--model-scores", "scores by the function that the model's folder names", rerank.model_scores);
  arguments.option("--prompt-name", "NAME", "put this prompt of the model before the query", rerank.prompt_name);
  arguments.option("--prompt", "TEXT", "put this before the query", rerank.prompt);
  declare_options(arguments, given);
  if (!arguments.parse()) return;
  const CommonOptions& common = given.common;
  apply(common);
  if (!query) throw arguments.usage_error("--query is missing: the texts are ranked by how well they answer it");
  if (top_n == std::size_t{0}) throw arguments.usage_error("--top-n is at least 1");
  const OutputFormat format = output_format(common, kTaskFormats);
  const bool is_body = format == OutputFormat::json;
  // A model for late interaction keeps the vectors of all tokens of a part.
  constexpr std::size_t kPartInputs = 1024, kPartBytes = std::size_t{1} << 20;
  BigJob job(arguments, common,
             {.verb = "rerank",
              .options = given.job,
              .format = format,
              .is_streamed = false,
              .not_resumable = is_body ? "json has times of one run; choose jsonl, csv or text" : "",
              .part_inputs = kPartInputs,
              .part_bytes = kPartBytes},
             given.input);
  rerank.long_texts = given.long_texts;
  rerank.long_texts.max_length = common.max_length;
  rerank.batch_size = common.batch_size;

  const runtime::LoadRequest load = load_request(common);
  const std::filesystem::path folder = find_model(common, given.model);
  TextSource& source = job.open(std::move(given.input));
  if (format == OutputFormat::jsonl) source.keep_members(kRankingMembers);
  job.count_single_texts();

  const auto start = Clock::now();
  const auto pipeline = pipelines::load_reranker(folder, load);
  const std::int64_t load_ns = nanoseconds_since(start);
  job.take_up([&] { return identity_of(folder, pipeline, rerank, *query); });

  // The best text comes first, so that a file has the scored ones until all are known.
  const bool is_stored = job.output().is_file() && !is_body && (given.job.resumes || !top_n);
  std::unique_ptr<RankedLines> lines;
  if (is_stored) {
    lines = std::make_unique<RankedLinesInFile>(job.output(), job.is_begun() ? job.output().kept_bytes() : 0);
  } else if (!is_body) {
    lines = std::make_unique<RankedLinesInMemory>(top_n);
  }
  RerankJob shared{.pipeline = pipeline,
                   .options = rerank,
                   .query = *query,
                   .format = format,
                   .on_error = given.job.on_error,
                   .lines = lines.get()};
  job.run([&] { return std::make_unique<RerankPart>(shared); });
  const std::size_t max_length = common.max_length.value_or(pipeline.max_length());
  if (is_stored) {
    Output ranking(common.out);
    write_lines(*lines, format, top_n, ranking);
    ranking.finish();
    return job.finish_without_output(max_length);
  }
  if (is_body) {
    job.output().write(pipelines::ranking_json({.scores = shared.scores,
                                                .raw_scores = shared.raw_scores,
                                                .count = top_n,
                                                .facts = {.model = given.model,
                                                          .total_ns = nanoseconds_since(start),
                                                          .load_ns = load_ns,
                                                          .tokens = shared.tokens,
                                                          .truncated = shared.truncated},
                                                .errors = std::move(shared.errors)}) +
                       "\n");
  } else {
    write_lines(*lines, format, top_n, job.output());
  }
  job.finish(max_length);
}

}  // namespace alate::app
