// alate generate
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/generation.h"
#include "apps/alate/common_options.h"
#include "apps/alate/generate/generation_arguments.h"
#include "apps/alate/generate/generation_job.h"
#include "apps/alate/generate/generation_json.h"
#include "apps/alate/models/fetched_model.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/big_job.h"
#include "apps/alate/texts/whole_file.h"
#include "apps/alate/verb.h"
#include "base/files/descriptor_io.h"
#include "formats/json.h"
#include "pipelines/generate/generator_state.h"

namespace alate::app {
namespace {

// Of a text whose model says nothing, and which might never end.
constexpr std::int64_t kUsualTokens = 256;
// Prompts that are read at a time: as many as are generated at once.
constexpr std::size_t kPartPrompts = 64;

constexpr auto kWritten = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl};

struct GenerateArguments {
  std::string model;
  TextInput input;
  GenerationArguments generation;
  std::optional<std::size_t> logprobs;
  TextCounts counts;
  BigJobOptions job;
  CommonOptions common;
  bool shows_stats = false, accepts_terms = false;

  TextGenerator load(const std::filesystem::path& folder) const {
    return pipelines::load_generator(folder, load_request(common));
  }
  GenerationOptions over(const TextGenerator& generator) const {
    GenerationOptions wanted = generation.over(generator.defaults());
    if (!wanted.stopping.max_tokens) wanted.stopping.max_tokens = kUsualTokens;
    if (logprobs) wanted.sampling.logprobs = static_cast<std::int64_t>(*logprobs);
    return wanted;
  }
};

void say_stats(const Generation& made) {
  write_to_descriptor(
      base::kStandardError,
      "prompt: " + speed_text(made.prompt_tokens, made.prompt_time) + "\ntext: " + speed_of_text(made) + "\n",
      "standard error");
}

void generate_one(const GenerateArguments& given, const std::string& prompt, OutputFormat format) {
  Output output(given.common.out);
  const TextGenerator generator = given.load(find_or_fetch_model(given.common, given.model, given.accepts_terms));
  const GenerationOptions wanted = given.over(generator);
  const bool is_one = given.counts.n == 1 && given.counts.best_of < 2;
  if (is_one) {
    const auto show = [&](std::string_view piece) {
      if (format == OutputFormat::text) output.write_made_text(piece);
    };
    const Generation made = generator.generate(prompt, wanted, show);
    output.write(format == OutputFormat::text
                     ? std::string("\n")
                     : formats::to_json_text(generation_json(made, generator, given.logprobs.has_value())) + "\n");
    output.finish();
    if (given.shows_stats) say_stats(made);
    return;
  }
  const std::string_view prompts[] = {prompt};
  formats::Json::Array texts;
  const std::vector<std::vector<Generation>> all = generator.generate_several(prompts, given.counts, wanted);
  for (const Generation& made : all.front()) {
    if (format == OutputFormat::text) {
      output.write_made_text(made.text + "\n\n");
    } else if (format == OutputFormat::jsonl) {
      output.write(formats::to_json_text(generation_json(made, generator, given.logprobs.has_value())) + "\n");
    } else {
      texts.emplace_back(generation_json(made, generator, given.logprobs.has_value()));
    }
  }
  if (format == OutputFormat::json)
    output.write(formats::to_json_text(formats::Json::Object{{"texts", std::move(texts)}}) + "\n");
  output.finish();
}

void generate_many(Arguments& arguments, GenerateArguments& given, OutputFormat format) {
  if (format == OutputFormat::json)
    throw arguments.usage_error("json is for one prompt; choose --output jsonl, an object for each prompt, or text");
  BigJob job(arguments, given.common,
             {.verb = "generate", .options = given.job, .format = format, .part_inputs = kPartPrompts}, given.input);
  const std::filesystem::path folder = find_or_fetch_model(given.common, given.model, given.accepts_terms);
  TextSource& source = job.open(std::move(given.input));
  static constexpr std::array<std::string_view, 3> kOwnMembers = {"index", "prompt", "generations"};
  if (format == OutputFormat::jsonl) source.keep_members(kOwnMembers);
  job.count_single_texts();
  const TextGenerator generator = given.load(folder);
  run_generation_job({.folder = folder,
                      .generator = generator,
                      .options = given.over(generator),
                      .counts = given.counts,
                      .format = format,
                      .on_error = given.job.on_error},
                     job);
}

}  // namespace

void run_generate(Arguments& arguments) {
  GenerateArguments given;
  arguments.positional("MODEL", true, given.model);
  declare(arguments, given.input, "prompts from there, one a line");
  given.generation.declare(arguments);
  arguments.option("--n", "N", "so many texts of a prompt", given.counts.n);
  arguments.option("--best-of", "N", "make N texts, and take the likeliest, by their tokens' mean log probability",
                   given.counts.best_of);
  arguments.option("--logprobs", "N",
                   "in json: the log probability of each token, and the N likeliest ones with theirs", given.logprobs);
  arguments.flag("--stats", "say how long prompt and text took, on standard error", given.shows_stats);
  declare_terms(arguments, given.accepts_terms);
  arguments.group("Many prompts");
  declare(arguments, given.job);
  declare(arguments, given.common,
          {Shared::models, Shared::backends, Shared::dtype, Shared::cache_type, Shared::threads, Shared::loading},
          kWritten);
  if (!arguments.parse()) return;
  apply(given.common);
  const OutputFormat format = output_format(given.common, kWritten);
  std::vector<std::string>& prompts = given.input.arguments;
  const bool is_standard_input = prompts.empty() || (prompts.size() == 1 && prompts.front() == "-");
  if (prompts.size() > 1 || !given.input.file.empty() || !given.input.format.empty())
    return generate_many(arguments, given, format);
  if (is_standard_input) read_whole_file(given.input);
  if (given.job.resumes) throw arguments.usage_error("--resume is for many prompts: name their file with --file");
  generate_one(given, given.input.arguments.front(), format);
}

}  // namespace alate::app
