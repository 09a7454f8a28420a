// The last step of every source: added tokens, then the template of special tokens, which needs their ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/parts.h"
#include "tokenizers/sources/tokenizer_config.h"

namespace alate::tokenizers {

/// A tokenizer without its post-processor.
class Assembly {
 public:
  /// `normalizer` and `pre_tokenizer` may be null; `where` names the source in errors.
  Assembly(NormalizerPtr normalizer, PreTokenizerPtr pre_tokenizer, ModelPtr model, std::vector<AddedToken> added,
           DecoderPtr decoder, std::string_view where);

  std::optional<std::int32_t> id_of(std::string_view token) const;
  /// The token with its id. Throws corrupt if there is no such token.
  SpecialToken special(std::string_view token) const;
  /// The token with its id, or with the id of `otherwise` if there is no such token.
  SpecialToken special_or(std::string_view token, std::string_view otherwise) const;

  /// `post_processor` may be null.
  std::shared_ptr<Tokenizer::Parts> finish(PostProcessorPtr post_processor) &&;

 private:
  NormalizerPtr normalizer_;
  PreTokenizerPtr pre_tokenizer_;
  ModelPtr model_;
  AddedVocabulary added_;
  DecoderPtr decoder_;
  std::string where_;
};

/// `before` A `after`; for a pair `before` A `middle` B `after`. All type ids are 0, but with `types_of_pair` those of
/// what follows `middle` are 1.
struct TemplateTexts {
  std::vector<SpecialToken> before, middle, after;
  bool types_of_pair = false;
};
PostProcessorPtr surrounding_template(const TemplateTexts& texts, std::string_view where);

/// Funnel's: the first token is of type 2; the second text of a pair, and what follows it, of type 1.
PostProcessorPtr first_of_own_type(const SpecialToken& first, const SpecialToken& last, std::string_view where);

/// The beginning and end marks around each text, as transformers' add_bos_token and add_eos_token: [bos] A [eos], for a
/// pair followed by [bos] B [eos] of type 1.
PostProcessorPtr marks_template(const std::optional<SpecialToken>& bos, const std::optional<SpecialToken>& eos,
                                std::string_view where);

/// The template of add_bos_token and add_eos_token.
PostProcessorPtr stated_marks(const Assembly& assembly, const TokenizerConfig& config,
                              const std::vector<NamedToken>& named, std::string_view what);

}  // namespace alate::tokenizers
