#include "apps/alate/generate/generation_arguments.h"

#include <array>
#include <utility>

#include "alate/error.h"
#include "apps/alate/measuring/measurements.h"
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

}  // namespace

void GenerationArguments::declare(Arguments& arguments) {
  arguments.group("How tokens are chosen; what is not given is as the model's generation_config.json says");
  for (const Row& row : kRows) {
    arguments.option(row.option, row.value, row.sentence, [this, &row](std::string_view text) {
      (row.is_stopping ? stopping_ : sampling_).emplace_back(row.name, number_of(text));
    });
  }
  arguments.repeated("--stop", "TEXT", "end before this text; repeated: before the first of them", stop_);
  arguments.flag("--ignore-eos", "do not end where the model would", ignores_end_);
}

GenerationOptions GenerationArguments::over(GenerationOptions defaults) const {
  for (const auto& [name, value] : sampling_) generation::set_option(defaults.sampling, name, value);
  for (const auto& [name, value] : stopping_) generation::set_option(defaults.stopping, name, value);
  if (!stop_.empty()) defaults.stopping.stop = stop_;
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
