// The lines of a conversation that begin with a slash.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "apps/alate/field_text.h"
#include "apps/alate/generate/conversation.h"
#include "apps/alate/generate/generation_arguments.h"
#include "base/nearest_name.h"

namespace alate::app {
namespace {

constexpr std::string_view kAboutLines =
    "A line that ends with \\ goes on in the next; lines between \"\"\" and \"\"\" are one message.\n"
    "Ctrl-C stops an answer, Ctrl-D ends.\n";

}  // namespace

struct Conversation::Command {
  std::string_view name, value, sentence;  // without a sentence it is another name of the one before
  void (Conversation::*run)(const std::string& rest);
};

const std::vector<Conversation::Command>& Conversation::commands() {
  static const std::vector<Command> all = {
      {"/help", "", "these lines", &Conversation::show_help},
      {"/?", "", "", &Conversation::show_help},
      {"/clear", "", "forget the conversation", &Conversation::clear},
      {"/undo", "", "forget the latest turn", &Conversation::undo},
      {"/drop", "", "forget the oldest turn", &Conversation::drop},
      {"/system", "TEXT", "what the model is to be; begins anew", &Conversation::set_system},
      {"/set", "OPTION VALUE", "how tokens are chosen: /set temperature 0.2; alone: what is set",
       &Conversation::set_option},
      {"/think", "on|off|hide", "whether the model reasons first, and whether that is shown",
       &Conversation::switch_think},
      {"/stats", "", "show tokens a second after each answer, or no longer", &Conversation::switch_stats},
      {"/exit", "", "end, as Ctrl-D does", &Conversation::end},
      {"/bye", "", "", &Conversation::end},
      {"/quit", "", "", &Conversation::end},
  };
  return all;
}

void Conversation::obey(const std::string& line) {
  const std::string name = line.substr(0, line.find(' '));
  std::string rest = name.size() < line.size() ? line.substr(name.size() + 1) : std::string();
  rest.erase(0, std::min(rest.find_first_not_of(' '), rest.size()));
  const auto found = std::ranges::find(commands(), std::string_view(name), &Command::name);
  if (found == commands().end()) {
    std::vector<std::string_view> known;
    for (const Command& command : commands()) known.push_back(command.name);
    say("there is no command " + terminal_text(name) + base::did_you_mean(name, known) + "; /help lists them\n");
    return;
  }
  try {
    (this->*found->run)(rest);
  } catch (const Error& error) {
    if (!is_typed_) throw;
    say(terminal_lines(error.message()) + "\n");
  }
}

void Conversation::show_help(const std::string& /*rest*/) {
  std::vector<std::vector<std::string>> rows;
  for (const Command& command : commands()) {
    if (!command.sentence.empty())
      rows.push_back({std::string(command.name) + (command.value.empty() ? "" : " ") + std::string(command.value),
                      std::string(command.sentence)});
  }
  say(text_table(rows) + std::string(kAboutLines));
}

void Conversation::clear(const std::string& /*rest*/) {
  chat_.clear();
  say("forgotten\n");
}

void Conversation::undo(const std::string& /*rest*/) {
  say(chat_.drop_latest() ? "the latest turn is forgotten\n" : "there is no turn\n");
}

void Conversation::drop(const std::string& /*rest*/) {
  say(chat_.drop_oldest() ? "the oldest turn is forgotten\n" : "there is no older turn\n");
}

void Conversation::set_system(const std::string& rest) {
  chat_.set_system(rest);
  say(rest.empty() ? "there is no system message any more; the conversation begins anew\n"
                   : "the conversation begins anew\n");
}

void Conversation::set_option(const std::string& rest) {
  if (rest.empty()) return say(generation_option_lines(options_.generation));
  const std::size_t space = rest.find(' ');
  const std::string name = rest.substr(0, space);
  set_generation_option(options_.generation, name, space == std::string::npos ? "" : rest.substr(space + 1));
}

void Conversation::switch_think(const std::string& rest) {
  const std::optional<ThinkMode> mode = parse_think_mode(rest);
  if (!mode) return say("/think is on, off or hide\n");
  set_think(*mode);
}

void Conversation::switch_stats(const std::string& /*rest*/) {
  options_.shows_stats = !options_.shows_stats;
  say(options_.shows_stats ? "times are shown after each answer\n" : "times are not shown any more\n");
}

void Conversation::end(const std::string& /*rest*/) { is_over_ = true; }

}  // namespace alate::app
