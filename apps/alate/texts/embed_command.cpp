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
#include "apps/alate/texts/resume.h"
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
  InputPosition input = {};  // behind the part; only of jobs that can be resumed
};

void check_resume(const Arguments& arguments, const TextInput& input, OutputFormat format,
                  const CommonOptions& options) {
  if (input.file.empty() || input.file == "-" || is_written_in_place(input.file))
    throw arguments.usage_error("--resume needs --file FILE, which can be read again");
  if (is_standard_output(options.out) || is_written_in_place(options.out))
    throw arguments.usage_error("--resume needs --out FILE, which can be continued");
  if (format == OutputFormat::json)
    throw arguments.usage_error("--resume cannot continue --output json: choose jsonl, csv, text, npy or safetensors");
}

// What the result depends on besides the model, the texts' file and EmbedOptions.
std::string other_choices(OutputFormat format, const PartReading& reading, const TextInput& input) {
  return std::to_string(static_cast<int>(format)) + "," + std::to_string(static_cast<int>(reading.on_error)) + "," +
         std::to_string(static_cast<int>(input.invalid_utf8)) + "," + input.format + "," +
         (input.file.ends_with(".jsonl") ? "jsonl" : "");
}

// Reads and tokenizes the next part while the one before is computed. A part without texts is there only if there is no
// other: options that the model cannot satisfy are rejected even then.
class PartsAhead {
 public:
  PartsAhead(TextSource& source, const EmbeddingPipeline& pipeline, const EmbedOptions& options,
             const PartReading& reading, bool keeps_position, bool is_first)
      : source_(source),
        pipeline_(pipeline),
        options_(options),
        reading_(reading),
        keeps_position_(keeps_position),
        is_first_(is_first) {
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
    InputPosition position = keeps_position_ ? source_.position() : InputPosition();
    return PreparedPart{std::move(part.members), std::move(part.refused), part.failure,
                        pipelines::prepare_embedding(pipeline_, texts, options_), std::move(position)};
  }

  TextSource& source_;
  const EmbeddingPipeline& pipeline_;
  const EmbedOptions& options_;
  PartReading reading_;
  bool keeps_position_, is_first_;
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
  bool resumes = false;
  arguments.flag("--resume", "go on with a job that was interrupted: the same command, with --file and --out", resumes);
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
  if (resumes) check_resume(arguments, input, format, options);
  std::optional<Output> opened;
  Output& output = resumes ? opened.emplace(Output::Kept(), options.out) : opened.emplace(options.out);
  reading.ends_early = is_streamed(format, output);
  embed.max_length = options.max_length;
  embed.batch_size = options.batch_size;

  const LoadOptions load = load_options(options);
  const std::filesystem::path folder = find_model(options, model);
  const TextInput input_options = {.file = input.file, .format = input.format, .invalid_utf8 = input.invalid_utf8};
  TextSource source(std::move(input));
  if (resumes) source.keep_position();
  if (format == OutputFormat::jsonl) source.keep_members(kEmbeddingMembers);
  const std::optional<std::size_t> texts = check_single_texts(source, reading);

  const auto start = Clock::now();
  EmbeddingTotals totals;
  const auto pipeline = EmbeddingPipeline::load(folder, load);
  profiler.check(pipeline.facts().backend);
  totals.load_ns = nanoseconds_since(start);

  const std::size_t dimensions = std::min(embed.dimensions.value_or(pipeline.dimensions()), pipeline.dimensions());
  std::optional<ResumableJob> job;
  JobState state;
  if (resumes) {
    job.emplace(options.out, folder, pipeline, embed, input_options.file,
                other_choices(format, reading, input_options));
    state = job->take_up(source, output.kept_bytes()).value_or(JobState());
    output.continue_at(state.output_bytes);
  }
  const auto writer = make_embedding_writer(format, output,
                                            {.model = model,
                                             .dimensions = dimensions,
                                             .texts = texts,
                                             .is_begun = state.input.bytes > 0,
                                             .done = state.texts});
  std::size_t& done = state.texts;
  Progress progress(options, output, hides_progress, "embed", texts);
  progress.add_earlier(done);
  PartsAhead parts(source, pipeline, embed, reading, resumes, state.input.bytes == 0);
  SkippedLines& skipped = state.skipped;
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
    state.cut.add(embeddings.truncated, done);
    done += count;
    if (job) {
      state.output_bytes = output.sync();
      state.input = part->input;
      job->save(state);
    }
  }
  progress.clear();
  skipped.finish(done);
  totals.total_ns = nanoseconds_since(start);
  if (profiler.is_wanted() && format == OutputFormat::json) totals.profile = profiler.json(1);
  writer->finish(totals);
  output.finish();
  if (job) job->finish();
  if (profiler.is_wanted() && format != OutputFormat::json) profiler.show(1);
  state.cut.warn(done, options.max_length.value_or(pipeline.max_length()));
}

}  // namespace alate::app
