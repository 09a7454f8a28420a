// The bytes that single tokens add to a text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::tokenizers {

/// What tokens write in the middle of a text: joined, the bytes of a text's tokens are its own, also where a character
/// is spread over several. Special tokens write their own text. Thread-safe; keeps its tokenizer alive.
class TokenBytes {
 public:
  explicit TokenBytes(Tokenizer tokenizer);

  /// Empty for an id that no token has.
  std::string of(std::int32_t token) const;

 private:
  Tokenizer tokenizer_;
  std::vector<std::int32_t> before_;  // tokens of a text that others follow
  std::string text_before_;
};

}  // namespace alate::tokenizers
