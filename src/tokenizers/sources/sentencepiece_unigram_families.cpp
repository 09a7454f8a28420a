// Families whose tokenizer is a Unigram model: T5, ALBERT, XLM-R, mBART, DeBERTa-v2, CamemBERT, Pegasus.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/class_tokens.h"
#include "tokenizers/sources/sentencepiece.h"
#include "tokenizers/sources/sentencepiece_parts.h"

namespace alate::tokenizers {
namespace {

constexpr std::array<std::string_view, 27> kMoreMbart50Languages = {
    "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH",
    "mk_MK", "ml_IN", "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE",
    "ta_IN", "te_IN", "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};

// The vocabulary as fairseq numbers it: four tokens of its own in place of SentencePiece's first three.
std::vector<UnigramPiece> fairseq_pieces(const SentencePieceModel& model, const std::vector<NamedToken>& named,
                                         std::string_view first_role = "bos_token") {
  std::vector<UnigramPiece> pieces = {{text_of_role(named, first_role, "<s>"), 0},
                                      {text_of_role(named, "pad_token", "<pad>"), 0},
                                      {text_of_role(named, "eos_token", "</s>"), 0},
                                      {text_of_role(named, "unk_token", "<unk>"), 0}};
  std::vector<UnigramPiece> others = pieces_from(model, 3);
  std::ranges::move(others, std::back_inserter(pieces));
  return pieces;
}

// <s> A </s>, and </s> B </s> after it.
PostProcessorPtr roberta_like(const Assembly& assembly, const std::string& bos, const std::string& eos,
                              std::string_view what) {
  const SpecialToken end = assembly.special(eos);
  return surrounding_template({.before = {assembly.special(bos)}, .middle = {end, end}, .after = {end}}, what);
}

// [CLS] A [SEP], and B [SEP] after it.
PostProcessorPtr bert_like(SpecialToken cls, const SpecialToken& sep, std::string_view what) {
  return surrounding_template({.before = {std::move(cls)}, .middle = {sep}, .after = {sep}, .types_of_pair = true},
                              what);
}

PrependScheme prefix_or_never(const TokenizerConfig& config) {
  return config.get_bool("add_prefix_space", true) ? PrependScheme::always : PrependScheme::never;
}

NormalizerPtr rules_and_single_spaces(const SentencePieceModel& model, std::string_view what) {
  std::vector<NormalizerPtr> parts;
  parts.push_back(precompiled_rules(model, what));
  parts.push_back(replace({" {2,}", true}, " ", what));
  return joined(std::move(parts));
}

}  // namespace

Converted convert_t5(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  const auto named =
      config.named_tokens(usual_tokens({{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}}));
  const std::size_t extra = numbered_count(config, "extra_ids", 100);
  const auto extra_token = [](std::size_t i) { return "<extra_id_" + std::to_string(i) + ">"; };
  std::vector<UnigramPiece> pieces = pieces_from(model, 0);
  for (std::size_t i = extra; i > 0; --i) pieces.push_back({extra_token(i - 1), 0});
  std::vector<StatedToken> further = added_pieces(model);
  const bool has_extra = std::ranges::any_of(
      further, [](const StatedToken& token) { return token.token.content.find("<extra_id_") != std::string::npos; });
  for (std::size_t i = 0; i < extra && !has_extra; ++i) further.push_back(StatedToken::special(extra_token(i)));
  Assembly assembly(precompiled_rules(model, what), split_words(PrependScheme::always), unigram(pieces, 2, false, what),
                    config.added_tokens(named, config.further_tokens().value_or(further)), metaspace_decoder({}), what);
  const SpecialToken eos{"</s>", assembly.special(text_of_role(named, "eos_token", "</s>")).id};
  PostProcessorPtr ends = surrounding_template({.before = {}, .middle = {eos}, .after = {eos}}, what);
  return std::move(assembly).finish(std::move(ends));
}

Converted convert_albert(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  const auto named = config.named_tokens(usual_tokens({{"bos_token", "[CLS]"},
                                                       {"eos_token", "[SEP]"},
                                                       {"unk_token", "<unk>"},
                                                       {"sep_token", "[SEP]"},
                                                       {"pad_token", "<pad>"},
                                                       {"cls_token", "[CLS]"},
                                                       {"mask_token", "[MASK]"}}));
  std::vector<NormalizerPtr> normalizers;
  normalizers.push_back(replace({"``"}, "\"", what));
  normalizers.push_back(replace({"''"}, "\"", what));
  if (!config.get_bool("keep_accents", false)) {
    normalizers.push_back(unicode_normalizer(NormalForm::nfkd));
    normalizers.push_back(strip_accents());
  }
  if (config.get_bool("do_lower_case", true)) normalizers.push_back(lowercase());
  normalizers.push_back(precompiled_rules(model, what));
  const PrependScheme prepend = prefix_or_never(config);
  Assembly assembly(joined(std::move(normalizers)), split_words(prepend),
                    unigram(pieces_from(model, 0), 1, false, what),
                    config.added_tokens(named, config.further_tokens().value_or(added_pieces(model))),
                    metaspace_decoder({.prepend = prepend}), what);
  PostProcessorPtr ends =
      config.states_bos_or_eos()
          ? stated_marks(assembly, config, named, what)
          : bert_like({"[CLS]", assembly.special(text_of_role(named, "cls_token", "[CLS]")).id},
                      {"[SEP]", assembly.special(text_of_role(named, "sep_token", "[SEP]")).id}, what);
  return std::move(assembly).finish(std::move(ends));
}

Converted convert_xlm_roberta(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back({"mask_token", StatedToken::special("<mask>")});
  const auto named = config.named_tokens(usual);
  std::vector<UnigramPiece> pieces = fairseq_pieces(model, named);
  pieces.push_back({text_of_role(named, "mask_token", "<mask>"), 0});
  const PrependScheme prepend = prefix_or_never(config);
  Assembly assembly(precompiled_rules(model, what), split_words(prepend), unigram(pieces, 3, false, what),
                    config.added_tokens(named, config.further_tokens().value_or(added_pieces(model))),
                    metaspace_decoder({.prepend = prepend}), what);
  PostProcessorPtr ends =
      roberta_like(assembly, text_of_role(named, "bos_token", "<s>"), text_of_role(named, "eos_token", "</s>"), what);
  return std::move(assembly).finish(std::move(ends));
}

Converted convert_mbart(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back(mask_with_space("<mask>"));
  const auto named = config.named_tokens(usual);
  std::vector<UnigramPiece> pieces = fairseq_pieces(model, named);
  std::vector<StatedToken> further;
  for (const std::string_view language : mbart_languages()) {
    pieces.push_back({std::string(language), 0});
    further.push_back(StatedToken::special(language));
  }
  std::ranges::move(added_pieces(model), std::back_inserter(further));
  pieces.push_back({text_of_role(named, "mask_token", "<mask>"), 0});
  Assembly assembly(nullptr, split_words(PrependScheme::always), unigram(pieces, 3, false, what),
                    config.added_tokens(named, config.further_tokens().value_or(further)), metaspace_decoder({}), what);
  const std::string unk = text_of_role(named, "unk_token", "<unk>");
  const SpecialToken eos = assembly.special(text_of_role(named, "eos_token", "</s>"));
  const SpecialToken language = assembly.special_or(config.get_string("src_lang", "en_XX"), unk);
  PostProcessorPtr ends = surrounding_template({.before = {}, .middle = {}, .after = {eos, language}}, what);
  return std::move(assembly).finish(std::move(ends));
}

Converted convert_mbart50(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  std::vector<NamedToken> usual = roberta_tokens();
  std::erase_if(usual, [](const NamedToken& token) { return token.role == "bos_token"; });
  usual.push_back(mask_with_space("<mask>"));
  const auto named = config.named_tokens(usual);
  std::vector<UnigramPiece> pieces = fairseq_pieces(model, named, "cls_token");
  std::vector<StatedToken> further = added_pieces(model);
  const auto add_language = [&](std::string_view language) {
    pieces.push_back({std::string(language), 0});
    further.push_back(StatedToken::special(language));
  };
  std::ranges::for_each(mbart_languages(), add_language);
  std::ranges::for_each(kMoreMbart50Languages, add_language);
  pieces.push_back({text_of_role(named, "mask_token", "<mask>"), 0});
  Assembly assembly(rules_and_single_spaces(model, what), metaspace({}), unigram(pieces, 3, false, what),
                    config.added_tokens(named, config.further_tokens().value_or(further)), metaspace_decoder({}), what);
  const std::string unk = text_of_role(named, "unk_token", "<unk>");
  const SpecialToken language = assembly.special_or(config.get_string("src_lang", "en_XX"), unk);
  PostProcessorPtr ends = surrounding_template(
      {.before = {language}, .middle = {}, .after = {assembly.special(text_of_role(named, "eos_token", "</s>"))}},
      what);
  return std::move(assembly).finish(std::move(ends));
}

Converted convert_deberta_v2(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  const auto named = config.named_tokens(usual_tokens({{"bos_token", "[CLS]"},
                                                       {"eos_token", "[SEP]"},
                                                       {"unk_token", "[UNK]"},
                                                       {"sep_token", "[SEP]"},
                                                       {"pad_token", "[PAD]"},
                                                       {"cls_token", "[CLS]"},
                                                       {"mask_token", "[MASK]"}}));
  std::vector<UnigramPiece> pieces = pieces_from(model, 0);
  const std::string unk = text_of_role(named, "unk_token", "[UNK]");
  const auto found =
      std::ranges::find_if(pieces, [&](const UnigramPiece& piece) { return piece.text == unk && piece.score == 0; });
  const std::size_t unk_id =
      found != pieces.end() ? static_cast<std::size_t>(found - pieces.begin()) : numbered_count(config, "unk_id", 1);
  std::vector<NormalizerPtr> normalizers;
  if (config.get_bool("do_lower_case", false)) normalizers.push_back(lowercase());
  normalizers.push_back(replace({R"(\s{2,}|[\n\r\t])", true}, " ", what));
  normalizers.push_back(unicode_normalizer(NormalForm::nfc));
  normalizers.push_back(strip(false, true));
  const PrependScheme prepend =
      config.get_bool("add_prefix_space", true) ? PrependScheme::always : PrependScheme::first;
  std::vector<PreTokenizerPtr> pre_tokenizers;
  if (config.get_bool("split_by_punct", false)) pre_tokenizers.push_back(punctuation(Delimiters::isolated));
  pre_tokenizers.push_back(metaspace({.prepend = prepend}));
  Assembly assembly(joined(std::move(normalizers)), pre_tokenizer_sequence(std::move(pre_tokenizers)),
                    unigram(pieces, unk_id, false, what),
                    config.added_tokens(named, config.further_tokens().value_or(added_pieces(model))),
                    metaspace_decoder({.prepend = prepend}), what);
  PostProcessorPtr bert = bert_like(assembly.special(text_of_role(named, "cls_token", "[CLS]")),
                                    assembly.special(text_of_role(named, "sep_token", "[SEP]")), what);
  return std::move(assembly).finish(std::move(bert));
}

Converted convert_camembert(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back(mask_with_space("<mask>"));
  const auto named = config.named_tokens(usual);
  const std::string unk = text_of_role(named, "unk_token", "<unk>");
  std::vector<UnigramPiece> pieces = {{"<s>NOTUSED", 0},
                                      {text_of_role(named, "pad_token", "<pad>"), 0},
                                      {"</s>NOTUSED", 0},
                                      {unk, 0},
                                      {"<unk>NOTUSED", -100}};
  std::ranges::move(pieces_from(model, 1), std::back_inserter(pieces));
  pieces.push_back({text_of_role(named, "mask_token", "<mask>"), 0});
  const PrependScheme prepend = prefix_or_never(config);
  const auto unk_at = static_cast<std::size_t>(std::ranges::find(pieces, unk, &UnigramPiece::text) - pieces.begin());
  Assembly assembly(precompiled_rules(model, what), split_words(prepend), unigram(pieces, unk_at, false, what),
                    config.added_tokens(named, config.further_tokens().value_or(added_pieces(model))),
                    metaspace_decoder({.prepend = prepend}), what);
  PostProcessorPtr ends =
      roberta_like(assembly, text_of_role(named, "bos_token", "<s>"), text_of_role(named, "eos_token", "</s>"), what);
  return std::move(assembly).finish(std::move(ends));
}

Converted convert_pegasus(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  const auto named = config.named_tokens(usual_tokens(
      {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}, {"mask_token", "<mask_2>"}}));
  const std::size_t offset = numbered_count(config, "offset", 103);
  const auto unused = [](std::size_t i) { return "<unk_" + std::to_string(i) + ">"; };
  // The two masks stand in the order in which the config states them; the usual order is the reverse of the roles'.
  const bool states_mask = config.find("mask_token") != nullptr;
  const std::string first_mask = states_mask ? text_of_role(named, "mask_token", "<mask_1>") : "<mask_1>";
  const std::string sentence_mask = config.get_string("mask_token_sent", "<mask_1>");
  const std::string second_mask = config.get_string("mask_token_sent", "<mask_2>");
  std::vector<UnigramPiece> pieces = {{text_of_role(named, "pad_token", "<pad>"), 0},
                                      {text_of_role(named, "eos_token", "</s>"), 0}};
  pieces.push_back({first_mask, 0});
  if (second_mask != first_mask) pieces.push_back({second_mask, 0});
  for (std::size_t i = 2; i < offset; ++i) pieces.push_back({unused(i), -100});
  std::ranges::move(pieces_from(model, 2), std::back_inserter(pieces));
  const std::string unk = text_of_role(named, "unk_token", "<unk>");
  const auto found = std::find_if(pieces.begin() + 1, pieces.end(),
                                  [&](const UnigramPiece& piece) { return piece.text == unk && piece.score == 0; });
  if (found == pieces.end()) throw make_error(ErrorCode::corrupt, what, ": the unknown token is not in its vocabulary");
  const auto unk_id = static_cast<std::size_t>(found - pieces.begin());

  std::vector<StatedToken> further;
  const std::vector<StatedToken> spm = added_pieces(model);
  if (std::ranges::none_of(spm, [&](const StatedToken& token) { return token.token.content == sentence_mask; }))
    further.push_back(StatedToken::special(sentence_mask));
  for (std::size_t i = 2; i < offset; ++i) further.push_back(StatedToken::special(unused(i)));
  NormalizerPtr normalizer;
  if (model.charsmap.empty()) {
    std::vector<NormalizerPtr> parts;
    parts.push_back(replace({"\\n", true}, " ", what));
    parts.push_back(replace({" {2,}", true}, " ", what));
    normalizer = joined(std::move(parts));
  } else {
    normalizer = rules_and_single_spaces(model, what);
  }
  Assembly assembly(std::move(normalizer), metaspace({}), unigram(pieces, unk_id, false, what),
                    config.added_tokens(named, config.further_tokens().value_or(further)), metaspace_decoder({}), what);
  PostProcessorPtr ends = surrounding_template(
      {.before = {}, .middle = {}, .after = {assembly.special(text_of_role(named, "eos_token", "</s>"))}}, what);
  return std::move(assembly).finish(std::move(ends));
}

}  // namespace alate::tokenizers
