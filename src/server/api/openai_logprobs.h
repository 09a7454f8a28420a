// Log probabilities of tokens in OpenAI's shapes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "alate/generation.h"
#include "tokenizers/token_bytes.h"

namespace alate::server {

// Both throw RequestError where the answer becomes too large.

/// Appends the list of chat completions and Responses: an object a token, with its bytes and the likeliest ones.
void append_token_logprobs(std::string& out, std::span<const GeneratedToken> tokens,
                           const tokenizers::TokenBytes& bytes);

/// The older shape of completions, lists of a text's tokens that may come in parts. A token that is a part of a
/// character is written as the API does: "bytes:\xe4". Offsets are code points of the text.
class CompletionLogprobs {
 public:
  /// The next tokens of the text. `is_start`: the first of them is the first of the prompt, and has no probability.
  void append(std::string& out, std::span<const GeneratedToken> tokens, bool is_start,
              const tokenizers::TokenBytes& bytes);

 private:
  std::size_t offset_ = 0;
};

}  // namespace alate::server
