// alate bench
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/bench_report.h"
#include "apps/alate/measuring/bench_workload.h"
#include "apps/alate/measuring/decoder_bench.h"
#include "apps/alate/measuring/profiling.h"
#include "apps/alate/models/fetched_model.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/verb.h"
#include "base/threads/thread_pool.h"
#include "pipelines/embed/embed_run.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/generate/generator_state.h"
#include "pipelines/model_summary.h"

namespace alate::app {
namespace {

constexpr std::size_t kMostRepeats = 100000, kMostSequences = 1024;

// Seconds per run.
std::vector<double> measure(const EmbeddingPipeline& pipeline, const std::vector<std::size_t>& lengths,
                            std::size_t repeat, const EmbedOptions& options, Profiler& profiler) {
  std::mt19937_64 random(std::random_device{}());
  const auto run = [&](const backends::RunOptions& run_options) {
    const auto rows = random_rows(pipeline.tokenizer(), lengths, random);
    const auto start = std::chrono::steady_clock::now();
    pipelines::EmbedRun task(pipeline, {.rows = rows}, options);
    pipelines::run_task(task, pipelines::row_budget(options), run_options);
    const KindEmbeddings result = task.take_embeddings();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (result.dense.extent(0) != static_cast<std::int64_t>(rows.size()))
      throw make_error(ErrorCode::internal, "the benchmark lost texts");
    return taken.count();
  };
  // Warm-up: packs weights, touches memory, wakes threads, raises the clock.
  constexpr double kWarmSeconds = 0.3;
  for (double warm = 0; warm < kWarmSeconds;)
    warm += std::max(run({.cancellation = until_interrupted()}), kWarmSeconds / 100);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < repeat; ++i) {
    seconds.push_back(run(profiler.options()));
    profiler.add(seconds.back());
  }
  return seconds;
}

// "512" or "128,512": counts of tokens, or none for "0".
std::vector<std::size_t> counts_of(const std::string& text) {
  return text == "0" ? std::vector<std::size_t>() : read_lengths(text);
}

bool is_decoder(const std::filesystem::path& path) { return pipelines::summarize_model(path, {}).type == "generator"; }

std::string report_on_decoder(const std::string& model, const std::filesystem::path& path, const CommonOptions& options,
                              const DecoderBenchOptions& wanted, Profiler& profiler, OutputFormat format) {
  const TextGenerator generator = pipelines::load_generator(path, load_request(options));
  profiler.check(generator.model().facts().backend);
  const pipelines::ModelSummary summary = pipelines::summarize_model(path, {});
  DecoderBenchReport report{.model = model,
                            .backend = generator.model().facts().backend,
                            .dtype = generator.model().facts().dtype,
                            .bytes = generator.model().facts().weight_bytes,
                            .parameters = summary.parameters,
                            .threads = base::ThreadPool::shared().size(),
                            .tests = bench_decoder(generator, wanted, profiler)};
  const std::size_t runs = wanted.repeat * report.tests.size();
  if (profiler.is_wanted() && format == OutputFormat::json) report.profile = profiler.json(runs);
  if (profiler.is_wanted() && format != OutputFormat::json) profiler.show(runs);
  return decoder_bench_report(report, format);
}

}  // namespace

void run_bench(Arguments& arguments) {
  std::string model;
  std::string lengths_text;
  std::size_t repeat = 5;
  Profiler profiler;
  DecoderBenchOptions decoder;
  bool accepts_terms = false;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  arguments.option("--lengths", "LENGTHS", "32,128 or 32x128 (texts*tokens), or a file with one a line", lengths_text);
  arguments.option("--prompt-tokens,-p", "N,N", "of a decoder: tokens of the prompts that it reads; 512, and 0: none",
                   [&](std::string_view text) { decoder.prompts = counts_of(std::string(text)); });
  arguments.option("--new-tokens,-n", "N,N", "of a decoder: tokens that it writes; 128, and 0: none",
                   [&](std::string_view text) { decoder.texts = counts_of(std::string(text)); });
  arguments.option("--sequences", "N", "of a decoder: texts at the same time; 1 unless given", decoder.sequences);
  arguments.option("--repeat", "N", "measured runs, 5 unless given", repeat);
  profiler.declare(arguments);
  declare_terms(arguments, accepts_terms);
  const auto written = {OutputFormat::text, OutputFormat::markdown, OutputFormat::csv, OutputFormat::json};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading, Shared::batch_size},
          written);
  if (!arguments.parse()) return;
  apply(options);
  if (repeat == 0 || repeat > kMostRepeats)
    throw arguments.usage_error("--repeat is from 1 to " + std::to_string(kMostRepeats));
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  const std::filesystem::path path = find_or_fetch_model(options, model, accepts_terms);
  if (lengths_text.empty()) {
    if (!is_decoder(path)) throw arguments.usage_error("--lengths is missing");
    if (decoder.sequences == 0 || decoder.sequences > kMostSequences)
      throw arguments.usage_error("--sequences is from 1 to " + std::to_string(kMostSequences));
    decoder.repeat = repeat;
    output.write(report_on_decoder(model, path, options, decoder, profiler, format));
    return output.finish();
  }
  const std::vector<std::size_t> lengths = read_lengths(lengths_text);

  const auto pipeline = pipelines::load_embedding(path, pipelines::EmbeddingRequest(load_request(options)).forced());
  profiler.check(pipeline.facts().backend);
  EmbedOptions embed;
  embed.batch_size = options.batch_size;
  BenchResult result{.model = model,
                     .backend = pipeline.facts().backend,
                     .dtype = pipeline.facts().dtype,
                     .threads = base::ThreadPool::shared().size(),
                     .texts = lengths.size(),
                     .tokens = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}),
                     .seconds = measure(pipeline, lengths, repeat, embed, profiler)};
  if (profiler.is_wanted() && format == OutputFormat::json) result.profile = profiler.json(repeat);
  output.write(bench_report(result, format));
  output.finish();
  if (profiler.is_wanted() && format != OutputFormat::json) profiler.show(repeat);
}

}  // namespace alate::app
