// The members of a body that say how texts are generated, by the names that clients of all families use for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "alate/generation.h"
#include "formats/json.h"

namespace alate::server {

// All functions throw RequestError, naming the member as the client wrote it. `within` is the object that has the
// members, for messages: "options"; empty for the body itself.

/// Sets the options of sampling and stopping that are there; the others stay, so that `options` are the model's own
/// before. Members have the names of alate/sampling.h or those of OpenAI, Anthropic, Ollama, vLLM and llama.cpp
/// (max_tokens, max_completion_tokens, max_output_tokens, num_predict; stop, stop_sequences; repeat_penalty …), and
/// null leaves an option as it is. Stop texts and tokens are added to the model's own. A seed of -1 is a random one,
/// and a limit of tokens by Ollama's or llama.cpp's name that is negative is none. logprobs, which has a meaning of its
/// own in each API, is not among them.
void read_generation_options(const formats::Json& members, GenerationOptions& options, std::string_view within = {});

/// The members of a body that read_generation_options reads, to be read again once the model is there.
formats::Json generation_members(const formats::Json& body);

/// So many of the likeliest tokens come with each token at most, as in the originals: they take time to write.
inline constexpr std::int64_t kMostTopLogprobs = 20;

/// logprobs as chat completions have it: a flag, with top_logprobs beside it.
std::optional<std::int64_t> read_chat_logprobs(const formats::Json& body);

/// n and best_of. A stream has no best_of beyond n: which texts are the best is known at the end.
TextCounts read_text_counts(const formats::Json& body, bool streams);

}  // namespace alate::server
