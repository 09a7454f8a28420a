#include "generation/ending/ending.h"

#include <algorithm>

#include "generation/options/check_options.h"

namespace alate {

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::end_of_sequence: return "end_of_sequence";
    case FinishReason::stop_token: return "stop_token";
    case FinishReason::stop_text: return "stop_text";
    case FinishReason::length: return "length";
  }
  return "unknown";
}

}  // namespace alate

namespace alate::generation {
namespace {

const StoppingOptions& checked(const StoppingOptions& options) {
  check_options(options);
  return options;
}

}  // namespace

std::vector<std::int32_t> end_tokens(const StoppingOptions& options, std::span<const std::int32_t> model_ends) {
  std::vector<std::int32_t> tokens = options.stop_token_ids;
  if (!options.ignore_eos) tokens.insert(tokens.end(), model_ends.begin(), model_ends.end());
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

Ending::Ending(const StoppingOptions& options, std::span<const std::int32_t> model_ends)
    : options_(checked(options)),
      model_ends_(model_ends.begin(), model_ends.end()),
      stream_(options.stop, options.include_stop) {}

std::optional<FinishReason> Ending::before_first() const {
  if (options_.max_tokens == 0) return FinishReason::length;
  return std::nullopt;
}

std::optional<FinishReason> Ending::reason_of(std::int32_t token) const {
  if (tokens_ <= options_.min_tokens) return std::nullopt;  // this token is one of the least number
  if (!options_.ignore_eos && std::ranges::find(model_ends_, token) != model_ends_.end())
    return FinishReason::end_of_sequence;
  if (std::ranges::find(options_.stop_token_ids, token) != options_.stop_token_ids.end())
    return FinishReason::stop_token;
  return std::nullopt;
}

std::optional<FinishReason> Ending::add(std::int32_t token, std::string_view bytes, std::string& shown) {
  ++tokens_;
  std::optional<FinishReason> reason = reason_of(token);
  if (!reason.has_value()) {
    stream_.push(bytes, shown, tokens_ >= options_.min_tokens);
    if (stream_.stopped_by().has_value()) {
      reason = FinishReason::stop_text;
    } else if (options_.max_tokens.has_value() && tokens_ >= *options_.max_tokens) {
      reason = FinishReason::length;
    }
  }
  if (reason.has_value()) stream_.finish(shown);
  return reason;
}

std::string_view Ending::stop_text() const {
  const auto which = stream_.stopped_by();
  return which.has_value() ? std::string_view(options_.stop[*which]) : std::string_view();
}

}  // namespace alate::generation
