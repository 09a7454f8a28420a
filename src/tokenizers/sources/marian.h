// Marian's tokenizers: a model of SentencePiece that splits, and a vocab.json that numbers.
#pragma once

#include <filesystem>
#include <memory>

#include "tokenizers/parts.h"
#include "tokenizers/sources/tokenizer_config.h"

namespace alate::tokenizers {

/// Reads `folder`/source.spm and `folder`/vocab.json: the tokenizer of the source language. Language codes of the
/// vocabulary (">>fr<<") are added tokens, </s> follows each text, and pieces that the vocabulary lacks are <unk>, as
/// in transformers' MarianTokenizer without sacremoses. Throws as parse_sentencepiece_model and read_vocab_json;
/// corrupt if the vocabulary lacks a special token.
std::shared_ptr<Tokenizer::Parts> load_marian(const std::filesystem::path& folder, const TokenizerConfig& config);

}  // namespace alate::tokenizers
