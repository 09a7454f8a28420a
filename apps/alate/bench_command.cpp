// alate bench
#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "base/thread_pool.h"
#include "bench_workload.h"
#include "common_options.h"
#include "formats/json.h"
#include "measurements.h"
#include "verb.h"

namespace alate::app {
namespace {

constexpr std::size_t kMostRepeats = 100000;

struct Measured {
  std::vector<double> seconds;  // of each run
  std::size_t tokens = 0;       // of one run
  std::size_t texts = 0;
};

Measured measure(const EmbeddingPipeline& pipeline, const std::vector<std::size_t>& lengths, std::size_t repeat,
                 const EmbedOptions& options) {
  Measured measured;
  measured.tokens = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  measured.texts = lengths.size();
  std::mt19937_64 random(std::random_device{}());
  const auto run = [&] {
    const auto rows = random_rows(pipeline.tokenizer(), lengths, random);
    const auto start = std::chrono::steady_clock::now();
    const Embeddings result = pipeline.embed_tokens(rows, options);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (result.vectors.extent(0) != static_cast<std::int64_t>(rows.size()))
      throw make_error(ErrorCode::internal, "the benchmark lost texts");
    return taken.count();
  };
  // Warm: weights packed, memory touched, threads awake, the clock up.
  constexpr double kWarmSeconds = 0.3;
  for (double warm = 0; warm < kWarmSeconds;) warm += std::max(run(), kWarmSeconds / 100);
  for (std::size_t i = 0; i < repeat; ++i) measured.seconds.push_back(run());
  return measured;
}

}  // namespace

void run_bench(Arguments& arguments) {
  std::string model;
  std::string lengths_text;
  std::size_t repeat = 5;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  arguments.option("--lengths", "LENGTHS", "32,128 or 32x128 (texts*tokens), or a file with one a line", lengths_text);
  arguments.option("--repeat", "N", "measured runs, 5 unless given", repeat);
  declare(arguments, options);
  if (!arguments.parse()) return;
  apply(options);
  if (lengths_text.empty()) throw arguments.usage_error("--lengths is missing");
  if (repeat == 0 || repeat > kMostRepeats)
    throw arguments.usage_error("--repeat is from 1 to " + std::to_string(kMostRepeats));
  const OutputFormat format = output_format(options, {OutputFormat::text, OutputFormat::json});
  const std::vector<std::size_t> lengths = read_lengths(lengths_text);

  const auto pipeline = EmbeddingPipeline::load(find_model(options, model), load_options(options));
  EmbedOptions embed;
  embed.batch_size = options.batch_size;
  const Measured measured = measure(pipeline, lengths, repeat, embed);

  const double rate = static_cast<double>(measured.tokens) / median(measured.seconds);
  const std::size_t threads = base::ThreadPool::shared().size();
  Output output(options.out);
  if (format == OutputFormat::json) {
    formats::Json::Array runs;
    for (const double seconds : measured.seconds) runs.emplace_back(seconds);
    output.write(formats::to_json_text(formats::Json::Object{{"tokens_per_second", rate},
                                                             {"runs", std::move(runs)},
                                                             {"tokens", std::uint64_t{measured.tokens}},
                                                             {"backend", pipeline.facts().backend},
                                                             {"dtype", pipeline.facts().dtype},
                                                             {"threads", std::uint64_t{threads}}}) +
                 "\n");
  } else {
    const auto [least, most] = std::ranges::minmax(measured.seconds);
    output.write(shown(rate, 0) + " tokens/s on " + pipeline.facts().backend + ", " + pipeline.facts().dtype + ", " +
                 std::to_string(threads) + (threads == 1 ? " thread\n" : " threads\n"));
    output.write(std::to_string(measured.texts) + " texts, " + std::to_string(measured.tokens) +
                 " tokens: " + shown(median(measured.seconds) * 1e3, 2) + " ms (median of " + std::to_string(repeat) +
                 "; " + shown(least * 1e3, 2) + " to " + shown(most * 1e3, 2) + ")\n");
  }
  output.finish();
}

}  // namespace alate::app
