#include "arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "apps/alate/help/verb_help.h"
#include "base/nearest_name.h"
#include "base/split_text.h"
#include "formats/json.h"
#include "output.h"
#include "program_version.h"

namespace alate::app {
namespace {

// CLI11 splits an argument in square brackets at its commas; this leading mark keeps a text intact.
constexpr char kMark = '\x01';

std::string marked(std::string argument) {
  if (!argument.empty() && (argument.front() == '[' || argument.front() == kMark)) argument.insert(0, 1, kMark);
  return argument;
}

std::string unmarked(const std::string& argument) {
  return !argument.empty() && argument.front() == kMark ? argument.substr(1) : argument;
}

// The parts of "--name,-n" or "--name,!--no-name".
DescribedOption named_option(std::string_view names, std::string_view value, std::string_view sentence) {
  DescribedOption option;
  for (const std::string_view part : base::split_text(names, ',')) {
    if (part.starts_with("!")) {
      option.negative = part.substr(1);
    } else if (part.starts_with("--")) {
      option.name = part;
    } else {
      option.letter = part;
    }
  }
  option.value = value;
  option.sentence = sentence;
  return option;
}

bool read_bool(std::string_view text) {
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (text == no) return false;
  }
  throw make_error(ErrorCode::invalid_argument, "is true or false");
}

std::size_t read_count(std::string_view text) {
  std::size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    throw make_error(ErrorCode::invalid_argument, "is a whole number from 0");
  return value;
}

// "error, cut or windows".
std::string listed(const std::vector<std::string>& values, std::string_view before_last) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i)
    list += std::string(i == 0 ? "" : i + 1 == values.size() ? before_last : ", ") + values[i];
  return list;
}

// Says which commands have an option that this one lacks.
std::string takers_of(const std::string& option) {
  std::string names;
  for (const VerbDescription& each : verb_descriptions()) {
    if (!each.verb->hidden && each.find(option) != nullptr)
      names += (names.empty() ? "" : ", ") + std::string(each.verb->name);
  }
  return names.empty() ? "" : " here; the commands that use it: " + names;
}

// Parses the values given for an option, in order, into the verb's variables.
using ReadValues = std::function<void(const std::vector<std::string>&)>;

struct Declared {
  CLI::Option* option = nullptr;
  std::string name;  // used in errors
  ReadValues read;
  bool required = false;
};

}  // namespace

struct Arguments::State {
  CLI::App app;
  std::vector<std::string> given;
  std::vector<Declared> declared;
  std::function<std::optional<Configured>(std::string_view option)> configured;
  VerbDescription description;
  bool only_describes = false;
  bool described_argument_last = false;
};

Arguments::Arguments(const Verb& verb, std::vector<std::string> arguments)
    : verb_(verb), state_(std::make_unique<State>()) {
  state_->description.verb = &verb;
  state_->description.groups.push_back({"Options"});
  state_->given = std::move(arguments);
  state_->app.set_help_flag();
  state_->app.allow_extras();
  state_->app.allow_windows_style_options(false);  // paths may begin with a slash on Windows too
}

Arguments::Arguments(const Verb& verb) : Arguments(verb, {}) { state_->only_describes = true; }

Arguments::~Arguments() = default;

std::optional<std::string> Arguments::first() const {
  return state_->given.empty() ? std::nullopt : std::optional(state_->given.front());
}

bool Arguments::is_described() const { return state_->only_describes; }

DescribedOption& Arguments::record(DescribedOption option) {
  state_->described_argument_last = false;
  return state_->description.groups.back().options.emplace_back(std::move(option));
}

void Arguments::positional(std::string_view name, bool required, std::string& target) {
  CLI::Option* option = state_->app.add_option(std::string(name))->expected(1)->allow_extra_args(false);
  state_->declared.push_back(
      {option, std::string(name), [&target](const auto& values) { target = values.back(); }, required});
  state_->description.arguments.push_back({.name = std::string(name)});
  state_->described_argument_last = true;
}

void Arguments::positionals(std::string_view name, std::vector<std::string>& target) {
  CLI::Option* option = state_->app.add_option(std::string(name))
                            ->expected(0, CLI::detail::expected_max_vector_size)
                            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                            ->allow_extra_args();
  state_->declared.push_back({option, std::string(name), [&target](const auto& values) { target = values; }});
  state_->description.arguments.push_back({.name = std::string(name), .is_repeated = true});
  state_->described_argument_last = true;
}

void Arguments::flag(std::string_view names, std::string_view sentence, bool& target) {
  const std::string& name = record(named_option(names, "", sentence)).name;
  CLI::Option* option = state_->app.add_flag(std::string(names))->envname(variable_of_option(name));
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  state_->declared.push_back({option, name, [&target](const auto& values) { target = read_bool(values.back()); }});
}

void Arguments::flag(std::string_view names, std::string_view sentence, std::optional<bool>& target) {
  bool unused = false;
  flag(names, sentence, unused);
  state_->declared.back().read = [&target](const auto& values) { target = read_bool(values.back()); };
}

void Arguments::option(std::string_view names, std::string_view value, std::string_view sentence,
                       std::function<void(std::string_view)> read) {
  const std::string& name = record(named_option(names, value, sentence)).name;
  CLI::Option* option = state_->app.add_option(std::string(names))->envname(variable_of_option(name))->expected(1);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->allow_extra_args(false);
  state_->declared.push_back({option, name, [read = std::move(read)](const auto& values) { read(values.back()); }});
}

void Arguments::one_of(std::string_view name, std::string_view value, std::string_view sentence,
                       std::vector<std::string> values, std::function<void(std::string_view)> read) {
  const std::string shown = listed(values, " or ") + (sentence.empty() ? "" : ": ") + std::string(sentence);
  option(name, value, shown, [values, read = std::move(read)](std::string_view text) {
    if (std::ranges::find(values, text) == values.end())
      throw make_error(ErrorCode::invalid_argument, "is one of ", listed(values, ", "));
    read(text);
  });
  choices([&] { return values; });
}

void Arguments::former_name(std::string_view name) {
  const auto read = state_->declared.back().read;
  option(name, state_->description.groups.back().options.back().value, "", [](std::string_view) {});
  state_->declared.back().read = read;
}

void Arguments::refuse_empty() {
  auto& declared = state_->declared.back();
  declared.read = [read = std::move(declared.read)](const std::vector<std::string>& values) {
    if (values.back().empty()) throw Error(ErrorCode::invalid_argument, "is empty: name one, or leave it out");
    read(values);
  };
}

void Arguments::choices(std::initializer_list<std::string_view> values) {
  choices([&] { return std::vector<std::string>(values.begin(), values.end()); });
}

void Arguments::choices(const std::function<std::vector<std::string>()>& values) {
  if (!state_->only_describes) return;
  VerbDescription& description = state_->description;
  auto& target = state_->described_argument_last ? description.arguments.back().choices
                                                 : description.groups.back().options.back().choices;
  target = values();
}

void Arguments::option(std::string_view name, std::string_view value, std::string_view sentence, std::string& target) {
  option(name, value, sentence, [&target](std::string_view text) { target = text; });
}

void Arguments::option(std::string_view name, std::string_view value, std::string_view sentence,
                       std::optional<std::string>& target) {
  option(name, value, sentence, [&target](std::string_view text) { target = std::string(text); });
}

void Arguments::option(std::string_view name, std::string_view value, std::string_view sentence, std::size_t& target) {
  option(name, value, sentence, [&target](std::string_view text) { target = read_count(text); });
}

void Arguments::option(std::string_view name, std::string_view value, std::string_view sentence,
                       std::optional<std::size_t>& target) {
  option(name, value, sentence, [&target](std::string_view text) { target = read_count(text); });
}

void Arguments::repeated(std::string_view name, std::string_view value, std::string_view sentence,
                         std::vector<std::string>& target) {
  option(name, value, sentence, [](std::string_view) {});
  state_->declared.back().option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  state_->declared.back().read = [&target](const std::vector<std::string>& values) { target = values; };
}

void Arguments::list(std::string_view name, std::string_view value, std::string_view sentence,
                     std::vector<std::string>& target) {
  repeated(name, value, sentence, target);
  state_->declared.back().read = [&target](const std::vector<std::string>& values) {
    target.clear();
    for (const std::string& text : values) {
      for (std::string& entry : base::split_list(text)) target.push_back(std::move(entry));
    }
  };
}

void Arguments::raw(std::string_view name, std::string_view value, std::string_view sentence,
                    std::optional<std::vector<std::string>>& given) {
  CLI::Option* option = nullptr;
  if (value.empty()) {
    option = state_->app.add_flag(std::string(name))->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  } else {
    option = state_->app.add_option(std::string(name))->expected(1)->allow_extra_args(false);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  state_->declared.push_back({option, std::string(name), [&given](const auto& values) { given = values; }});
  record(named_option(name, value, sentence));
}

void Arguments::fall_back_on(std::function<std::optional<Configured>(std::string_view option)> look_up) {
  state_->configured = std::move(look_up);
}

void Arguments::group(std::string_view title) { state_->description.groups.push_back({std::string(title)}); }

void Arguments::names(std::string_view title, std::vector<std::pair<std::string, std::string>> rows) {
  state_->description.names.push_back({std::string(title), std::move(rows)});
}

void Arguments::note(std::string_view text) { state_->description.notes.emplace_back(text); }

Error Arguments::usage_error(std::string_view message) const {
  return make_error(ErrorCode::invalid_argument, message, "; see `alate ", verb_.name, " --help`");
}

const VerbDescription& Arguments::description() const { return state_->description; }

void Arguments::refuse_unknown() const {
  for (const std::string& extra : state_->app.remaining()) {
    if (extra == "--") continue;
    if (extra.size() < 2 || extra.front() != '-') throw usage_error("there is an argument too many");
    const std::string name = extra.substr(0, extra.find('='));
    std::vector<std::string_view> known;
    for (const Declared& declared : state_->declared) known.push_back(declared.name);
    std::string hint = base::did_you_mean(name, known);
    if (hint.empty()) hint = takers_of(name);
    const auto& arguments = state_->description.arguments;
    if (hint.empty() && !arguments.empty() && arguments.back().is_repeated)
      hint = " (put -- before texts that begin with -)";
    throw usage_error("there is no option " + formats::quoted_name(name) + hint);
  }
}

void Arguments::read_configured(const std::string& option,
                                const std::function<void(const std::vector<std::string>&)>& read) const {
  const auto found = state_->configured ? state_->configured(option) : std::nullopt;
  if (!found) return;
  try {
    read(found->values);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw make_error(ErrorCode::invalid_argument, found->origin, " ", error.message());
  }
}

bool Arguments::parse() {
  if (state_->only_describes) return false;
  const auto options_end = std::ranges::find(state_->given, "--");
  const auto asks = [&](std::string_view name) {
    return std::find(state_->given.begin(), options_end, name) != options_end;
  };
  const bool asks_version = asks("--version") || asks("-v");
  if (asks("--help") || asks("-h") || asks_version) {
    Output output;
    output.write(asks_version ? version_text() : help_of(description()));
    output.finish();
    return false;
  }

  std::vector<std::string> arguments;
  for (auto& argument : state_->given) arguments.push_back(marked(std::move(argument)));
  std::ranges::reverse(arguments);  // CLI11 expects reverse order
  try {
    state_->app.parse(std::move(arguments));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string message = error.what();
    throw usage_error(message.substr(0, message.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    throw usage_error(error.what());
  }
  refuse_unknown();
  std::vector<const Declared*> not_given;
  for (const Declared& declared : state_->declared) {
    std::vector<std::string> values = declared.option->results();
    if (values.empty() && declared.required) throw usage_error(declared.name + " is missing");
    if (values.empty()) {
      not_given.push_back(&declared);
      continue;
    }
    std::ranges::transform(values, values.begin(), unmarked);
    try {
      declared.read(values);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      throw usage_error(declared.name + " " + error.message());
    }
  }
  // After all that is given: --config may be among it.
  for (const Declared* declared : not_given) read_configured(declared->name, declared->read);
  return true;
}

}  // namespace alate::app
