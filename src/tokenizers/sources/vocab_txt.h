// BERT's tokenizer from a vocab.txt.
#pragma once

#include <filesystem>
#include <memory>

#include "tokenizers/parts.h"

namespace alate::tokenizers {

/// Builds BERT's pipeline around a vocab.txt, with the options and special tokens from the files beside it, as
/// transformers' BertTokenizer does. `within` is as in base::read_text_file, for vocab.txt itself.
std::shared_ptr<Tokenizer::Parts> load_vocab_txt(const std::filesystem::path& vocab_txt,
                                                 const base::ContainedFiles* within = nullptr);

}  // namespace alate::tokenizers
