// What every tokenizer that a fuzz target has made must hold to, whatever its vocabulary.
#pragma once

#include <cstdlib>
#include <string_view>

#include "alate/error.h"
#include "alate/tokenizer.h"

namespace alate::tests {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Encodes and decodes a text: refused, or lists of one length whose offsets lie in the text.
inline void check_tokenizer(const Tokenizer& tokenizer, std::string_view text) {
  try {
    const Encoding encoding = tokenizer.encode(text);
    const std::size_t count = encoding.ids.size();
    require(encoding.type_ids.size() == count && encoding.special_mask.size() == count &&
            encoding.tokens.size() == count && encoding.offsets.size() == count &&
            encoding.byte_offsets.size() == count);
    for (std::size_t i = 0; i < count; ++i)
      require(encoding.ids[i] >= 0 && encoding.byte_offsets[i].first <= encoding.byte_offsets[i].second);
    tokenizer.decode(encoding.ids);
    tokenizer.decode(encoding.ids, true);
    tokenizer.encode_pair(text, text);
  } catch (const Error& error) {  // a limit, a missing unknown token
    require(error.code() != ErrorCode::internal);
  }
}

}  // namespace alate::tests
