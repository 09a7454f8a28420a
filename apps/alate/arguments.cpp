#include "arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/nearest_name.h"
#include "base/split_text.h"
#include "formats/json.h"
#include "output.h"
#include "program_version.h"

namespace alate::app {
namespace {

// CLI11 splits an argument in square brackets at its commas; this leading mark keeps a text intact.
constexpr char kMark = '\x01';

constexpr std::size_t kHelpColumn = 32;

std::string marked(std::string argument) {
  if (!argument.empty() && (argument.front() == '[' || argument.front() == kMark)) argument.insert(0, 1, kMark);
  return argument;
}

std::string unmarked(const std::string& argument) {
  return !argument.empty() && argument.front() == kMark ? argument.substr(1) : argument;
}

// "--name" of "--name,!--no-name".
std::string_view first_name(std::string_view names) { return names.substr(0, names.find(',')); }

std::string environment_name(std::string_view option) {
  std::string out = "ALATE_";
  for (const char c : option.substr(2)) out += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return out;
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

std::string padded(std::string_view left, std::size_t width) {
  std::string out = "  " + std::string(left);
  out += std::string(out.size() + 2 <= width ? width - out.size() : 2, ' ');
  return out;
}

// Parses the values given for an option, in order, into the verb's variables.
using Reader = std::function<void(const std::vector<std::string>&)>;

struct Declared {
  CLI::Option* option = nullptr;
  std::string name;  // used in errors
  Reader read;
  bool required = false;
};

}  // namespace

struct Arguments::State {
  CLI::App app;
  std::vector<std::string> given;
  std::vector<Declared> declared;
  std::function<std::optional<Configured>(std::string_view option)> configured;
  bool takes_texts = false;
  std::string help = "Options:\n";
};

Arguments::Arguments(const Verb& verb, std::vector<std::string> arguments)
    : verb_(verb), state_(std::make_unique<State>()) {
  state_->given = std::move(arguments);
  state_->app.set_help_flag();
  state_->app.allow_extras();
  state_->app.allow_windows_style_options(false);  // paths may begin with a slash on Windows too
}

Arguments::~Arguments() = default;

void Arguments::positional(std::string_view name, bool required, std::string& target) {
  CLI::Option* option = state_->app.add_option(std::string(name))->expected(1)->allow_extra_args(false);
  state_->declared.push_back(
      {option, std::string(name), [&target](const auto& values) { target = values.back(); }, required});
}

void Arguments::positionals(std::string_view name, std::vector<std::string>& target) {
  CLI::Option* option = state_->app.add_option(std::string(name))
                            ->expected(0, CLI::detail::expected_max_vector_size)
                            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                            ->allow_extra_args();
  state_->declared.push_back({option, std::string(name), [&target](const auto& values) { target = values; }});
  state_->takes_texts = true;
}

void Arguments::flag(std::string_view names, std::string_view sentence, bool& target) {
  const std::string_view name = first_name(names);
  CLI::Option* option = state_->app.add_flag(std::string(names))->envname(environment_name(name));
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  state_->declared.push_back(
      {option, std::string(name), [&target](const auto& values) { target = read_bool(values.back()); }});
  state_->help += padded(name, kHelpColumn) + std::string(sentence) + "\n";
}

void Arguments::flag(std::string_view names, std::string_view sentence, std::optional<bool>& target) {
  const std::string_view name = first_name(names);
  CLI::Option* option = state_->app.add_flag(std::string(names))->envname(environment_name(name));
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  state_->declared.push_back(
      {option, std::string(name), [&target](const auto& values) { target = read_bool(values.back()); }});
  std::string shown(names);
  if (const auto no = shown.find(",!"); no != std::string::npos) shown.replace(no, 2, ", ");
  state_->help += padded(shown, kHelpColumn) + std::string(sentence) + "\n";
}

void Arguments::option(std::string_view name, std::string_view value, std::string_view sentence,
                       std::function<void(std::string_view)> read) {
  CLI::Option* option = state_->app.add_option(std::string(name))->envname(environment_name(name))->expected(1);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->allow_extra_args(false);
  state_->declared.push_back(
      {option, std::string(name), [read = std::move(read)](const auto& values) { read(values.back()); }});
  state_->help += padded(std::string(name) + " " + std::string(value), kHelpColumn) + std::string(sentence) + "\n";
}

void Arguments::former_name(std::string_view name) {
  const auto read = state_->declared.back().read;
  CLI::Option* option = state_->app.add_option(std::string(name))->envname(environment_name(name))->expected(1);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->allow_extra_args(false);
  state_->declared.push_back({option, std::string(name), read});
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

void Arguments::list(std::string_view name, std::string_view value, std::string_view sentence,
                     std::vector<std::string>& target) {
  option(name, value, sentence, [](std::string_view) {});
  state_->declared.back().option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  state_->declared.back().read = [&target](const std::vector<std::string>& values) {
    target.clear();
    for (const std::string& text : values) {
      for (const std::string_view part : base::split_text(text, ',')) {
        if (!part.empty()) target.emplace_back(part);
      }
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
  const std::string shown = std::string(name) + (value.empty() ? "" : " ") + std::string(value);
  state_->help += padded(shown, kHelpColumn) + std::string(sentence) + "\n";
}

void Arguments::fall_back_on(std::function<std::optional<Configured>(std::string_view option)> look_up) {
  state_->configured = std::move(look_up);
}

void Arguments::group(std::string_view title) { state_->help += "\n" + std::string(title) + ":\n"; }

void Arguments::note(std::string_view text) { state_->help += "\n" + std::string(text) + "\n"; }

Error Arguments::usage_error(std::string_view message) const {
  return make_error(ErrorCode::invalid_argument, message, "; see `alate ", verb_.name, " --help`");
}

std::string Arguments::help() const {
  std::string out = "alate " + std::string(verb_.name);
  if (!verb_.synopsis.empty()) out += " " + std::string(verb_.synopsis);
  out += ": " + std::string(verb_.sentence) + "\n";
  if (!verb_.details.empty()) out += "\n" + std::string(verb_.details) + "\n";
  out += "\n" + state_->help + "\nExample:\n";
  std::string_view lines = verb_.example;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out += "  " + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

void Arguments::refuse_unknown() const {
  for (const std::string& extra : state_->app.remaining()) {
    if (extra == "--") continue;
    if (extra.size() < 2 || extra.front() != '-') throw usage_error("there is an argument too many");
    const std::string name = extra.substr(0, extra.find('='));
    std::vector<std::string_view> known;
    for (const Declared& declared : state_->declared) known.push_back(declared.name);
    std::string message = "there is no option " + formats::quoted_name(name);
    const std::string hint = base::did_you_mean(name, known);
    message += hint.empty() && state_->takes_texts ? " (put -- before texts that begin with -)" : hint;
    throw usage_error(message);
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
  const auto options_end = std::ranges::find(state_->given, "--");
  const auto asks = [&](std::string_view name) {
    return std::find(state_->given.begin(), options_end, name) != options_end;
  };
  if (asks("--help") || asks("-h") || asks("--version")) {
    Output output;
    output.write(asks("--version") ? "alate " + std::string(program_version()) + "\n" : help());
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
  for (const Declared& declared : state_->declared) {
    std::vector<std::string> values = declared.option->results();
    if (values.empty() && declared.required) throw usage_error(declared.name + " is missing");
    if (values.empty()) {
      read_configured(declared.name, declared.read);
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
  return true;
}

}  // namespace alate::app
