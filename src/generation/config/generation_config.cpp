#include "generation/config/generation_config.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/json.h"
#include "generation/options/check_options.h"
#include "generation/options/set_option.h"

namespace alate::generation {
namespace {

using formats::Json;

constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
constexpr formats::JsonLimits kLimits = {.max_depth = 32, .max_bytes = kMaxBytes, .max_values = 200'000};
constexpr std::size_t kMostEndTokens = 256;
constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max();  // as for StoppingOptions

// Keys that are options of the same name.
constexpr auto kSamplingKeys =
    std::to_array<std::string_view>({"temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty"});

constexpr auto kForced = std::to_array<std::string_view>({"forced_bos_token_id", "forced_eos_token_id"});

// Keys that are without effect here, and the value that changes nothing in transformers either.
struct OtherKey {
  std::string_view key;
  double neutral;
};
constexpr auto kOthers = std::to_array<OtherKey>({{"num_beams", 1},
                                                  {"num_beam_groups", 1},
                                                  {"diversity_penalty", 0},
                                                  {"penalty_alpha", 0},
                                                  {"no_repeat_ngram_size", 0},
                                                  {"encoder_no_repeat_ngram_size", 0},
                                                  {"encoder_repetition_penalty", 1},
                                                  {"epsilon_cutoff", 0},
                                                  {"eta_cutoff", 0},
                                                  {"top_h", 1},
                                                  {"guidance_scale", 1}});
constexpr auto kOtherLists = std::to_array<std::string_view>(
    {"sequence_bias", "exponential_decay_length_penalty", "watermarking_config", "constraints", "force_words_ids"});

std::int32_t token_of(const Json& value, std::string_view key) {
  const std::int64_t token = value.as_int(key);
  if (token < 0 || token > std::numeric_limits<std::int32_t>::max())
    throw make_error(ErrorCode::corrupt, key, " has the token ", token, "; tokens are from 0 to ",
                     std::numeric_limits<std::int32_t>::max());
  return static_cast<std::int32_t>(token);
}

std::vector<std::int32_t> tokens_of(const Json& list, std::string_view key) {
  std::vector<std::int32_t> tokens;
  for (const Json& item : list.as_array(key)) tokens.push_back(token_of(item, key));
  return tokens;
}

// A token, a list of them, or nothing.
std::vector<std::int32_t> some_tokens(const Json& config, std::string_view key) {
  const Json* value = config.find_value(key);
  if (value == nullptr) return {};
  return value->is_array() ? tokens_of(*value, key) : std::vector<std::int32_t>{token_of(*value, key)};
}

std::vector<std::int32_t> end_tokens_of(const Json& config) {
  std::vector<std::int32_t> tokens = some_tokens(config, "eos_token_id");
  if (tokens.size() > kMostEndTokens)
    throw make_error(ErrorCode::corrupt, "eos_token_id has ", tokens.size(), " entries; it may have ", kMostEndTokens);
  return tokens;
}

// What `read` gives; its errors get the file's name.
template <typename Read>
auto naming(std::string_view file, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw make_error(ErrorCode::corrupt, file, ": ", error.message());
  }
}

// Some files state -1 where a model has no such token.
std::optional<std::int32_t> one_token(const Json& config, std::string_view key) {
  const Json* value = config.find_value(key);
  if (value == nullptr || value->as_int(key) == -1) return std::nullopt;
  return token_of(*value, key);
}

std::vector<std::vector<std::int32_t>> bad_words(const Json& config, const std::vector<std::int32_t>& end_tokens) {
  std::vector<std::vector<std::int32_t>> words;
  const Json* value = config.find_value("bad_words_ids");
  if (value == nullptr) return words;
  for (const Json& item : value->as_array("bad_words_ids")) {
    std::vector<std::int32_t> word = tokens_of(item, "bad_words_ids");
    const bool is_end = word.size() == 1 && std::ranges::find(end_tokens, word.front()) != end_tokens.end();
    if (!is_end) words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string> stop_strings(const Json& config) {
  const Json* value = config.find_value("stop_strings");
  if (value == nullptr) return {};
  if (value->is_string()) return {value->as_string("stop_strings")};
  std::vector<std::string> stops;
  for (const Json& item : value->as_array("stop_strings")) stops.push_back(item.as_string("stop_strings"));
  return stops;
}

std::optional<std::int64_t> length_of(const Json& config, std::string_view key) {
  const Json* value = config.find_value(key);
  if (value == nullptr) return std::nullopt;
  const std::int64_t length = value->as_int(key);
  if (length < 0 || length > kMostTokens)
    throw make_error(ErrorCode::corrupt, key, " is ", length, "; it must be a whole number from 0 to ", kMostTokens);
  return length;
}

std::vector<std::string> without_effect(const Json& config) {
  std::vector<std::string> keys;
  for (const OtherKey& other : kOthers) {
    const Json* value = config.find_value(other.key);
    if (value != nullptr && !(value->is_number() && value->as_double(other.key) == other.neutral))
      keys.emplace_back(other.key);
  }
  for (const std::string_view key : kOtherLists) {
    if (config.find_value(key) != nullptr) keys.emplace_back(key);
  }
  return keys;
}

GenerationConfig config_of(const Json& json) {
  (void)json.as_object("the file");
  GenerationConfig config;
  for (const std::string_view key : kSamplingKeys) {
    const Json* value = json.find_value(key);
    if (value == nullptr) continue;
    set_option(config.sampling, key, *value);
    config.states_sampling = true;
  }
  config.states_sampling = config.states_sampling || json.find_value("do_sample") != nullptr;
  if (!json.get_bool("do_sample", true)) config.sampling.temperature = 0;
  config.end_tokens = end_tokens_of(json);
  config.pad_token = one_token(json, "pad_token_id");
  config.bos_token = one_token(json, "bos_token_id");
  config.sampling.suppressed_tokens = some_tokens(json, "suppress_tokens");
  config.sampling.first_suppressed_tokens = some_tokens(json, "begin_suppress_tokens");
  config.sampling.bad_words = bad_words(json, config.end_tokens);
  config.stopping.stop = stop_strings(json);
  config.stopping.max_tokens = length_of(json, "max_new_tokens");
  config.stopping.min_tokens = length_of(json, "min_new_tokens").value_or(0);
  config.max_length = length_of(json, "max_length");
  config.min_length = length_of(json, "min_length");
  config.without_effect = without_effect(json);
  check_options(config.sampling, std::size_t{std::numeric_limits<std::int32_t>::max()} + 1);
  check_options(config.stopping);
  return config;
}

}  // namespace

StoppingOptions GenerationConfig::within_lengths(StoppingOptions asked, std::int64_t prompt_tokens) const {
  if (!asked.max_tokens.has_value() && max_length.has_value())
    asked.max_tokens = std::max<std::int64_t>(*max_length - prompt_tokens, 0);
  if (asked.min_tokens == 0 && min_length.has_value())
    asked.min_tokens = std::max<std::int64_t>(*min_length - prompt_tokens, 0);
  return asked;
}

std::vector<std::int32_t> read_end_tokens(const Json& json, std::string_view file) {
  return naming(file, [&] { return end_tokens_of(json); });
}

GenerationConfig parse_generation_config(std::string_view text, const std::string& name) {
  const Json json = formats::parse_json(text, name, kLimits);
  for (const std::string_view key : kForced) {
    if (json.find_value(key) != nullptr)
      throw make_error(ErrorCode::unsupported, name, ": ", key,
                       " asks for a token that the text must have; remove it, or ", "set it to null: ", key);
  }
  return naming(name, [&] { return config_of(json); });
}

GenerationConfig read_generation_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "generation_config.json";
  if (!base::is_there(path)) return {};
  return parse_generation_config(base::read_contained_file(folder, "generation_config.json", kMaxBytes), path.string());
}

}  // namespace alate::generation
