#include "server/api/generation_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "alate/error.h"
#include "generation/options/check_options.h"
#include "generation/options/set_option.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::size_t kMostTexts = 1024;    // of one prompt
constexpr std::size_t kMostBiases = 16384;  // as SamplingOptions::logit_bias
constexpr std::size_t kAnyVocabulary = std::numeric_limits<std::int32_t>::max();

// What a negative number means.
enum class Negative { as_it_is, none, random };

// A member that is a number or a flag, and the option that it sets. Of several members for one option, the last in this
// table counts.
struct Member {
  std::string_view name, option;
  Negative negative = Negative::as_it_is;
};

constexpr Member kMembers[] = {
    {"temperature", "temperature"},
    {"top_p", "top_p"},
    {"top_k", "top_k"},
    {"min_p", "min_p"},
    {"typical_p", "typical_p"},
    {"top_n_sigma", "top_n_sigma"},
    {"min_keep", "min_keep"},
    {"presence_penalty", "presence_penalty"},
    {"frequency_penalty", "frequency_penalty"},
    {"repeat_penalty", "repetition_penalty"},
    {"repetition_penalty", "repetition_penalty"},
    {"repeat_last_n", "penalty_window"},
    {"penalty_window", "penalty_window"},
    {"penalize_prompt", "penalize_prompt"},
    {"dynatemp_range", "dynamic_temperature_range"},
    {"dynamic_temperature_range", "dynamic_temperature_range"},
    {"dynatemp_exponent", "dynamic_temperature_exponent"},
    {"dynamic_temperature_exponent", "dynamic_temperature_exponent"},
    {"dry_multiplier", "dry_multiplier"},
    {"dry_base", "dry_base"},
    {"dry_allowed_length", "dry_allowed_length"},
    {"dry_penalty_last_n", "dry_window"},
    {"dry_window", "dry_window"},
    {"xtc_probability", "xtc_probability"},
    {"xtc_threshold", "xtc_threshold"},
    {"mirostat", "mirostat"},
    {"mirostat_tau", "mirostat_tau"},
    {"mirostat_eta", "mirostat_eta"},
    {"seed", "seed", Negative::random},
    {"num_predict", "max_tokens", Negative::none},
    {"n_predict", "max_tokens", Negative::none},
    {"max_new_tokens", "max_tokens"},
    {"max_tokens", "max_tokens"},
    {"max_output_tokens", "max_tokens"},
    {"max_completion_tokens", "max_tokens"},
    {"min_tokens", "min_tokens"},
    {"ignore_eos", "ignore_eos"},
    {"include_stop_str_in_output", "include_stop"},
    {"include_stop", "include_stop"},
};

// Members that are lists or objects, or set no option of sampling or stopping.
constexpr std::array<std::string_view, 6> kOtherMembers = {"stop",       "stop_sequences",        "stop_token_ids",
                                                           "logit_bias", "dry_sequence_breakers", "add_special_tokens"};

std::string place_of(std::string_view within, std::string_view name) {
  return within.empty() ? std::string(name) : std::string(within) + "." + std::string(name);
}

// The member that a client's library can point at: the outermost.
std::string parameter_of(std::string_view place) { return std::string(place.substr(0, place.find_first_of(".["))); }

[[noreturn]] void refuse_at(std::string_view place, const std::string& what) {
  refuse(Problem::Kind::invalid, std::string(place) + what, parameter_of(place));
}

// Calls `read`; an error about a value, whose message begins with the value's name, becomes the client's.
template <typename Read>
auto checked(std::string_view place, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    refuse(Problem::Kind::invalid, error.message(), parameter_of(place));
  }
}

std::string number_text(double value) {
  std::string text;
  formats::append_json_number(text, value);
  return text;
}

// Whether the value is -1, or for limits of tokens negative, and so sets nothing.
bool means_nothing(const Member& member, const Json& value) {
  if (member.negative == Negative::as_it_is || !value.is_number()) return false;
  const double number = value.as_double(member.name);
  return member.negative == Negative::random ? number == -1 : number < 0;
}

// Sets and checks an option by its name in alate/sampling.h; false where the options have none of that name.
template <typename Options, typename Check>
bool set(Options& options, std::string_view option, const Json& value, const Check& check) {
  Options alone;
  if (!generation::set_option(alone, option, value)) return false;
  check(alone);
  return generation::set_option(options, option, value);
}

void set_member(GenerationOptions& options, const Member& member, const Json& value, const std::string& place) {
  if (means_nothing(member, value)) {
    if (member.negative == Negative::none) options.stopping.max_tokens.reset();
    if (member.negative == Negative::random) options.sampling.seed.reset();
    return;
  }
  const auto check_sampling = [](const SamplingOptions& alone) { generation::check_options(alone, kAnyVocabulary); };
  const auto check_stopping = [](const StoppingOptions& alone) { generation::check_options(alone); };
  try {
    if (set(options.sampling, member.option, value, check_sampling)) return;
    if (set(options.stopping, member.option, value, check_stopping)) return;
  } catch (const Error& error) {
    std::string message = error.message();
    if (message.starts_with(member.option)) message.replace(0, member.option.size(), place);  // the client's name
    refuse(Problem::Kind::invalid, std::move(message), parameter_of(place));
  }
  throw make_error(ErrorCode::internal, "no option is called ", member.option);
}

void read_stops(const Json& members, std::string_view name, std::string_view within, StoppingOptions& stopping) {
  const Json* value = members.find_value(name);
  if (value == nullptr) return;
  const std::string place = place_of(within, name);
  if (value->is_string()) return stopping.stop.push_back(value->as_string(place));
  if (!value->is_array())
    refuse_at(place, " is a " + std::string(value->kind()) + "; it must be a text or a list of texts");
  const Json::Array& texts = value->as_array(place);
  for (std::size_t i = 0; i < texts.size(); ++i)
    stopping.stop.push_back(checked(place, [&] { return texts[i].as_string(place + "[" + std::to_string(i) + "]"); }));
}

std::int32_t token_of(std::int64_t id, const std::string& place) {
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
    refuse_at(place, " has " + std::to_string(id) + ", which is no token id");
  return static_cast<std::int32_t>(id);
}

void read_stop_tokens(const Json& members, std::string_view within, StoppingOptions& stopping) {
  const Json* value = members.find_value("stop_token_ids");
  if (value == nullptr) return;
  const std::string place = place_of(within, "stop_token_ids");
  checked(place, [&] {
    for (const Json& token : value->as_array(place))
      stopping.stop_token_ids.push_back(token_of(token.as_int(place), place));
  });
}

// OpenAI's keys are token ids as text.
std::int32_t token_of_text(std::string_view text, const std::string& place) {
  std::int64_t id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size())
    refuse_at(place, " has the key " + formats::quoted_name(text) + ", which is no token id");
  return token_of(id, place);
}

double bias_of(const Json& value, const std::string& place) {
  if (value.is_bool() && !value.as_bool(place)) return -std::numeric_limits<double>::infinity();  // llama.cpp's "never"
  const double bias = value.as_double(place);
  if (!(bias >= -100 && bias <= 100)) refuse_at(place, " has " + number_text(bias) + "; a bias is from -100 to 100");
  return bias;
}

void read_biases(const Json& members, std::string_view within, SamplingOptions& sampling) {
  const Json* value = members.find_value("logit_bias");
  if (value == nullptr) return;
  const std::string place = place_of(within, "logit_bias");
  checked(place, [&] {
    if (value->is_object()) {
      for (const auto& [key, bias] : value->as_object(place))
        sampling.logit_bias.emplace_back(token_of_text(key, place), bias_of(bias, place));
      return;
    }
    for (const Json& pair : value->as_array(place)) {  // llama.cpp's
      const Json::Array& both = pair.as_array(place);
      if (both.size() != 2) refuse_at(place, " has a pair of " + std::to_string(both.size()) + " values");
      sampling.logit_bias.emplace_back(token_of(both[0].as_int(place), place), bias_of(both[1], place));
    }
  });
  if (sampling.logit_bias.size() > kMostBiases)
    refuse_at(place, " has more than " + std::to_string(kMostBiases) + " entries");
}

void read_breakers(const Json& members, std::string_view within, SamplingOptions& sampling) {
  const Json* value = members.find_value("dry_sequence_breakers");
  if (value == nullptr) return;
  const std::string place = place_of(within, "dry_sequence_breakers");
  checked(place, [&] {
    sampling.dry_sequence_breakers.clear();
    for (const Json& text : value->as_array(place)) sampling.dry_sequence_breakers.push_back(text.as_string(place));
  });
}

std::size_t read_count_of_texts(const Json& body, std::string_view name, std::size_t otherwise) {
  const Json* value = body.find_value(name);
  if (value == nullptr) return otherwise;
  const std::int64_t count = checked(name, [&] { return value->as_int(name); });
  if (count < 1 || count > std::int64_t{kMostTexts})
    refuse_at(name, " is " + std::to_string(count) + "; it must be from 1 to " + std::to_string(kMostTexts));
  return static_cast<std::size_t>(count);
}

}  // namespace

void read_generation_options(const Json& members, GenerationOptions& options, std::string_view within) {
  for (const Member& member : kMembers) {
    if (const Json* value = members.find_value(member.name))
      set_member(options, member, *value, place_of(within, member.name));
  }
  read_stops(members, "stop", within, options.stopping);
  read_stops(members, "stop_sequences", within, options.stopping);
  read_stop_tokens(members, within, options.stopping);
  read_biases(members, within, options.sampling);
  read_breakers(members, within, options.sampling);
  if (const Json* value = members.find_value("add_special_tokens"))
    options.add_special_tokens = checked("add_special_tokens", [&] { return value->as_bool("add_special_tokens"); });
}

Json generation_members(const Json& body) {
  Json::Object members;
  for (const auto& [name, value] : body.as_object("the body"))
    if (std::ranges::find(kMembers, name, &Member::name) != std::ranges::end(kMembers) ||
        std::ranges::find(kOtherMembers, name) != kOtherMembers.end())
      members.emplace_back(name, value);
  return members;
}

std::optional<std::int64_t> read_chat_logprobs(const Json& body) {
  const bool wanted = checked("logprobs", [&] { return body.get_bool("logprobs", false); });
  const Json* value = body.find_value("top_logprobs");
  if (value == nullptr) return wanted ? std::optional<std::int64_t>(0) : std::nullopt;
  const std::int64_t top = checked("top_logprobs", [&] { return value->as_int("top_logprobs"); });
  if (top < 0 || top > kMostTopLogprobs)
    refuse_at("top_logprobs",
              " is " + std::to_string(top) + "; it must be from 0 to " + std::to_string(kMostTopLogprobs));
  if (!wanted && top > 0) refuse_at("top_logprobs", " needs logprobs: true");
  return wanted ? std::optional(top) : std::nullopt;
}

TextCounts read_text_counts(const Json& body, bool streams) {
  TextCounts counts;
  counts.n = read_count_of_texts(body, "n", 1);
  counts.best_of = read_count_of_texts(body, "best_of", 0);
  if (counts.best_of != 0 && counts.best_of < counts.n)
    refuse_at("best_of", " is " + std::to_string(counts.best_of) + ", fewer than n, the " + std::to_string(counts.n) +
                             " texts that are asked for");
  if (streams && counts.best_of > counts.n)
    refuse_at("best_of", " is more than n, and the best texts are known only at the end: ask without stream");
  return counts;
}

}  // namespace alate::server
