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

// A reader of standard output gets what is there once the input pauses. After so many bytes it has to pause for a
// while: programs that write as fast as they can leave short gaps, and large parts are fast.
constexpr std::size_t kPatientBytes = 4096;
constexpr auto kPatience = std::chrono::milliseconds(10);

struct Part {
  std::vector<std::string> texts;
  std::vector<std::string> members;  // of JSON lines, for the writer
  std::exception_ptr failure;        // of the line behind them
};

std::optional<InputText> next_text(TextSource& source) {
  auto input = source.next();
  if (input && input->pair)
    throw make_error(ErrorCode::invalid_argument, source.place(), " has a pair; embed takes single texts");
  return input;
}

// Finds what is wrong with the input before hours of work go into the texts before that line.
void check_input(TextSource& source) {
  if (!source.can_rewind()) return;
  while (next_text(source)) continue;
  source.rewind();
}

// If parts may end early, a line that is refused ends one, so that the texts before it are still answered.
Part next_part(TextSource& source, bool ends_early) {
  Part part;
  std::size_t bytes = 0;
  while (part.texts.size() < kPartTexts && bytes < kPartBytes) {
    const auto patience = bytes < kPatientBytes ? std::chrono::milliseconds(0) : kPatience;
    if (ends_early && !part.texts.empty() && source.may_wait(patience)) break;
    std::optional<InputText> input;
    try {
      input = next_text(source);
    } catch (const Error&) {
      if (!ends_early || part.texts.empty()) throw;
      part.failure = std::current_exception();
    }
    if (!input) break;
    bytes += input->text.size() + input->members.size();
    part.texts.push_back(std::move(input->text));
    part.members.push_back(std::move(input->members));
  }
  return part;
}

// Whether results leave the program before the last of them is known.
bool is_streamed(OutputFormat format, const Output& output) {
  return !output.is_file() &&
         (format == OutputFormat::text || format == OutputFormat::jsonl || format == OutputFormat::csv);
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
  embed.max_length = options.max_length;
  embed.batch_size = options.batch_size;

  const LoadOptions load = load_options(options);
  const std::filesystem::path folder = find_model(options, model);
  TextSource source(std::move(input));
  if (format == OutputFormat::jsonl) source.keep_members(kEmbeddingMembers);
  check_input(source);

  const auto start = Clock::now();
  EmbeddingTotals totals;
  totals.model = model;
  const auto pipeline = EmbeddingPipeline::load(folder, load);
  profiler.check(pipeline.facts().backend);
  totals.load_ns = nanoseconds_since(start);

  const std::size_t dimensions = std::min(embed.dimensions.value_or(pipeline.dimensions()), pipeline.dimensions());
  const auto writer = make_embedding_writer(format, output, dimensions);
  std::size_t done = 0;
  for (;;) {
    const Part part = next_part(source, is_streamed(format, output));
    // Runs an empty job too, so that options the model cannot satisfy are still rejected.
    if (part.texts.empty() && done > 0) break;
    const auto part_start = Clock::now();
    const Embeddings embeddings = pipelines::embed_texts(pipeline, part.texts, embed, profiler.options());
    profiler.add(std::chrono::duration<double>(Clock::now() - part_start).count());
    writer->add(embeddings, done, part.members);
    if (is_streamed(format, output)) output.flush();
    if (part.failure) std::rethrow_exception(part.failure);
    totals.tokens += embeddings.tokens;
    for (const std::size_t index : embeddings.truncated) totals.truncated.push_back(done + index);
    if (part.texts.empty()) break;
    done += part.texts.size();
  }
  totals.total_ns = nanoseconds_since(start);
  if (profiler.is_wanted() && format == OutputFormat::json) totals.profile = profiler.json(1);
  writer->finish(totals);
  output.finish();
  if (profiler.is_wanted() && format != OutputFormat::json) profiler.show(1);
  warn_of_truncated(totals.truncated, done, options.max_length.value_or(pipeline.max_length()));
}

}  // namespace alate::app
