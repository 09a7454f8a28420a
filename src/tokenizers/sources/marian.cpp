#include "tokenizers/sources/marian.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/mapped_file.h"
#include "tokenizers/models/renumbered.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/assembly.h"
#include "tokenizers/sources/class_tokens.h"
#include "tokenizers/sources/sentencepiece_parts.h"
#include "tokenizers/sources/vocab_merges.h"

namespace alate::tokenizers {
namespace {

bool is_language_code(std::string_view token) {
  return token.size() > 4 && token.starts_with(">>") && token.ends_with("<<");
}

std::vector<StatedToken> language_codes(const Vocabulary& vocabulary) {
  std::vector<StatedToken> codes;
  for (std::size_t id = 0; id < vocabulary.size(); ++id) {
    const auto token = vocabulary.token_of(static_cast<std::int32_t>(id));
    if (!token || !is_language_code(*token)) continue;
    StatedToken code = StatedToken::special(*token);
    code.token.special = false;
    code.normalized = false;
    codes.push_back(std::move(code));
  }
  return codes;
}

// SentencePiece never finds control pieces in a text, and their ids mean nothing here.
SentencePieceModel without_control_pieces(SentencePieceModel model) {
  std::erase_if(model.pieces, [](const SentencePieceModel::Piece& piece) {
    return piece.type == SentencePieceModel::PieceType::control;
  });
  const auto unk =
      std::ranges::find(model.pieces, SentencePieceModel::PieceType::unknown, &SentencePieceModel::Piece::type);
  model.unk_id = unk == model.pieces.end() ? -1 : static_cast<std::int32_t>(unk - model.pieces.begin());
  return model;
}

// The marks of words become spaces, of which none is kept at the ends.
DecoderPtr marian_decoder() {
  constexpr std::size_t kAll = 1'000'000'000;
  std::vector<DecoderPtr> parts;
  parts.push_back(replace_decoder({std::string(kWordStart)}, " ", "decoder"));
  parts.push_back(fuse_decoder());
  parts.push_back(strip_decoder(U' ', kAll, kAll));
  return decoder_sequence(std::move(parts));
}

}  // namespace

std::shared_ptr<Tokenizer::Parts> load_marian(const std::filesystem::path& folder, const TokenizerConfig& config) {
  const std::filesystem::path spm = folder / "source.spm";
  const std::string what = spm.string();
  const base::ContainedFiles contained(folder);
  const auto file = base::MappedFile::open(spm, base::MappedFile::Mode::map, &contained);
  const SentencePieceModel model = without_control_pieces(parse_sentencepiece_model(file->bytes(), what));
  Vocabulary vocabulary = read_vocab_json(folder);
  const auto named =
      config.named_tokens(usual_tokens({{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}}));
  const auto unk_id = vocabulary.id_of(text_of_role(named, "unk_token", "<unk>"));
  if (!unk_id) throw make_error(ErrorCode::corrupt, folder.string(), ": vocab.json lacks the unknown token");
  std::vector<StatedToken> further = config.further_tokens().value_or(std::vector<StatedToken>());
  for (StatedToken& code : language_codes(vocabulary)) further.push_back(std::move(code));

  PlainPipeline plain = plain_pipeline(model, TokenizerConfig::none(what), what);
  Assembly assembly(std::move(plain.normalizer), std::move(plain.pre_tokenizer),
                    renumbered(std::move(plain.model), std::move(vocabulary), *unk_id),
                    config.added_tokens(named, further), marian_decoder(), what);
  PostProcessorPtr ends = surrounding_template(
      {.before = {}, .middle = {}, .after = {assembly.special(text_of_role(named, "eos_token", "</s>"))}}, what);
  file->require_unchanged();
  return std::move(assembly).finish(std::move(ends));
}

}  // namespace alate::tokenizers
