#include "apps/alate/generate/generation_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "alate/error.h"
#include "apps/alate/measuring/measurements.h"
#include "base/files/mapped_file.h"
#include "base/nearest_name.h"
#include "generation/options/option_rows.h"
#include "generation/options/set_option.h"

namespace alate::app {
namespace {

struct Row {
  std::string_view option, value, name, sentence;
  bool is_stopping = false;
};

constexpr std::array kRows = {
    Row{"--max-tokens,-n", "N", "max_tokens", "end after N tokens", true},
    Row{"--min-tokens", "N", "min_tokens", "do not end before N tokens", true},
    Row{"--temperature,-t", "T", "temperature", "0: always the likeliest token; 1: as the model says; more: wilder"},
    Row{"--top-k", "N", "top_k", "only the N likeliest tokens; 0: all"},
    Row{"--top-p", "P", "top_p", "only the likeliest tokens that together have the probability P"},
    Row{"--min-p", "P", "min_p", "only tokens at least P times as likely as the likeliest"},
    Row{"--typical-p", "P", "typical_p", "only the most typical tokens that together have the probability P"},
    Row{"--top-n-sigma", "N", "top_n_sigma", "only logits within N standard deviations of the greatest"},
    Row{"--repetition-penalty", "F", "repetition_penalty", "above 1: tokens of prompt and text get less likely"},
    Row{"--presence-penalty", "F", "presence_penalty", "taken from the logits of tokens that the text has"},
    Row{"--frequency-penalty", "F", "frequency_penalty", "the same, as often as it has them"},
    Row{"--penalty-window", "N", "penalty_window", "the tokens that penalties look back at; -1: all"},
    Row{"--dry-multiplier", "F", "dry_multiplier", "above 0: what would repeat a longer part gets less likely"},
    Row{"--xtc-probability", "P", "xtc_probability", "how often the likeliest tokens are left out"},
    Row{"--xtc-threshold", "P", "xtc_threshold", "of tokens at least as likely as P"},
    Row{"--mirostat", "N", "mirostat", "1 or 2: keep the text's surprise even, in place of top-k to XTC"},
    Row{"--mirostat-tau", "F", "mirostat_tau", "the surprise, in bits"},
    Row{"--mirostat-eta", "F", "mirostat_eta", "how fast it is corrected"},
    Row{"--seed", "N", "seed", "the same seed gives the same text"},
};

formats::Json number_of(std::string_view text) {
  try {
    if (formats::Json value = formats::parse_json(text, "the value"); value.is_number()) return value;
  } catch (const Error&) {
    // Text that is not JSON is not a number either.
  }
  throw make_error(ErrorCode::invalid_argument, "is '", text, "', which is not a number");
}

formats::Json number_with_name(std::string_view text, std::string_view name) {
  try {
    return number_of(text);
  } catch (const Error& error) {
    throw make_error(error.code(), name, " ", error.message());
  }
}

std::int32_t token_of(std::string_view text, std::string_view option) {
  std::int32_t id = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (problem != std::errc() || end != text.data() + text.size() || id < 0)
    throw make_error(ErrorCode::invalid_argument, option, " has ", formats::quoted_name(text),
                     ", which is no token's id: a whole number from 0");
  return id;
}

std::pair<std::int32_t, double> bias_of(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::int32_t id = token_of(std::string_view(text).substr(0, equals), "--logit-bias");
  const std::string value = text.substr(std::min(equals + 1, text.size()));
  if (value == "-inf") return {id, -std::numeric_limits<double>::infinity()};
  try {
    return {id, number_of(value).as_double("bias")};
  } catch (const Error& error) {
    throw error.with_context("--logit-bias " + text);
  }
}

constexpr std::size_t kMostDefinitionBytes = std::size_t{1} << 20;

// A value that is a definition itself, or the name of a file that has it.
std::string definition_of(std::string_view value, bool is_definition) {
  return is_definition ? std::string(value) : base::read_text_file(std::string(value), kMostDefinitionBytes);
}

bool is_json_object(std::string_view value) {
  return value.substr(std::min(value.find_first_not_of(" \t\r\n"), value.size())).starts_with('{');
}

// "0.8", "40", "true"; "model's own" for what is not set.
template <typename Options>
void add_lines(std::string& lines, const Options& options, std::span<const generation::OptionRow<Options>> rows) {
  for (const generation::OptionRow<Options>& row : rows) {
    const auto text = [&](const auto& field) -> std::string {
      using Value = std::remove_cvref_t<decltype(options.*field)>;
      if constexpr (std::is_same_v<Value, bool>) {
        return options.*field ? "true" : "false";
      } else if constexpr (std::is_same_v<Value, double>) {
        std::string number;
        formats::append_json_number(number, options.*field);
        return number;
      } else if constexpr (std::is_same_v<Value, Mirostat>) {
        return std::to_string(static_cast<int>(options.*field));
      } else if constexpr (requires { (options.*field).has_value(); }) {
        return options.*field ? std::to_string(*(options.*field)) : "-";
      } else {
        return std::to_string(options.*field);
      }
    };
    lines += std::string(row.name) + " " + std::visit(text, row.field) + "\n";
  }
}

}  // namespace

void set_generation_option(GenerationOptions& options, std::string_view name, std::string_view value) {
  if (name == "stop") {
    options.stopping.stop.clear();
    if (!value.empty()) options.stopping.stop.emplace_back(value);
    return;
  }
  const formats::Json json = value == "true"    ? formats::Json(true)
                             : value == "false" ? formats::Json(false)
                                                : number_with_name(value, name);
  if (generation::set_option(options.sampling, name, json) || generation::set_option(options.stopping, name, json))
    return;
  std::vector<std::string_view> known = {"stop"};
  for (const auto& row : generation::sampling_rows()) known.push_back(row.name);
  for (const auto& row : generation::stopping_rows()) known.push_back(row.name);
  throw make_error(ErrorCode::invalid_argument, "there is no option ", formats::quoted_name(name),
                   base::did_you_mean(name, known));
}

std::string generation_option_lines(const GenerationOptions& options) {
  std::string lines;
  add_lines(lines, options.sampling, generation::sampling_rows());
  add_lines(lines, options.stopping, generation::stopping_rows());
  for (const std::string& text : options.stopping.stop) lines += "stop " + formats::quoted_name(text) + "\n";
  return lines;
}

void GenerationArguments::declare(Arguments& arguments) {
  arguments.group("How tokens are chosen; what is not given is as the model's generation_config.json says");
  for (const Row& row : kRows) {
    arguments.option(row.option, row.value, row.sentence, [this, &row](std::string_view text) {
      (row.is_stopping ? stopping_ : sampling_).emplace_back(row.name, number_of(text));
    });
  }
  arguments.repeated("--stop", "TEXT", "end before this text; repeated: before the first of them", stop_);
  arguments.list("--stop-ids", "ID,ID", "end at these tokens", stop_id_texts_);
  arguments.repeated("--logit-bias", "ID=BIAS", "added to the logit of a token; -inf forbids it; repeatable",
                     bias_texts_);
  arguments.flag("--ignore-eos", "do not end where the model would", ignores_end_);
  arguments.group("What a text must look like; docs/constrained-output.md says what these may have");
  const auto set_format = [this](alate::OutputFormat::Kind kind, std::string definition) {
    if (format_.kind != alate::OutputFormat::Kind::text && format_.kind != kind)
      throw Error(ErrorCode::invalid_argument, "cannot be combined: give one of --schema, --regex and --grammar");
    format_ = {kind, std::move(definition)};
  };
  arguments.option("--schema", "FILE", "JSON that this JSON schema describes; also the schema itself: {\"type\": ...}",
                   [set_format](std::string_view value) {
                     set_format(alate::OutputFormat::Kind::json_schema, definition_of(value, is_json_object(value)));
                   });
  arguments.option(
      "--regex", "TEXT", "a text of which this regular expression matches all",
      [set_format](std::string_view value) { set_format(alate::OutputFormat::Kind::regex, std::string(value)); });
  arguments.option("--grammar", "FILE", "a text of this grammar in GBNF, llama.cpp's notation; also the grammar itself",
                   [set_format](std::string_view value) {
                     set_format(alate::OutputFormat::Kind::grammar,
                                definition_of(value, value.find("::=") != std::string_view::npos));
                   });
}

GenerationOptions GenerationArguments::over(GenerationOptions defaults) const {
  for (const auto& [name, value] : sampling_) generation::set_option(defaults.sampling, name, value);
  for (const auto& [name, value] : stopping_) generation::set_option(defaults.stopping, name, value);
  if (!stop_.empty()) defaults.stopping.stop = stop_;
  for (const std::string& text : stop_id_texts_)
    defaults.stopping.stop_token_ids.push_back(token_of(text, "--stop-ids"));
  for (const std::string& text : bias_texts_) defaults.sampling.logit_bias.push_back(bias_of(text));
  defaults.format = format_;
  defaults.stopping.ignore_eos = defaults.stopping.ignore_eos || ignores_end_;
  return defaults;
}

std::string speed_text(std::size_t tokens, std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  std::string text = std::to_string(tokens) + (tokens == 1 ? " token in " : " tokens in ") + shown(seconds, 2) + " s";
  if (tokens > 0 && seconds > 0) text += ", " + shown(static_cast<double>(tokens) / seconds, 1) + " a second";
  return text;
}

std::string speed_of_text(const Generation& made) {
  return speed_text(made.tokens.empty() ? 0 : made.tokens.size() - 1, made.token_time);
}

}  // namespace alate::app
