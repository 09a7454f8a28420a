// alate embed
#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/profiling.h"
#include "apps/alate/texts/embedding_writer.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "pipelines/embedding_rows.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

// Maximum number of texts and bytes per part: sorting within a part suffices to fill batches well, and the memory of a
// part stays small.
constexpr std::size_t kPartTexts = 16384;
constexpr std::size_t kPartBytes = std::size_t{64} << 20;

constexpr std::size_t kIndicesShown = 10;

std::int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

std::vector<std::string> next_part(TextSource& source) {
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  while (texts.size() < kPartTexts && bytes < kPartBytes) {
    auto input = source.next();
    if (!input) break;
    if (input->pair)
      throw make_error(ErrorCode::invalid_argument, source.place(), " has a pair; embed takes single texts");
    bytes += input->text.size();
    texts.push_back(std::move(input->text));
  }
  return texts;
}

void warn_of_truncated(const std::vector<std::size_t>& truncated, std::size_t texts, std::size_t max_length) {
  if (truncated.empty()) return;
  std::string indices;
  for (std::size_t i = 0; i < std::min(truncated.size(), kIndicesShown); ++i)
    indices += (i > 0 ? " " : "") + std::to_string(truncated[i]);
  if (truncated.size() > kIndicesShown) indices += " ...";
  base::log(base::LogLevel::warn, "texts were cut",
            {{"count", std::to_string(truncated.size())},
             {"of", std::to_string(texts)},
             {"max_length", std::to_string(max_length)},
             {"indices", indices}});
}

}  // namespace

void run_embed(Arguments& arguments) {
  std::string model;
  TextInput input;
  EmbedOptions embed;
  Profiler profiler;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  declare(arguments, input);
  arguments.option("--dimensions", "N", "keep the first N numbers of each vector", embed.dimensions);
  arguments.flag("--normalize,!--no-normalize", "length 1, or as they are; else as the model says", embed.normalize);
  arguments.option("--prompt-name", "NAME", "put this prompt of the model before each text", embed.prompt_name);
  arguments.option("--prompt", "TEXT", "put this before each text", embed.prompt);
  profiler.declare(arguments);
  declare(arguments, options);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl,
                                                      OutputFormat::csv, OutputFormat::npy, OutputFormat::safetensors});
  embed.max_length = options.max_length;
  embed.batch_size = options.batch_size;

  const auto start = Clock::now();
  EmbeddingTotals totals;
  totals.model = model;
  const auto pipeline = EmbeddingPipeline::load(find_model(options, model), load_options(options));
  profiler.check(pipeline.facts().backend);
  totals.load_ns = nanoseconds_since(start);

  TextSource source(std::move(input));
  Output output(options.out);
  const std::size_t dimensions = std::min(embed.dimensions.value_or(pipeline.dimensions()), pipeline.dimensions());
  const auto writer = make_embedding_writer(format, output, dimensions);
  std::size_t done = 0;
  for (auto texts = next_part(source); !texts.empty() || done == 0; texts = next_part(source)) {
    // Runs an empty job too, so that options the model cannot satisfy are still rejected.
    const auto part_start = Clock::now();
    const Embeddings part = pipelines::embed_texts(pipeline, texts, embed, profiler.options());
    profiler.add(std::chrono::duration<double>(Clock::now() - part_start).count());
    writer->add(part, done);
    totals.tokens += part.tokens;
    for (const std::size_t index : part.truncated) totals.truncated.push_back(done + index);
    if (texts.empty()) break;
    done += texts.size();
  }
  totals.total_ns = nanoseconds_since(start);
  if (profiler.is_wanted() && format == OutputFormat::json) totals.profile = profiler.json(1);
  writer->finish(totals);
  output.finish();
  if (profiler.is_wanted() && format != OutputFormat::json) profiler.show(1);
  warn_of_truncated(totals.truncated, done, options.max_length.value_or(pipeline.max_length()));
}

}  // namespace alate::app
