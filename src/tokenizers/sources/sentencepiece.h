// Tokenizers from SentencePiece's model files, converted as transformers converts them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "tokenizers/parts.h"
#include "tokenizers/sources/sentencepiece_model.h"
#include "tokenizers/sources/tokenizer_config.h"

namespace alate::tokenizers {

/// The tokenizer of a `.model` file. The class that `config` states chooses the conversion, which gives each family its
/// special tokens, their ids, its normalizer, pre-tokenizer, template and decoder: Llama, Gemma, T5, ALBERT, XLM-R,
/// mBART, mBART-50, DeBERTa-v2, CamemBERT, NLLB, Pegasus. Of any other class, or without one, the tokenizer does what
/// the model itself says: a dummy prefix, removal of extra spaces, user-defined pieces that stay whole, byte fallback;
/// it adds no special tokens unless the config asks for them. Throws as parse_sentencepiece_model; unsupported for
/// classes that need code of their own and for word models.
std::shared_ptr<Tokenizer::Parts> read_sentencepiece(std::span<const std::byte> file, const TokenizerConfig& config,
                                                     std::string_view what);

/// Whether read_sentencepiece has a conversion for this class.
bool is_sentencepiece_class(std::string_view class_name);

// The conversions, in the files of their families. Each takes the model, the config and the file's name.
using Converted = std::shared_ptr<Tokenizer::Parts>;
Converted convert_plain(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_llama(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_gemma(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_nllb(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_t5(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_albert(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_xlm_roberta(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_mbart(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_mbart50(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_deberta_v2(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_camembert(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);
Converted convert_pegasus(const SentencePieceModel&, const TokenizerConfig&, std::string_view what);

}  // namespace alate::tokenizers
