// Pre-tokenizers, which cut a normalized text into the pieces that a model tokenizes one at a time.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizers/json_fields.h"
#include "tokenizers/pieces.h"

namespace alate::tokenizers {

/// Immutable; thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Splits every piece that is not an added token.
  virtual void apply(PieceList& list) const = 0;
};

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

/// The pre-tokenizer that a tokenizer.json states; none for null. `where` names the member in errors.
/// Throws corrupt, or unsupported naming the type.
PreTokenizerPtr load_pre_tokenizer(const Json& part, std::string_view where, int depth = 0);

// One function per type, each in the file of its family.
PreTokenizerPtr make_bert_pre_tokenizer(const Json& part, std::string_view where);
PreTokenizerPtr make_whitespace(const Json& part, std::string_view where);
PreTokenizerPtr make_whitespace_split(const Json& part, std::string_view where);
PreTokenizerPtr make_punctuation(const Json& part, std::string_view where);

}  // namespace alate::tokenizers
