// alate compare
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/bench_workload.h"
#include "apps/alate/measuring/measurements.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "pipelines/embed/embedding_rows.h"

namespace alate::app {
namespace {

constexpr std::size_t kMostRepeats = 100000;
constexpr std::size_t kMostTexts = 16384;

// Short, long, empty, and in several scripts.
constexpr std::array<std::string_view, 6> kTexts = {
    "A short text.",
    "",
    "What is the capital of France?",
    "Paris is the capital and the largest city of France, with about two million people; it lies on the Seine.",
    "\xE6\x9D\xB1\xE4\xBA\xAC\xE3\x81\xAF\xE6\x97\xA5\xE6\x9C\xAC\xE3\x81\xAE\xE9\xA6\x96\xE9\x83\xBD\xE3\x81\xA7"
    "\xE3\x81\x99\xE3\x80\x82",
    "x = [f(i) for i in range(10) if i % 2 == 0]  # even ones, 3.14159 and e\xCC\x81"};

struct Inputs {
  std::vector<std::string> texts;
  std::string lengths;  // of rows of random token ids, used instead of texts
};

struct Compared {
  ModelFacts facts;
  std::size_t texts = 0, tokens = 0, dimensions = 0;
  double seconds = 0;            // median over the runs
  double largest = 0, mean = 0;  // differences from the first backend's values
  double tokens_per_second() const { return static_cast<double>(tokens) / seconds; }
};

std::vector<std::string> read_texts(TextInput input) {
  if (input.arguments.empty() && input.file.empty() && input.format.empty()) return {kTexts.begin(), kTexts.end()};
  std::vector<std::string> texts;
  TextSource source(std::move(input));
  while (auto text = source.next()) {
    if (text->pair)
      throw make_error(ErrorCode::invalid_argument, source.place(), " has a pair; compare takes single texts");
    if (texts.size() == kMostTexts)
      throw make_error(ErrorCode::resource_exhausted, "compare takes at most ", kMostTexts, " texts");
    texts.push_back(std::move(text->text));
  }
  if (texts.empty()) throw make_error(ErrorCode::invalid_argument, "there is no text to compare with");
  return texts;
}

// NaN differs from every number but not from NaN.
double difference(float a, float b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double apart = std::abs(static_cast<double>(a) - static_cast<double>(b));
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

void add_differences(std::span<const float> found, std::span<const float> first, Compared& compared) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double apart = difference(found[i], first[i]);
    compared.largest = std::max(compared.largest, apart);
    compared.mean += apart / static_cast<double>(found.size());
  }
}

// Fills `first` if empty, else compares with it.
Compared run_backend(const EmbeddingPipeline& pipeline, const Inputs& inputs, const EmbedOptions& options,
                     std::size_t repeat, Tensor& first) {
  std::mt19937_64 random(1);  // same ids for every backend
  std::vector<std::vector<std::int32_t>> rows;
  if (!inputs.lengths.empty()) rows = random_rows(pipeline.tokenizer(), read_lengths(inputs.lengths), random);
  const auto run = [&] {
    return rows.empty() ? pipeline.embed(inputs.texts, options) : pipeline.embed_tokens(rows, options);
  };
  const Embeddings result = run();  // also warms up
  Compared compared;
  compared.facts = pipeline.facts();
  compared.texts = static_cast<std::size_t>(result.vectors.extent(0));
  compared.tokens = result.tokens;
  compared.dimensions = static_cast<std::size_t>(result.vectors.extent(1));
  std::vector<double> seconds;
  for (std::size_t i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  compared.seconds = median(std::move(seconds));
  if (first.empty()) first = result.vectors;
  if (result.vectors.shape() != first.shape())
    throw make_error(ErrorCode::internal, "backend ", compared.facts.backend, " gives ",
                     to_string(result.vectors.shape()), ", the first one ", to_string(first.shape()));
  add_differences(result.vectors.values<float>(), first.values<float>(), compared);
  return compared;
}

// JSON has no number for infinity.
formats::Json number(double value) { return std::isfinite(value) ? formats::Json(value) : formats::Json("infinity"); }

std::string as_json(const std::string& model, const std::vector<Compared>& all) {
  formats::Json::Array backends;
  for (const Compared& each : all) {
    backends.emplace_back(formats::Json::Object{{"backend", each.facts.backend},
                                                {"dtype", each.facts.dtype},
                                                {"largest_difference", number(each.largest)},
                                                {"mean_difference", number(each.mean)},
                                                {"seconds", each.seconds},
                                                {"tokens_per_second", each.tokens_per_second()}});
  }
  return formats::to_json_text(formats::Json::Object{{"model", model},
                                                     {"texts", std::uint64_t{all[0].texts}},
                                                     {"tokens", std::uint64_t{all[0].tokens}},
                                                     {"dimensions", std::uint64_t{all[0].dimensions}},
                                                     {"backends", std::move(backends)}}) +
         "\n";
}

std::string as_text(const std::vector<Compared>& all) {
  std::string text = std::to_string(all[0].texts) + " texts, " + std::to_string(all[0].tokens) + " tokens, " +
                     std::to_string(all[0].dimensions) + " numbers each\n";
  for (const Compared& each : all) {
    text += each.facts.backend + ", " + each.facts.dtype + ": " + shown(each.tokens_per_second(), 0) + " tokens/s";
    if (&each != all.data()) {
      text += "; from " + all[0].facts.backend + " at most " + shown_small(each.largest) + ", on average " +
              shown_small(each.mean);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

void run_compare(Arguments& arguments) {
  std::string model;
  TextInput input;
  Inputs inputs;
  std::vector<std::string> backends;
  std::size_t repeat = 3;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  declare(arguments, input);
  arguments.list("--backends", "NAME,NAME", "what to compare; the first is what the others are compared with",
                 backends);
  arguments.choices(backend_names);
  arguments.option("--lengths", "LENGTHS", "random token ids instead of texts: 32,128 or 32x128 (texts*tokens)",
                   inputs.lengths);
  arguments.option("--repeat", "N", "measured runs of each, 3 unless given", repeat);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options,
          {Shared::models, Shared::devices, Shared::dtype, Shared::threads, Shared::loading, Shared::max_length,
           Shared::batch_size},
          written);
  if (!arguments.parse()) return;
  apply(options);
  if (backends.size() < 2) throw arguments.usage_error("--backends needs two names at least, as in cpu,reference");
  if (repeat == 0 || repeat > kMostRepeats)
    throw arguments.usage_error("--repeat is from 1 to " + std::to_string(kMostRepeats));
  if (!inputs.lengths.empty() && !(input.arguments.empty() && input.file.empty()))
    throw arguments.usage_error("--lengths takes the place of texts: give one of them");
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  if (inputs.lengths.empty()) inputs.texts = read_texts(std::move(input));

  EmbedOptions embed;
  embed.max_length = options.max_length;
  embed.batch_size = options.batch_size;
  // Falling back to a backend other than the requested one would make the comparison meaningless.
  std::vector<runtime::LoadRequest> loads;
  options.policy = BackendPolicy::strict;
  for (const std::string& backend : backends) {
    options.backends = {backend};
    loads.push_back(load_request(options));
  }
  const std::filesystem::path folder = find_model(options, model);
  std::vector<Compared> all;
  Tensor first;
  for (const runtime::LoadRequest& load : loads)
    all.push_back(run_backend(pipelines::load_embedding(folder, pipelines::EmbeddingRequest(load).forced()), inputs,
                              embed, repeat, first));

  output.write(format == OutputFormat::json ? as_json(model, all) : as_text(all));
  output.finish();
}

}  // namespace alate::app
