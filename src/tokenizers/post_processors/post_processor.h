// Post-processors, which add special tokens around a text or a pair.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "alate/tokenizer.h"
#include "tokenizers/json_fields.h"

namespace alate::tokenizers {

/// Optional lists of an Encoding to fill.
struct Wanted {
  bool tokens;
  bool offsets;
};

/// Immutable; thread-safe.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  virtual std::size_t added_tokens(bool pair) const = 0;
  /// Takes the encoding of a text or the two of a pair, each with its windows, and leaves any number of encodings to be
  /// joined.
  virtual void apply(std::vector<Encoding>& encodings, bool add_special_tokens, Wanted wanted) const = 0;
};

using PostProcessorPtr = std::unique_ptr<const PostProcessor>;

/// The post-processor that a tokenizer.json states; none for null. `where` names the member in errors.
/// Throws corrupt, or unsupported naming the type.
PostProcessorPtr load_post_processor(const Json& part, std::string_view where, int depth = 0);

// One function per type, each in the file of its family.
PostProcessorPtr make_bert_processing(const Json& part, std::string_view where);
PostProcessorPtr make_template_processing(const Json& part, std::string_view where);

/// Appends a token that a template adds.
void append_special(Encoding& encoding, std::int32_t id, std::string_view token, std::int32_t type_id, Wanted wanted);

}  // namespace alate::tokenizers
