// alate generate
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "alate/generation.h"
#include "apps/alate/common_options.h"
#include "apps/alate/generate/generation_arguments.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/whole_file.h"
#include "apps/alate/verb.h"
#include "base/files/descriptor_io.h"
#include "formats/json.h"
#include "pipelines/generate/generator_state.h"

namespace alate::app {
namespace {

// Of a text whose model says nothing, and which might never end.
constexpr std::int64_t kUsualTokens = 256;

formats::Json json_of(const Generation& made, const TextGenerator& generator, bool with_logprobs) {
  const auto logprob_of = [&](const TokenLogprob& token) -> formats::Json {
    return formats::Json::Object{{"id", std::int64_t{token.token}},
                                 {"token", generator.tokenizer().decode(std::span(&token.token, 1))},
                                 {"logprob", double{token.logprob}}};
  };
  formats::Json::Array tokens;
  for (const GeneratedToken& token : made.tokens) {
    if (!with_logprobs) {
      tokens.emplace_back(std::int64_t{token.id});
      continue;
    }
    formats::Json::Object object = logprob_of({token.id, token.logprob}).as_object("");
    formats::Json::Array top;
    for (const TokenLogprob& each : token.top) top.push_back(logprob_of(each));
    object.emplace_back("top", std::move(top));
    tokens.emplace_back(std::move(object));
  }
  const auto seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
  return formats::Json::Object{{"text", made.text},
                               {"finish_reason", std::string(to_string(made.finish))},
                               {"prompt_tokens", static_cast<std::int64_t>(made.prompt_tokens)},
                               {"tokens", std::move(tokens)},
                               {"seed", std::to_string(made.seed)},
                               {"prompt_seconds", seconds(made.prompt_time)},
                               {"token_seconds", seconds(made.token_time)}};
}

}  // namespace

void run_generate(Arguments& arguments) {
  std::string model;
  std::string prompt;
  GenerationArguments generation;
  std::optional<std::size_t> logprobs;
  CommonOptions options;
  bool times = false;
  arguments.positional("MODEL", true, model);
  arguments.positional("PROMPT", false, prompt);
  generation.declare(arguments);
  arguments.option("--logprobs", "N",
                   "in json: the log probability of each token, and the N likeliest ones with theirs", logprobs);
  arguments.flag("--times", "say how long prompt and text took, on standard error", times);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::cache_type, Shared::threads, Shared::loading},
          written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  if (prompt.empty() || prompt == "-") {
    TextInput input;
    read_whole_file(input);
    prompt = std::move(input.arguments.front());
  }
  Output output(options.out);
  const TextGenerator generator = pipelines::load_generator(find_model(options, model), load_request(options));
  GenerationOptions wanted = generation.over(generator.defaults());
  if (!wanted.stopping.max_tokens) wanted.stopping.max_tokens = kUsualTokens;
  if (logprobs) wanted.sampling.logprobs = static_cast<std::int64_t>(*logprobs);
  const auto show = [&](std::string_view piece) {
    if (format != OutputFormat::text) return;
    output.write(piece);
    output.flush();
  };
  const Generation made = generator.generate(prompt, wanted, show);
  output.write(format == OutputFormat::text
                   ? std::string("\n")
                   : formats::to_json_text(json_of(made, generator, logprobs.has_value())) + "\n");
  output.finish();
  if (times)
    write_to_descriptor(
        base::kStandardError,
        "prompt: " + speed_text(made.prompt_tokens, made.prompt_time) + "\ntext: " + speed_of_text(made) + "\n",
        "standard error");
}

}  // namespace alate::app
