#include "apps/alate/help/verb_help.h"

#include <algorithm>

#include "apps/alate/help/text_columns.h"
#include "base/split_text.h"

namespace alate::app {
namespace {

constexpr std::size_t kOptionColumn = 32;

std::string group_help(const DescribedGroup& group) {
  std::string text;
  for (const DescribedOption& option : group.options) {
    if (option.is_listed()) text += two_columns(shown_option(option), option.sentence, kOptionColumn);
  }
  return text.empty() ? text : "\n" + group.title + ":\n" + text;
}

std::string names_help(const DescribedNames& names) {
  std::string text = "\n" + names.title + ":\n";
  std::size_t longest = 0;
  for (const auto& [name, sentence] : names.rows) longest = std::max(longest, name.size());
  for (const auto& [name, sentence] : names.rows) text += two_columns(name, sentence, longest + 4);
  return text;
}

}  // namespace

std::string shown_option(const DescribedOption& option) {
  std::string text = option.letter.empty() ? option.name : option.letter + ", " + option.name;
  if (!option.negative.empty()) text += ", " + option.negative;
  return option.value.empty() ? text : text + " " + option.value;
}

std::vector<std::string_view> example_lines(const Verb& verb) {
  return verb.example.empty() ? std::vector<std::string_view>() : base::split_text(verb.example, '\n');
}

std::string_view options_everywhere() {
  return "-h or --help, and -v or --version, are understood everywhere. An option --some-name that is not given is "
         "taken from the environment variable ALATE_SOME_NAME, else from the configuration file.";
}

std::string model_note(const VerbDescription& description) {
  const auto is_model = [](const DescribedArgument& argument) { return argument.name.starts_with("MODEL"); };
  if (std::ranges::none_of(description.arguments, is_model) || description.verb->name == "pull") return {};
  return "MODEL is a folder, a name that `alate list` shows, or builtin:minilm or builtin:pii, which come with the "
         "program; `alate pull` fetches others.";
}

std::string help_of(const VerbDescription& description) {
  const Verb& verb = *description.verb;
  std::string title = "alate " + std::string(verb.name);
  if (!verb.synopsis.empty()) title += " " + std::string(verb.synopsis);
  std::string out = wrapped(title + ": " + std::string(verb.sentence), 4) + "\n";
  if (!verb.details.empty()) out += "\n" + wrapped(verb.details) + "\n";
  for (const DescribedGroup& group : description.groups) out += group_help(group);
  for (const DescribedNames& names : description.names) out += names_help(names);
  for (const std::string& note : description.notes) out += "\n" + wrapped(note) + "\n";
  if (const std::string note = model_note(description); !note.empty()) out += "\n" + wrapped(note) + "\n";
  out += "\n" + wrapped(options_everywhere()) + "\n";
  if (!verb.example.empty()) out += "\nExample:\n";
  for (const std::string_view line : example_lines(verb)) out += "  " + std::string(line) + "\n";
  return out + "\nExit codes: 0 is success; `alate help` lists the others.\n";
}

}  // namespace alate::app
