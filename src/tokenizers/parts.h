// The components of a Tokenizer, and their loaders.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "alate/tokenizer.h"
#include "tokenizers/added_vocabulary.h"
#include "tokenizers/decoders/decoder.h"
#include "tokenizers/models/model.h"
#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/post_processors/post_processor.h"
#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/scratch_pool.h"

namespace alate::base {
class ContainedFiles;
}

namespace alate {

struct Tokenizer::Parts {
  tokenizers::NormalizerPtr normalizer;       // may be null
  tokenizers::PreTokenizerPtr pre_tokenizer;  // may be null
  tokenizers::ModelPtr model;
  tokenizers::AddedVocabulary added;
  tokenizers::PostProcessorPtr post_processor;  // may be null
  tokenizers::DecoderPtr decoder;               // may be null
  std::unique_ptr<tokenizers::ScratchPool> scratches = std::make_unique<tokenizers::ScratchPool>();
  std::optional<std::size_t> stated_max_length;
  Side stated_side = Side::right;
  std::optional<Padding> stated_padding = {};
  bool gives_type_ids = true;
};

namespace tokenizers {

class TokenizerConfig;

/// Reads a tokenizer.json; `what` names it in errors. With the files beside it, their class and what they add counts
/// too, as in transformers; without, it is all that there is.
std::shared_ptr<Tokenizer::Parts> load_tokenizer_json(std::string_view text, std::string_view what,
                                                      const TokenizerConfig* config = nullptr);

}  // namespace tokenizers
}  // namespace alate
