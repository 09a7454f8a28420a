#include "generation/options/check_options.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "alate/error.h"
#include "formats/utf8.h"
#include "generation/options/option_rows.h"

namespace alate::generation {
namespace {

constexpr std::size_t kMostTokensListed = 16384;
constexpr std::size_t kMostBadWords = 1024, kMostTokensOfBadWord = 64;
constexpr std::size_t kMostBreakers = 64, kMostBytesOfBreaker = 40;
constexpr std::size_t kMostStops = 64, kMostBytesOfStop = 1024;
constexpr std::size_t kMostStopTokens = 256;

// The shortest text that reads back as the same number: "0.1", "-1", "nan"; whole numbers without exponent.
std::string number_text(double value) {
  if (std::trunc(value) == value && std::abs(value) < 1e15) return std::to_string(static_cast<std::int64_t>(value));
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, error == std::errc() ? end : text};
}

void check_range(std::string_view name, double value, double least, double most, std::string_view kind) {
  if (value >= least && value <= most) return;  // false for NaN
  throw make_error(ErrorCode::invalid_argument, name, " is ", number_text(value), "; it must be a ", kind, " from ",
                   number_text(least), " to ", number_text(most));
}

template <typename Options>
void check_rows(const Options& options, std::span<const OptionRow<Options>> rows) {
  for (const OptionRow<Options>& row : rows) {
    std::visit(
        [&](auto field) {
          const auto& value = options.*field;
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, double>) {
            check_range(row.name, value, row.least, row.most, "number");
          } else if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, Mirostat>) {
            check_range(row.name, static_cast<double>(static_cast<std::int64_t>(value)), row.least, row.most,
                        "whole number");
          } else if constexpr (std::is_same_v<Value, std::optional<std::int64_t>>) {
            if (value.has_value())
              check_range(row.name, static_cast<double>(*value), row.least, row.most, "whole number");
          }
        },
        row.field);
  }
}

void check_count(std::string_view name, std::size_t count, std::size_t most) {
  if (count > most) throw make_error(ErrorCode::invalid_argument, name, " has ", count, " entries; it may have ", most);
}

void check_token(std::string_view name, std::int32_t token, std::size_t vocabulary_size) {
  if (token < 0 || static_cast<std::size_t>(token) >= vocabulary_size)
    throw make_error(ErrorCode::invalid_argument, name, " has the token ", token, "; tokens are from 0 to ",
                     vocabulary_size - 1);
}

void check_tokens(std::string_view name, const std::vector<std::int32_t>& tokens, std::size_t most) {
  check_count(name, tokens.size(), most);
  for (const std::int32_t token : tokens)
    check_token(name, token, std::size_t{std::numeric_limits<std::int32_t>::max()} + 1);
}

void check_texts(std::string_view name, const std::vector<std::string>& texts, std::size_t most,
                 std::size_t most_bytes) {
  check_count(name, texts.size(), most);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty() || texts[i].size() > most_bytes)
      throw make_error(ErrorCode::invalid_argument, name, "[", i, "] has ", texts[i].size(),
                       " bytes; each text must have from 1 to ", most_bytes);
    if (formats::valid_utf8_prefix(texts[i]) != texts[i].size())
      throw make_error(ErrorCode::invalid_argument, name, "[", i, "] is not valid UTF-8");
  }
}

}  // namespace

void check_options(const SamplingOptions& options, std::size_t vocabulary_size) {
  if (vocabulary_size == 0) throw Error(ErrorCode::invalid_argument, "the vocabulary is empty: no token can be chosen");
  check_rows(options, sampling_rows());
  check_texts("dry_sequence_breakers", options.dry_sequence_breakers, kMostBreakers, kMostBytesOfBreaker);
  check_count("logit_bias", options.logit_bias.size(), kMostTokensListed);
  for (const auto& [token, bias] : options.logit_bias) {
    check_token("logit_bias", token, vocabulary_size);
    if (bias != -std::numeric_limits<double>::infinity()) check_range("logit_bias", bias, -100, 100, "number");
  }
  check_tokens("suppressed_tokens", options.suppressed_tokens, kMostTokensListed);
  check_tokens("first_suppressed_tokens", options.first_suppressed_tokens, kMostTokensListed);
  check_count("bad_words", options.bad_words.size(), kMostBadWords);
  for (const std::vector<std::int32_t>& word : options.bad_words) {
    if (word.empty()) throw Error(ErrorCode::invalid_argument, "bad_words has a sequence without tokens");
    check_tokens("a sequence of bad_words", word, kMostTokensOfBadWord);
  }
}

void check_options(const StoppingOptions& options) {
  check_rows(options, stopping_rows());
  check_texts("stop", options.stop, kMostStops, kMostBytesOfStop);
  check_tokens("stop_token_ids", options.stop_token_ids, kMostStopTokens);
}

}  // namespace alate::generation
