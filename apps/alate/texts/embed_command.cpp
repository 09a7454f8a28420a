// alate embed
#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/profiling.h"
#include "apps/alate/texts/embedding_writer.h"
#include "apps/alate/texts/progress.h"
#include "apps/alate/texts/text_parts.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "base/threads/read_ahead.h"
#include "pipelines/embedding_rows.h"

namespace alate::app {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

// Whether results leave the program before the last of them is known.
bool is_streamed(OutputFormat format, const Output& output) {
  return !output.is_file() &&
         (format == OutputFormat::text || format == OutputFormat::jsonl || format == OutputFormat::csv);
}

// A part of the texts, ready to be run.
struct PreparedPart {
  std::vector<std::string> members;  // as TextPart::members
  std::vector<RefusedLine> refused;  // as TextPart::refused
  std::exception_ptr failure;        // as TextPart::failure
  pipelines::PreparedRows rows;
};

// Reads and tokenizes the next part while the one before is computed. A part without texts is there only if there is no
// other: options that the model cannot satisfy are rejected even then.
class PartsAhead {
 public:
  PartsAhead(TextSource& source, const EmbeddingPipeline& pipeline, const EmbedOptions& options,
             const PartReading& reading)
      : source_(source), pipeline_(pipeline), options_(options), reading_(reading) {
    // Someone who types is slower, and a thread that reads from a terminal could not be stopped.
    if (!source.is_typed()) ahead_.emplace([this](const std::stop_token& stop) { return make(stop); });
  }

  std::optional<PreparedPart> next() { return ahead_ ? ahead_->next() : make({}); }

 private:
  std::optional<PreparedPart> make(const std::stop_token& stop) {
    TextPart part = next_part(source_, reading_, stop);
    if ((part.is_empty() && !is_first_) || stop.stop_requested()) return std::nullopt;
    is_first_ = false;
    const std::vector<std::string_view> texts(part.texts.begin(), part.texts.end());
    return PreparedPart{std::move(part.members), std::move(part.refused), part.failure,
                        pipelines::prepare_embedding(pipeline_, texts, options_)};
  }

  TextSource& source_;
  const EmbeddingPipeline& pipeline_;
  const EmbedOptions& options_;
  PartReading reading_;
  bool is_first_ = true;
  std::optional<base::ReadAhead<PreparedPart>> ahead_;  // last: its thread uses the others
};

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
  bool hides_progress = false;
  PartReading reading{.verb = "embed"};
  declare(arguments, reading.on_error);
  declare_progress(arguments, hides_progress);
  profiler.declare(arguments);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl,
                        OutputFormat::csv,  OutputFormat::npy,  OutputFormat::safetensors};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading, Shared::max_length,
           Shared::batch_size},
          written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  reading.ends_early = is_streamed(format, output);
  embed.max_length = options.max_length;
  embed.batch_size = options.batch_size;

  const LoadOptions load = load_options(options);
  const std::filesystem::path folder = find_model(options, model);
  TextSource source(std::move(input));
  if (format == OutputFormat::jsonl) source.keep_members(kEmbeddingMembers);
  const std::optional<std::size_t> texts = check_single_texts(source, reading);

  const auto start = Clock::now();
  EmbeddingTotals totals;
  CutTexts cut;
  const auto pipeline = EmbeddingPipeline::load(folder, load);
  profiler.check(pipeline.facts().backend);
  totals.load_ns = nanoseconds_since(start);

  const std::size_t dimensions = std::min(embed.dimensions.value_or(pipeline.dimensions()), pipeline.dimensions());
  const auto writer = make_embedding_writer(format, output, {.model = model, .dimensions = dimensions, .texts = texts});
  std::size_t done = 0;
  Progress progress(options, output, hides_progress, "embed", texts);
  PartsAhead parts(source, pipeline, embed, reading);
  SkippedLines skipped;
  while (auto part = parts.next()) {
    const std::size_t count = part->rows.rows.size();
    const auto part_start = Clock::now();
    const Embeddings embeddings = pipelines::embed_prepared(pipeline, std::move(part->rows), embed, profiler.options(),
                                                            [&](std::size_t rows) { progress.add(rows); });
    profiler.add(std::chrono::duration<double>(Clock::now() - part_start).count());
    writer->add(embeddings, done, part->members, part->refused);
    if (!part->refused.empty()) progress.clear();
    skipped.add(part->refused);
    if (reading.ends_early) output.flush();
    if (part->failure) std::rethrow_exception(part->failure);
    totals.tokens += embeddings.tokens;
    cut.add(embeddings.truncated, done);
    done += count;
  }
  progress.clear();
  skipped.finish(done);
  totals.total_ns = nanoseconds_since(start);
  if (profiler.is_wanted() && format == OutputFormat::json) totals.profile = profiler.json(1);
  writer->finish(totals);
  output.finish();
  if (profiler.is_wanted() && format != OutputFormat::json) profiler.show(1);
  cut.warn(done, options.max_length.value_or(pipeline.max_length()));
}

}  // namespace alate::app
