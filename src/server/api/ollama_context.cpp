#include "server/api/ollama_context.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ChatRequest;
using pipelines::TextPrompt;

bool has_role(const Json& message, std::string_view role) { return message.get_string("role", "") == role; }

// Without the messages before `first` that are not the system's.
Json messages_from(const Json::Array& messages, std::size_t first) {
  Json::Array kept;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (i >= first || has_role(messages[i], "system")) kept.push_back(messages[i]);
  }
  return kept;
}

}  // namespace

std::size_t context_of(const OllamaOptions& asked, const TextGenerator& generator) {
  return std::min(asked.num_ctx.value_or(generator.context()), generator.context());
}

void keep_within_context(const OllamaOptions& asked, std::size_t prompt_tokens, const std::string& parameter,
                         const TextGenerator& generator, GenerationOptions& options) {
  const std::size_t context = context_of(asked, generator);
  if (context == generator.context()) return;
  if (prompt_tokens >= context)
    refuse(Problem::Kind::too_long,
           parameter + " has " + std::to_string(prompt_tokens) +
               " tokens, and options.num_ctx leaves room for fewer than " + std::to_string(context) +
               ": shorten it, or ask for a larger num_ctx",
           parameter);
  const auto room = static_cast<std::int64_t>(context - prompt_tokens);
  options.stopping.max_tokens = std::min(options.stopping.max_tokens.value_or(room), room);
}

TextPrompt prepare_within_context(const OllamaOptions& asked, const TextGenerator& generator, ChatRequest request,
                                  GenerationOptions& options, base::Cancellation cancellation) {
  const Json::Array all = request.messages.as_array("messages");
  const std::size_t context = context_of(asked, generator);
  const GenerationOptions wanted = options;
  const auto prepare = [&](std::size_t first) {
    if (first > 0) request.messages = messages_from(all, first);
    options = wanted;
    return pipelines::prepare_chat(generator.state(), request, options, cancellation);
  };
  TextPrompt prompt = prepare(0);
  if (prompt.ids.size() < context || !asked.truncates) return prompt;
  std::vector<std::size_t> begins;  // messages of the user that what is left may begin with
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (has_role(all[i], "user")) begins.push_back(i);
  }
  if (begins.empty()) return prompt;
  // The fewer messages, the fewer tokens: the first of the begins with which they fit, or the last.
  std::size_t low = 0, high = begins.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (prepare(begins[middle]).ids.size() < context) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return prepare(begins[low]);
}

}  // namespace alate::server
