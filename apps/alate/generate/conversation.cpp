#include "apps/alate/generate/conversation.h"

#include <stop_token>
#include <utility>

#include "alate/error.h"
#include "apps/alate/field_text.h"
#include "apps/alate/generate/generation_arguments.h"
#include "apps/alate/generate/generation_json.h"
#include "apps/alate/generate/stop_when.h"
#include "apps/alate/process_setup.h"
#include "base/files/descriptor_io.h"

namespace alate::app {
namespace {

// Stops a call while Ctrl-C is pressed, instead of the process.
class StoppedByInterrupt {
 public:
  std::stop_token token() const { return stop_.token(); }

 private:
  HeldInterrupts interrupts_;
  const StopWhen stop_{[this] { return interrupts_.has_come(); }};  // ends first
};

// Ctrl-C while a line is typed: the terminal drops the line, and the program goes on.
class HintAtInterrupt {
 private:
  HeldInterrupts interrupts_;
  bool is_said_ = false;
  const StopWhen stop_{[this] {
    if (is_said_ || !interrupts_.has_come()) return is_said_;
    write_to_descriptor(base::kStandardError, "\n(Ctrl-D or /exit ends the conversation)\n> ", "standard error");
    return is_said_ = true;
  }};  // ends first
};

constexpr std::string_view kDim = "\x1b[2m", kPlain = "\x1b[0m";

// Pieces of an answer as they come: reasoning, apart from the answer, for who reads at a terminal.
class ShownPieces {
 public:
  ShownPieces(Output& output, bool is_read) : output_(output), is_read_(is_read) {}

  void text(std::string_view piece) {
    end_reasoning();
    output_.write_made_text(piece);
  }
  void reasoning(std::string_view piece) {
    if (!is_read_) return;
    if (!std::exchange(is_reasoning_, true)) output_.write(kDim);
    output_.write_made_text(piece);
  }
  void end_reasoning() {
    if (!std::exchange(is_reasoning_, false)) return;
    output_.write(kPlain);
    output_.write("\n\n");
  }

 private:
  Output& output_;
  const bool is_read_;
  bool is_reasoning_ = false;
};

}  // namespace

std::optional<ThinkMode> parse_think_mode(std::string_view word) {
  if (word == "on") return ThinkMode::on;
  if (word == "off") return ThinkMode::off;
  return word == "hide" ? std::optional(ThinkMode::hidden) : std::nullopt;
}

Conversation::Conversation(Chat chat, ConversationOptions options, Output& output)
    : chat_(std::move(chat)),
      options_(std::move(options)),
      is_typed_(base::is_terminal(base::kStandardInput)),
      is_read_(output.is_terminal()),
      output_(output) {
  set_think(options_.think);
}

void Conversation::run() {
  if (is_typed_) say("Ask something; /help lists commands, Ctrl-D ends.\n");
  while (!is_over_) {
    const std::optional<std::string> message = next_message();
    if (!message) break;
    if (message->empty()) continue;
    if (message->front() == '/' && message->find('\n') == std::string::npos) {
      obey(*message);
    } else {
      answer(*message);
    }
  }
  if (is_typed_ && !is_over_) say("\n");
}

void Conversation::say(std::string_view text) const {
  write_to_descriptor(base::kStandardError, text, "standard error");
}

std::optional<std::string> Conversation::next_line(std::string_view prompt) {
  std::optional<HintAtInterrupt> hint;
  if (is_typed_) {
    say(prompt);
    hint.emplace();
  }
  const auto line = lines_.next();
  return line ? std::optional(std::string(*line)) : std::nullopt;
}

std::optional<std::string> Conversation::next_message() {
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

// Whether the message is to be answered. At a terminal, a full context is said, and its oldest turns may be forgotten.
bool Conversation::make_room(const std::string& message) {
  if (!is_typed_) return true;
  const std::size_t context = chat_.generator().context();
  std::size_t tokens = chat_.prompt_tokens(message);
  if (tokens < context) return true;
  if (chat_.messages().size() < 4) return true;  // nothing to forget: the call says how long the message is
  say("[the conversation has " + std::to_string(tokens) + " tokens, and the context of " + std::to_string(context) +
      " leaves no room for an answer]\n");
  const std::optional<std::string> wish = next_line("Forget the oldest turns until it fits? [Y/n] ");
  if (!wish || (!wish->empty() && *wish != "y" && *wish != "Y" && *wish != "yes")) {
    say("[not sent; /drop forgets the oldest turn, /clear all]\n");
    return false;
  }
  std::size_t dropped = 0;
  for (; tokens >= context && chat_.drop_oldest(); ++dropped) tokens = chat_.prompt_tokens(message);
  say("[" + counted(dropped, "turn") + " forgotten]\n");
  return true;
}

void Conversation::answer(const std::string& message) {
  ShownPieces shown(output_, is_read_ && options_.think != ThinkMode::hidden);
  const bool is_text = options_.format == OutputFormat::text;
  ChatSinks sinks;
  if (is_text)
    sinks = {.text = [&](std::string_view piece) { shown.text(piece); },
             .reasoning =
                 [&](std::string_view piece) {
                   if (options_.think != ThinkMode::hidden) shown.reasoning(piece);
                 }};
  const auto end_line = [&] {
    shown.end_reasoning();
    if (is_text) output_.write("\n");
    output_.flush();
  };
  try {
    if (!make_room(message)) return;
    const StoppedByInterrupt interrupt;
    const ChatAnswer made = chat_.ask(message, options_.generation, sinks, {.stop = interrupt.token()});
    end_line();
    if (!is_text) write_answer(made);
    if (options_.shows_stats) say_stats(made);
    const std::size_t used = made.prompt_tokens + made.tokens.size();
    if (made.finish == FinishReason::length && used >= chat_.generator().context())
      say("[the context of " + std::to_string(chat_.generator().context()) +
          " tokens is full; /drop forgets the oldest turn, /clear all]\n");
  } catch (const Error& error) {
    // In a script nobody reads on: the first error ends it.
    if (error.code() != ErrorCode::cancelled && !is_typed_) throw;
    end_line();
    say(error.code() == ErrorCode::cancelled ? "[stopped]\n" : terminal_lines(error.message()) + "\n");
  }
}

void Conversation::write_answer(const ChatAnswer& answer) {
  formats::Json::Object object =
      generation_json(answer, chat_.generator(), options_.generation.sampling.logprobs.has_value());
  object.insert(object.begin() + 1, {"reasoning", answer.reasoning});
  output_.write(formats::to_json_text(object) + "\n");
  output_.flush();
}

void Conversation::say_stats(const ChatAnswer& answer) const {
  say("[" + speed_of_text(answer) +
      "; prompt: " + speed_text(answer.prompt_tokens - answer.cached_tokens, answer.prompt_time) + ", " +
      std::to_string(answer.cached_tokens) + " known; " + std::to_string(answer.prompt_tokens + answer.tokens.size()) +
      " of " + std::to_string(chat_.generator().context()) + " tokens of the context]\n");
}

void Conversation::set_think(ThinkMode mode) {
  options_.think = mode;
  chat_.set_thinking(mode == ThinkMode::usual ? std::nullopt : std::optional(mode != ThinkMode::off));
}

}  // namespace alate::app
