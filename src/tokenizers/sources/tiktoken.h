// Tokenizers from tiktoken's files of ranks: a line for each token, its bytes in base64 and its rank.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizers/parts.h"
#include "tokenizers/sources/tokenizer_config.h"

namespace alate::tokenizers {

/// Whether a text begins as a file of ranks does.
bool is_tiktoken(std::string_view text);

/// The tokenizer of a file of ranks. A rank is the token's id. The file has no pattern and no special tokens: `name`
/// (the file's name without its ending) chooses them for cl100k_base, o200k_base, o200k_harmony, p50k_base, p50k_edit,
/// r50k_base, gpt2 and qwen; any other name means Llama 3's, the ones that transformers assumes. Special tokens that
/// `config` states replace these. No special tokens are added to texts unless the config asks for them. Merges are
/// recovered from the ranks. Throws corrupt for malformed files, naming the line.
std::shared_ptr<Tokenizer::Parts> read_tiktoken(std::string_view text, std::string_view name,
                                                const TokenizerConfig& config, std::string_view what);

}  // namespace alate::tokenizers
