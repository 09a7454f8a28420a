#include "tokenizers/sources/sentencepiece_parts.h"

#include <algorithm>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/recovered_merges.h"

namespace alate::tokenizers {

using PieceType = SentencePieceModel::PieceType;

std::vector<StatedToken> added_pieces(const SentencePieceModel& model) {
  std::vector<StatedToken> tokens;
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    if (piece.type != PieceType::control && piece.type != PieceType::user_defined) continue;
    StatedToken token = StatedToken::special(piece.text);
    token.token.special = piece.type == PieceType::control;
    token.normalized = false;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::vector<UnigramPiece> pieces_from(const SentencePieceModel& model, std::size_t first) {
  std::vector<UnigramPiece> pieces;
  pieces.reserve(model.pieces.size() + 256);
  for (std::size_t i = first; i < model.pieces.size(); ++i)
    pieces.push_back({std::string(model.pieces[i].text), model.pieces[i].score});
  return pieces;
}

std::vector<std::string_view> piece_texts(const SentencePieceModel& model) {
  std::vector<std::string_view> texts(model.pieces.size());
  std::ranges::transform(model.pieces, texts.begin(), &SentencePieceModel::Piece::text);
  return texts;
}

Vocabulary vocabulary_of(const SentencePieceModel& model) {
  Vocabulary vocabulary;
  vocabulary.reserve(model.pieces.size());
  for (std::size_t i = 0; i < model.pieces.size(); ++i)
    vocabulary.add(model.pieces[i].text, static_cast<std::int32_t>(i));
  vocabulary.finish();
  return vocabulary;
}

std::vector<std::pair<std::string, std::string>> merges_by_id(const SentencePieceModel& model, std::string_view what) {
  const std::vector<std::string_view> texts = piece_texts(model);
  return merges_of(token_splits(texts, CutAt::code_points, what), texts);
}

NormalizerPtr charsmap_rules(std::string charsmap, std::string_view what) {
  return charsmap.empty() ? nullptr : precompiled(std::move(charsmap), what);
}

NormalizerPtr precompiled_rules(const SentencePieceModel& model, std::string_view what) {
  return charsmap_rules(std::string(model.charsmap), std::string(what) + ": normalizer");
}

NormalizerPtr joined(std::vector<NormalizerPtr> parts) {
  std::erase(parts, nullptr);
  if (parts.empty()) return nullptr;
  return parts.size() == 1 ? std::move(parts.front()) : normalizer_sequence(std::move(parts));
}

PreTokenizerPtr split_words(PrependScheme prepend) {
  std::vector<PreTokenizerPtr> parts;
  parts.push_back(whitespace_split());
  parts.push_back(metaspace({.prepend = prepend}));
  return pre_tokenizer_sequence(std::move(parts));
}

DecoderPtr spm_decoder(bool byte_fallback, bool fuse, bool strip_start) {
  std::vector<DecoderPtr> parts;
  parts.push_back(replace_decoder({std::string(kWordStart)}, " ", "decoder"));
  if (byte_fallback) parts.push_back(byte_fallback_decoder());
  if (fuse) parts.push_back(fuse_decoder());
  if (strip_start) parts.push_back(strip_decoder(U' ', 1, 0));
  return decoder_sequence(std::move(parts));
}

}  // namespace alate::tokenizers
