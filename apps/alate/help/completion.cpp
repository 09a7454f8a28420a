#include "apps/alate/help/completion.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "alate/error.h"
#include "apps/alate/configuration.h"
#include "apps/alate/verb_description.h"
#include "base/os/environment.h"
#include "base/split_text.h"
#include "folders/builtin_models.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"

namespace alate::app {
namespace {

// Options of every verb that no verb declares.
std::vector<Candidate> options_of_all() {
  return {{"--help", "what this command takes"}, {"--version", "the version of the program"}};
}

using Words = std::span<const std::string>;

// The value of an option among the words before the cursor; nothing if it is not there.
std::optional<std::string> value_among(Words words, std::string_view option) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) value = words[i + 1];
    if (words[i].starts_with(option) && words[i].size() > option.size() && words[i][option.size()] == '=')
      value = words[i].substr(option.size() + 1);
  }
  return value;
}

// As the verb would look it up.
std::filesystem::path models_directory_of(Words words) {
  if (const auto given = value_among(words, "--models-dir")) return *given;
  if (const auto given = base::environment("ALATE_MODELS_DIR")) return *given;
  Configuration configuration;
  const auto file = value_among(words, "--config");
  if (file || base::environment("ALATE_CONFIG"))
    configuration.choose(file ? *file : *base::environment("ALATE_CONFIG"));
  const auto found = configuration.value_of("--models-dir");
  if (found && !found->values.empty()) return found->values.back();
  return base::cache_directory() / "models";
}

void add_models(Words words, Completions& to) {
  std::vector<std::string> names = folders::list_builtin_models();
  if (const auto cache = folders::user_hub_cache()) {
    for (folders::HubModel& model : folders::list_hub_models(*cache)) names.push_back(std::move(model.id));
  }
  try {
    const std::vector<std::string> listed = folders::list_models(models_directory_of(words));
    names.insert(names.end(), listed.begin(), listed.end());
  } catch (const Error&) {
    // Without a home folder, or with a broken configuration, the other names are still right.
  }
  for (std::string& name : names) {
    const bool is_builtin = name.starts_with(folders::kBuiltinPrefix);
    // Folders may have any names; one that no command takes is none of a model, and may break lines.
    if (is_builtin || folders::is_model_name(name)) to.candidates.push_back({std::move(name), "model"});
  }
}

void add_all(const std::vector<std::string>& choices, Completions& to) {
  for (const std::string& choice : choices) to.candidates.push_back({choice});
}

// After --option, or for the part after "--option=". In a list, the part after the last comma is completed.
Completions values_of(const DescribedOption& option, std::string_view typed, Words words) {
  Completions found;
  add_all(option.choices, found);
  const std::string_view before = typed.substr(0, typed.rfind(',') + 1);
  for (Candidate& candidate : found.candidates) candidate.text.insert(0, before);
  if (option.name == "--model" || option.name == "--preload") add_models(words, found);
  if (option.value == "FILE" || option.value == "PATH") found.paths = PathKind::files;
  if (option.value == "DIR") found.paths = PathKind::folders;
  return found;
}

void add_options(const VerbDescription& verb, Completions& to) {
  const auto add = [&](const DescribedOption& option) {
    to.candidates.push_back({option.name, option.sentence});
    if (!option.negative.empty()) to.candidates.push_back({option.negative, option.sentence});
  };
  for (const DescribedGroup& group : verb.groups) {
    for (const DescribedOption& option : group.options) {
      if (option.is_listed()) add(option);
    }
  }
  for (Candidate& each : options_of_all()) to.candidates.push_back(std::move(each));
}

Completions argument_values(const VerbDescription& verb, std::size_t position, Words words) {
  Completions found;
  if (verb.arguments.empty()) return found;
  const bool is_beyond = position >= verb.arguments.size();
  if (is_beyond && !verb.arguments.back().is_repeated) return found;
  const DescribedArgument& argument = verb.arguments[std::min(position, verb.arguments.size() - 1)];
  add_all(argument.choices, found);
  if (argument.name == "MODEL") {
    add_models(words, found);
    found.paths = PathKind::files;
  }
  if (argument.name == "OUT" || argument.name == "FOLDER") found.paths = PathKind::folders;
  return found;
}

Completions completions_in(const VerbDescription& verb, Words words) {
  const std::string& last = words.back();
  std::size_t position = 0;
  bool only_arguments = false;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (!only_arguments && word == "--") {
      only_arguments = true;
    } else if (only_arguments || !word.starts_with('-') || word.size() == 1) {
      ++position;
    } else if (const DescribedOption* option = verb.find(word); option != nullptr && !option->value.empty()) {
      if (++i + 1 == words.size()) return values_of(*option, last, words);
    }
  }
  if (only_arguments || !last.starts_with('-')) return argument_values(verb, position, words);
  Completions found;
  const std::size_t sign = last.find('=');
  if (sign == std::string::npos) {
    add_options(verb, found);
    return found;
  }
  const DescribedOption* option = verb.find(last.substr(0, sign));
  if (option == nullptr) return found;
  found = values_of(*option, std::string_view(last).substr(sign + 1), words);
  for (Candidate& candidate : found.candidates) candidate.text.insert(0, last, 0, sign + 1);
  return found;
}

Completions completions_of_verbs() {
  Completions found;
  for (const Verb& verb : verbs()) {
    if (!verb.hidden) found.candidates.push_back({std::string(verb.name), std::string(verb.sentence)});
  }
  for (Candidate& each : options_of_all()) found.candidates.push_back(std::move(each));
  return found;
}

}  // namespace

Completions complete(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  Completions found;
  if (words.size() == 1) {
    found = completions_of_verbs();
  } else if (const Verb* verb = find_verb(words.front())) {
    found = completions_in(describe(*verb), words);
  }
  std::erase_if(found.candidates, [&](const Candidate& each) { return !each.text.starts_with(words.back()); });
  return found;
}

}  // namespace alate::app
