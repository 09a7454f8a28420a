#include "apps/alate/generate/generation_json.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace alate::app {

formats::Json::Object generation_json(const Generation& made, const TextGenerator& generator, bool with_logprobs) {
  using formats::Json;
  const auto logprob_of = [&](const TokenLogprob& token) -> Json {
    return Json::Object{{"id", std::int64_t{token.token}},
                        {"token", generator.tokenizer().decode(std::span(&token.token, 1))},
                        {"logprob", double{token.logprob}}};
  };
  Json::Array tokens;
  for (const GeneratedToken& token : made.tokens) {
    if (!with_logprobs) {
      tokens.emplace_back(std::int64_t{token.id});
      continue;
    }
    Json::Object object = logprob_of({token.id, token.logprob}).as_object("");
    Json::Array top;
    for (const TokenLogprob& each : token.top) top.push_back(logprob_of(each));
    object.emplace_back("top", std::move(top));
    tokens.emplace_back(std::move(object));
  }
  const auto seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
  const double after_first = made.tokens.empty() ? 0 : static_cast<double>(made.tokens.size() - 1);
  const double token_seconds = seconds(made.token_time);
  return {{"text", made.text},
          {"finish_reason", std::string(to_string(made.finish))},
          {"prompt_tokens", static_cast<std::int64_t>(made.prompt_tokens)},
          {"cached_tokens", static_cast<std::int64_t>(made.cached_tokens)},
          {"tokens", std::move(tokens)},
          {"seed", std::to_string(made.seed)},
          {"prompt_seconds", seconds(made.prompt_time)},
          {"token_seconds", token_seconds},
          {"tokens_per_second", token_seconds > 0 ? Json(after_first / token_seconds) : Json()}};
}

}  // namespace alate::app
