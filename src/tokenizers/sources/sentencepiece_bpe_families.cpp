// Families whose tokenizer is BPE, whatever kind the model is of: Llama, Gemma, NLLB.
#include <array>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/class_tokens.h"
#include "tokenizers/sources/sentencepiece.h"
#include "tokenizers/sources/sentencepiece_parts.h"

namespace alate::tokenizers {

Converted convert_llama(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  const bool add_prefix_space = config.get_bool("add_prefix_space", true);
  const bool legacy = config.get_bool("legacy", false);
  const PrependScheme prepend = !add_prefix_space ? PrependScheme::never
                                : legacy          ? PrependScheme::always
                                                  : PrependScheme::first;
  const auto named =
      config.named_tokens(usual_tokens({{"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}}));
  Assembly assembly(
      nullptr, metaspace({.prepend = prepend, .split = false}),
      bpe(vocabulary_of(model), merges_by_id(model, what), {.fuse_unk = true, .byte_fallback = true}, what),
      config.added_tokens(named, config.further_tokens().value_or(added_pieces(model))),
      spm_decoder(true, true, add_prefix_space), what);
  PostProcessorPtr marks = stated_marks(assembly, config, named, what);
  return std::move(assembly).finish(std::move(marks));
}

Converted convert_gemma(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  const auto named = config.named_tokens(usual_tokens({{"unk_token", "<unk>"},
                                                       {"bos_token", "<bos>"},
                                                       {"eos_token", "<eos>"},
                                                       {"pad_token", "<pad>"},
                                                       {"mask_token", "<mask>"}}));
  const std::string* unk = content_of(named, "unk_token");
  Assembly assembly(replace({" "}, std::string(kWordStart), what),
                    split({" "}, Delimiters::merged_with_previous, false, what),
                    bpe(vocabulary_of(model), merges_by_id(model, what),
                        {.unk_token = unk == nullptr ? "<unk>" : *unk, .fuse_unk = true, .byte_fallback = true}, what),
                    config.added_tokens(named, config.further_tokens().value_or(added_pieces(model))),
                    spm_decoder(true, true, false), what);
  PostProcessorPtr marks = stated_marks(assembly, config, named, what);
  return std::move(assembly).finish(std::move(marks));
}

Converted convert_nllb(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back(mask_with_space("<mask>", true));
  const auto named = config.named_tokens(usual);
  // As fairseq numbers them; every other piece follows in order.
  const std::array<std::string, 4> first = {
      text_of_role(named, "bos_token", "<s>"), text_of_role(named, "pad_token", "<pad>"),
      text_of_role(named, "eos_token", "</s>"), text_of_role(named, "unk_token", "<unk>")};
  Vocabulary vocabulary;
  std::unordered_set<std::string_view> seen;
  std::int32_t id = 0;
  for (const std::string& text : first) {
    if (seen.insert(text).second) vocabulary.add(text, id++);
  }
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    if (seen.insert(piece.text).second) vocabulary.add(piece.text, id++);
  }
  vocabulary.finish();

  NormalizerPtr normalizer;
  if (!model.charsmap.empty()) {
    std::vector<NormalizerPtr> parts;
    parts.push_back(precompiled_rules(model, what));
    parts.push_back(replace({" {2,}", true}, " ", what));
    normalizer = joined(std::move(parts));
  }
  Assembly assembly(
      std::move(normalizer), metaspace({}),
      bpe(std::move(vocabulary), merges_by_id(model, what), {.unk_token = first[3], .fuse_unk = true}, what),
      config.added_tokens(named, config.further_tokens().value_or(added_pieces(model))), metaspace_decoder({}), what);
  const SpecialToken language = assembly.special_or(config.get_string("src_lang", "eng_Latn"), first[3]);
  const SpecialToken eos = assembly.special(first[2]);
  TemplateTexts texts;
  if (config.get_bool("legacy_behaviour", false)) {
    texts.after = {eos, language};
  } else {
    texts.before = {language};
    texts.after = {eos};
  }
  PostProcessorPtr surrounding = surrounding_template(texts, what);
  return std::move(assembly).finish(std::move(surrounding));
}

}  // namespace alate::tokenizers
