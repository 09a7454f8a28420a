// alate rerank
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
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
#include "apps/alate/texts/ranked_lines.h"
#include "apps/alate/texts/ranking_writer.h"
#include "apps/alate/texts/resume.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "pipelines/rerank/ranking_json.h"
#include "pipelines/rerank/rerank_rows.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

// What the steps of a part share.
struct RerankJob {
  const RerankPipeline& pipeline;
  const RerankOptions& options;
  std::string_view query;
  OutputFormat format;
  RankedLines* lines;  // null for json, which needs no texts but all of these:
  std::vector<float> scores = {};
  std::vector<std::size_t> truncated = {};
  std::size_t tokens = 0;
};

class RerankPart : public TextPart {
 public:
  explicit RerankPart(RerankJob& job) : TextPart("rerank"), job_(job) {}

  void prepare() override {
    rows_ = pipelines::prepare_rerank(job_.pipeline, job_.query, views(), job_.options, until_interrupted());
  }
  void run(const PartRun& run) override {
    scores_ = pipelines::rerank_prepared(job_.pipeline, std::move(rows_), job_.options,
                                         {.cancellation = run.cancellation}, run.computed);
  }
  void write(const PartPlace& place) override {
    if (job_.lines == nullptr) {
      std::ranges::copy(scores_.scores, std::back_inserter(job_.scores));
      for (const std::size_t index : scores_.truncated) job_.truncated.push_back(place.first + index);
      job_.tokens += scores_.tokens;
      return;
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const float score = scores_.scores[i];
      job_.lines->add(score,
                      ranking_line(job_.format, {.index = place.first + i,
                                                 .score = score,
                                                 .text = texts[i],
                                                 .members = members[i],
                                                 .is_truncated = std::ranges::binary_search(scores_.truncated, i)}));
    }
  }
  std::span<const std::size_t> truncated() const override { return scores_.truncated; }

 private:
  RerankJob& job_;
  pipelines::PreparedRows rows_;
  RerankScores scores_;
};

// What the scores depend on, besides the texts.
FingerprintBuilder identity_of(const std::filesystem::path& folder, const RerankPipeline& pipeline,
                               const RerankOptions& options, std::string_view query) {
  FingerprintBuilder identity = identity_of_model(pipeline.model(), folder);
  add_number(identity, options.max_length);
  identity.add(std::uint64_t{options.raw_scores}).add(query);
  return identity;
}

void write_lines(const RankedLines& lines, OutputFormat format, std::optional<std::size_t> count, Output& output) {
  output.write(ranking_head(format));
  lines.best_first(count, [&](std::string_view line) { output.write(line); });
}

}  // namespace

void run_rerank(Arguments& arguments) {
  std::string model;
  TextInput input;
  std::optional<std::string> query;
  std::optional<std::size_t> top_n;
  RerankOptions rerank;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  declare(arguments, input);
  arguments.option("--query", "TEXT", "what the texts are to answer", query);
  arguments.option("--top-n", "N", "only the best N texts", top_n);
  arguments.flag("--raw-scores", "the model's own numbers; else scores from 0 to 1", rerank.raw_scores);
  BigJobOptions chosen;
  declare(arguments, chosen);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl, OutputFormat::csv};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading, Shared::max_length,
           Shared::batch_size},
          written);
  if (!arguments.parse()) return;
  apply(options);
  if (!query) throw arguments.usage_error("--query is missing: the texts are ranked by how well they answer it");
  if (top_n == std::size_t{0}) throw arguments.usage_error("--top-n is at least 1");
  const OutputFormat format = output_format(options, written);
  const bool is_body = format == OutputFormat::json;
  BigJob job(arguments, options,
             {.verb = "rerank",
              .options = chosen,
              .format = format,
              .is_streamed = false,
              .not_resumable = is_body ? "json has times of one run; choose jsonl, csv or text" : ""},
             input);
  rerank.max_length = options.max_length;
  rerank.batch_size = options.batch_size;

  const runtime::LoadRequest load = load_request(options);
  const std::filesystem::path folder = find_model(options, model);
  TextSource& source = job.open(std::move(input));
  if (format == OutputFormat::jsonl) source.keep_members(kRankingMembers);
  job.count_single_texts();

  const auto start = Clock::now();
  const auto pipeline = pipelines::load_reranker(folder, load);
  const std::int64_t load_ns = nanoseconds_since(start);
  job.take_up([&] { return identity_of(folder, pipeline, rerank, *query); });

  // The best text comes first, so that a file has the scored ones until all are known.
  const bool is_stored = job.output().is_file() && !is_body && (chosen.resumes || !top_n);
  std::unique_ptr<RankedLines> lines;
  if (is_stored) {
    lines = std::make_unique<RankedLinesInFile>(job.output(), job.is_begun() ? job.output().kept_bytes() : 0);
  } else if (!is_body) {
    lines = std::make_unique<RankedLinesInMemory>(top_n);
  }
  RerankJob shared{.pipeline = pipeline, .options = rerank, .query = *query, .format = format, .lines = lines.get()};
  job.run([&] { return std::make_unique<RerankPart>(shared); });
  const std::size_t max_length = options.max_length.value_or(pipeline.max_length());
  if (is_stored) {
    Output ranking(options.out);
    write_lines(*lines, format, top_n, ranking);
    ranking.finish();
    return job.finish_without_output(max_length);
  }
  if (is_body) {
    job.output().write(pipelines::ranking_json({.scores = shared.scores,
                                                .count = top_n,
                                                .facts = {.model = model,
                                                          .total_ns = nanoseconds_since(start),
                                                          .load_ns = load_ns,
                                                          .tokens = shared.tokens,
                                                          .truncated = shared.truncated}}) +
                       "\n");
  } else {
    write_lines(*lines, format, top_n, job.output());
  }
  job.finish(max_length);
}

}  // namespace alate::app
