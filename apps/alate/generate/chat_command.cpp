#include "apps/alate/generate/chat_command.h"

#include <string>
#include <string_view>
#include <utility>

#include "alate/chat.h"
#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/generate/conversation.h"
#include "apps/alate/generate/generation_arguments.h"
#include "apps/alate/models/fetched_model.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "folders/packaged_models.h"
#include "pipelines/generate/generator_state.h"

namespace alate::app {

void run_conversation(Arguments& arguments, FirstMessage first) {
  std::string model, system, prompt;
  GenerationArguments generation;
  ConversationOptions conversation;
  CommonOptions options;
  bool accepts_terms = false;
  arguments.positional("MODEL", first == FirstMessage::argument, model);
  if (first == FirstMessage::argument) arguments.positional("PROMPT", false, prompt);
  arguments.option("--system", "TEXT", "what the model is to be, before the conversation", system);
  arguments.one_of(
      "--think", "HOW", "whether a reasoning model reasons before it answers; hide: it does, and that is not shown",
      {"on", "off", "hide"}, [&](std::string_view word) { conversation.think = parse_think_mode(word).value(); });
  arguments.flag("--stats", "show after each answer how many tokens a second there were", conversation.shows_stats);
  declare_terms(arguments, accepts_terms);
  generation.declare(arguments);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl};
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::cache_type, Shared::threads, Shared::loading},
          written);
  if (!arguments.parse()) return;
  apply(options);
  conversation.format = output_format(options, written);
  Output output(options.out);
  if (model.empty()) model = folders::kBuiltinChat;
  const TextGenerator generator =
      pipelines::load_generator(find_or_fetch_model(options, model, accepts_terms), load_request(options));
  Chat chat(generator);
  chat.set_system(system);
  conversation.generation = generation.over(generator.defaults());
  Conversation with(std::move(chat), std::move(conversation), output);
  if (prompt.empty()) {
    with.run();
  } else {
    with.answer_once(prompt);
  }
  output.finish();
}

void run_chat(Arguments& arguments) { run_conversation(arguments, FirstMessage::none); }

}  // namespace alate::app
