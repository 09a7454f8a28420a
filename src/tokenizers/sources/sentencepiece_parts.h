// What the conversions of SentencePiece's models share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/models/bpe.h"
#include "tokenizers/models/unigram.h"
#include "tokenizers/sources/assembly.h"
#include "tokenizers/sources/sentencepiece_model.h"
#include "tokenizers/sources/tokenizer_config.h"

namespace alate::tokenizers {

inline constexpr std::string_view kWordStart = "\u2581";

/// The pieces that are added tokens: the control ones are special, the user-defined ones not.
std::vector<StatedToken> added_pieces(const SentencePieceModel& model);

/// The texts and scores from `first` on.
std::vector<UnigramPiece> pieces_from(const SentencePieceModel& model, std::size_t first);
std::vector<std::string_view> piece_texts(const SentencePieceModel& model);

/// Piece i has the id i; of equal pieces, the last one counts.
Vocabulary vocabulary_of(const SentencePieceModel& model);
/// Merges in the order of the ids of what they make, then by the length of the left part.
std::vector<std::pair<std::string, std::string>> merges_by_id(const SentencePieceModel& model, std::string_view what);

/// The normalizer of compiled rules; null if there are none. `what` names them in errors.
NormalizerPtr charsmap_rules(std::string charsmap, std::string_view what);
/// That of the model.
NormalizerPtr precompiled_rules(const SentencePieceModel& model, std::string_view what);
/// The normalizers that are not null, in order; null if there are none.
NormalizerPtr joined(std::vector<NormalizerPtr> parts);
/// White space splits words, and every word begins with the mark.
PreTokenizerPtr split_words(PrependScheme prepend);

/// What the model itself says.
struct PlainPipeline {
  NormalizerPtr normalizer;       // may be null
  PreTokenizerPtr pre_tokenizer;  // may be null
  ModelPtr model;
};
/// `config` may rename pieces, and with "legacy": false only the first piece of a text gets the dummy prefix. Throws
/// unsupported for word models and for spaces at the ends of words.
PlainPipeline plain_pipeline(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what);

/// Marks become spaces, byte tokens bytes; then `strip_start` removes a space at the start.
DecoderPtr spm_decoder(bool byte_fallback, bool fuse, bool strip_start);

}  // namespace alate::tokenizers
