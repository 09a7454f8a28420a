// alate chat
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "alate/chat.h"
#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/generate/generation_arguments.h"
#include "apps/alate/output.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/texts/line_reader.h"
#include "apps/alate/verb.h"
#include "base/files/descriptor_io.h"
#include "pipelines/generate/generator_state.h"

namespace alate::app {
namespace {

constexpr std::string_view kCommands =
    "/clear          forget the conversation\n"
    "/drop           forget its oldest turn\n"
    "/system TEXT    what the model is to be; begins anew\n"
    "/times          show after each answer how long it took, or no longer\n"
    "/help           these lines\n"
    "/exit           end, as Ctrl-D does\n"
    "A line that ends with \\ goes on in the next; lines between \"\"\" and \"\"\" are one message. Ctrl-C stops an "
    "answer.\n";

// Stops a call while Ctrl-C is pressed, instead of the process.
class StoppedByInterrupt {
 public:
  StoppedByInterrupt()
      : watcher_([this](const std::stop_token& over) {
          while (!over.stop_requested()) {
            if (interrupts_.has_come()) source_.request_stop();
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          }
        }) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  HeldInterrupts interrupts_;
  std::stop_source source_;
  std::jthread watcher_;  // ends first
};

class Conversation {
 public:
  Conversation(Chat chat, GenerationOptions options, bool shows_times, Output& output)
      : chat_(std::move(chat)),
        options_(std::move(options)),
        shows_times_(shows_times),
        is_terminal_(base::is_terminal(base::kStandardInput)),
        output_(output) {}

  // Until the input ends.
  void run() {
    if (is_terminal_) say("Ask something; /help lists commands, Ctrl-D ends.\n");
    while (const std::optional<std::string> message = next_message()) {
      if (message->empty()) continue;
      if (message->front() == '/' && message->find('\n') == std::string::npos) {
        if (!obey(*message)) return;
      } else {
        answer(*message);
      }
    }
    if (is_terminal_) say("\n");
  }

 private:
  // What is for a person, not part of the answers.
  static void say(std::string_view text) { write_to_descriptor(base::kStandardError, text, "standard error"); }

  std::optional<std::string> next_line(std::string_view prompt) {
    if (is_terminal_) say(prompt);
    const auto line = lines_.next();
    return line ? std::optional(std::string(*line)) : std::nullopt;
  }

  std::optional<std::string> next_message() {
    std::optional<std::string> line = next_line("> ");
    if (!line) return line;
    constexpr std::string_view kQuotes = "\"\"\"";
    std::string message;
    if (line->starts_with(kQuotes)) {
      std::string rest = line->substr(kQuotes.size());
      while (!rest.ends_with(kQuotes)) {
        message += rest + '\n';
        line = next_line(". ");
        if (!line) return message;
        rest = *line;
      }
      return message + rest.substr(0, rest.size() - kQuotes.size());
    }
    while (line && line->ends_with('\\')) {
      message += line->substr(0, line->size() - 1) + '\n';
      line = next_line(". ");
    }
    return message + line.value_or("");
  }

  // False for the end.
  bool obey(const std::string& command) {
    const std::string name = command.substr(0, command.find(' '));
    const std::string rest = name.size() < command.size() ? command.substr(name.size() + 1) : std::string();
    if (name == "/exit" || name == "/bye" || name == "/quit") return false;
    if (name == "/help") {
      say(kCommands);
    } else if (name == "/clear") {
      chat_.clear();
      say("forgotten\n");
    } else if (name == "/drop") {
      say(chat_.drop_oldest() ? "the oldest turn is forgotten\n" : "there is no older turn\n");
    } else if (name == "/system") {
      chat_.set_system(rest);
      say(rest.empty() ? "there is no system message any more; the conversation begins anew\n"
                       : "the conversation begins anew\n");
    } else if (name == "/times") {
      shows_times_ = !shows_times_;
    } else {
      say("there is no command " + name + "; /help lists them\n");
    }
    return true;
  }

  void answer(const std::string& message) {
    const StoppedByInterrupt interrupt;
    const auto show = [&](std::string_view piece) {
      output_.write(piece);
      output_.flush();
    };
    try {
      const Generation made = chat_.ask(message, options_, show, {.stop = interrupt.token()});
      output_.write("\n");
      output_.flush();
      if (shows_times_)
        say("[" + speed_of_text(made) + "; prompt of " + std::to_string(made.prompt_tokens) + ", " +
            std::to_string(made.cached_tokens) + " known]\n");
      const std::size_t used = made.prompt_tokens + made.tokens.size();
      if (made.finish == FinishReason::length && used >= chat_.generator().context())
        say("[the context of " + std::to_string(chat_.generator().context()) +
            " tokens is full; /drop forgets the oldest turn, /clear all]\n");
    } catch (const Error& error) {
      output_.write("\n");
      output_.flush();
      if (error.code() == ErrorCode::cancelled) return say("[stopped]\n");
      // In a script nobody reads on: the first error ends it.
      if (!is_terminal_) throw;
      say(error.message() + "\n");
    }
  }

  Chat chat_;
  GenerationOptions options_;
  bool shows_times_;
  const bool is_terminal_;
  Output& output_;
  LineReader lines_;
};

}  // namespace

void run_chat(Arguments& arguments) {
  std::string model, system;
  GenerationArguments generation;
  CommonOptions options;
  bool times = false;
  arguments.positional("MODEL", true, model);
  arguments.option("--system", "TEXT", "what the model is to be, before the conversation", system);
  arguments.flag("--times", "show after each answer how long it took", times);
  generation.declare(arguments);
  declare(arguments, options,
          {Shared::models, Shared::backends, Shared::dtype, Shared::cache_type, Shared::threads, Shared::loading}, {});
  if (!arguments.parse()) return;
  apply(options);
  Output output(options.out);
  const TextGenerator generator = pipelines::load_generator(find_model(options, model), load_request(options));
  Chat chat(generator);
  chat.set_system(system);
  Conversation(std::move(chat), generation.over(generator.defaults()), times, output).run();
  output.finish();
}

}  // namespace alate::app
