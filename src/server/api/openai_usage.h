// How many tokens an answer took, in OpenAI's shapes.
#pragma once

#include <cstddef>
#include <string>

#include "alate/tokenizer.h"
#include "server/models/generation_answer.h"

namespace alate::server {

/// How many of a text's tokens are its reasoning, with what marks that.
std::size_t reasoning_tokens(const MadeText& text, const Tokenizer& tokenizer);

/// The object of completions and chat completions: prompt_tokens, completion_tokens.
std::string completion_usage(const GenerationTotals& totals, std::size_t reasoning);
/// That of Responses: input_tokens, output_tokens.
std::string response_usage(const GenerationTotals& totals, std::size_t reasoning);

/// "stop", or "length" for a text that its limit has ended.
std::string_view finish_name(FinishReason reason);

/// Seconds since 1970.
std::string unix_seconds();

}  // namespace alate::server
