// alate rerank
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/rerank.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/progress.h"
#include "apps/alate/texts/ranking_writer.h"
#include "apps/alate/texts/text_parts.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
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
  bool hides_progress = false;
  PartReading reading{.verb = "rerank"};
  declare(arguments, reading.on_error);
  declare_progress(arguments, hides_progress);
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
  Output output(options.out);
  rerank.max_length = options.max_length;
  rerank.batch_size = options.batch_size;

  const LoadOptions load = load_options(options);
  const std::filesystem::path folder = find_model(options, model);
  TextSource source(std::move(input));
  if (format == OutputFormat::jsonl) source.keep_members(kRankingMembers);
  const std::optional<std::size_t> texts = check_single_texts(source, reading);

  const auto start = Clock::now();
  const auto pipeline = RerankPipeline::load(folder, load);
  RankedTexts ranked;
  ranked.load_ns = nanoseconds_since(start);
  std::size_t done = 0;
  bool is_first = true;
  SkippedLines skipped;
  Progress progress(options, output, hides_progress, "rerank", texts);
  for (;;) {
    TextPart part = next_part(source, reading);
    // Runs an empty job too, so that options the model cannot satisfy are still rejected.
    if (part.is_empty() && !is_first) break;
    is_first = false;
    if (!part.refused.empty()) progress.clear();
    skipped.add(part.refused);
    const RerankScores scores = pipeline.rerank(*query, part.texts, rerank);
    ranked.scores.insert(ranked.scores.end(), scores.scores.begin(), scores.scores.end());
    for (const std::size_t index : scores.truncated) ranked.truncated.push_back(done + index);
    ranked.tokens += scores.tokens;
    done += part.texts.size();
    progress.add(part.texts.size());
    if (format == OutputFormat::json) continue;
    std::ranges::move(part.texts, std::back_inserter(ranked.texts));
    std::ranges::move(part.members, std::back_inserter(ranked.members));
  }
  progress.clear();
  skipped.finish(done);
  ranked.total_ns = nanoseconds_since(start);
  write_ranking(format, output, model, ranked, top_n);
  output.finish();
  CutTexts cut;
  cut.add(ranked.truncated, 0);
  cut.warn(done, options.max_length.value_or(pipeline.max_length()));
}

}  // namespace alate::app
