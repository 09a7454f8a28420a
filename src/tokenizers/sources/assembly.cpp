#include "tokenizers/sources/assembly.h"

#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/sources/class_tokens.h"

namespace alate::tokenizers {

Assembly::Assembly(NormalizerPtr normalizer, PreTokenizerPtr pre_tokenizer, ModelPtr model,
                   std::vector<AddedToken> added, DecoderPtr decoder, std::string_view where)
    : normalizer_(std::move(normalizer)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      model_(std::move(model)),
      added_(std::move(added), *model_, normalizer_.get(), where),
      decoder_(std::move(decoder)),
      where_(where) {}

std::optional<std::int32_t> Assembly::id_of(std::string_view token) const {
  const auto id = added_.token_to_id(token);
  return id.has_value() ? id : model_->token_to_id(token);
}

SpecialToken Assembly::special(std::string_view token) const {
  const auto id = id_of(token);
  if (!id.has_value())
    throw make_error(ErrorCode::corrupt, where_, ": the special token ", formats::quoted_name(token),
                     " is not in the vocabulary");
  return {std::string(token), *id};
}

SpecialToken Assembly::special_or(std::string_view token, std::string_view otherwise) const {
  const auto id = id_of(token);
  return {std::string(token), id.has_value() ? *id : special(otherwise).id};
}

std::shared_ptr<Tokenizer::Parts> Assembly::finish(PostProcessorPtr post_processor) && {
  return std::make_shared<Tokenizer::Parts>(Tokenizer::Parts{
      .normalizer = std::move(normalizer_),
      .pre_tokenizer = std::move(pre_tokenizer_),
      .model = std::move(model_),
      .added = std::move(added_),
      .post_processor = std::move(post_processor),
      .decoder = std::move(decoder_),
      .stated_max_length = {},
      .stated_side = Side::right,
  });
}

PostProcessorPtr surrounding_template(const TemplateTexts& texts, std::string_view where) {
  TemplateOptions options;
  const auto append = [](std::vector<TemplatePiece>& pieces, const std::vector<SpecialToken>& tokens,
                         std::int32_t type) {
    for (const SpecialToken& token : tokens) pieces.push_back(TemplatePiece::token(token, type));
  };
  const std::int32_t second = texts.types_of_pair ? 1 : 0;
  append(options.single, texts.before, 0);
  options.single.push_back(TemplatePiece::text_a(0));
  append(options.single, texts.after, 0);
  append(options.pair, texts.before, 0);
  options.pair.push_back(TemplatePiece::text_a(0));
  append(options.pair, texts.middle, 0);
  options.pair.push_back(TemplatePiece::text_b(second));
  append(options.pair, texts.after, second);
  return template_processing(std::move(options), where);
}

PostProcessorPtr first_of_own_type(const SpecialToken& first, const SpecialToken& last, std::string_view where) {
  TemplateOptions options;
  options.single = {TemplatePiece::token(first, 2), TemplatePiece::text_a(0), TemplatePiece::token(last, 0)};
  options.pair = options.single;
  options.pair.push_back(TemplatePiece::text_b(1));
  options.pair.push_back(TemplatePiece::token(last, 1));
  return template_processing(std::move(options), where);
}

PostProcessorPtr marks_template(const std::optional<SpecialToken>& bos, const std::optional<SpecialToken>& eos,
                                std::string_view where) {
  TemplateOptions options;
  const auto append = [&](std::vector<TemplatePiece>& pieces, TemplatePiece text, std::int32_t type) {
    if (bos) pieces.push_back(TemplatePiece::token(*bos, type));
    pieces.push_back(std::move(text));
    if (eos) pieces.push_back(TemplatePiece::token(*eos, type));
  };
  append(options.single, TemplatePiece::text_a(0), 0);
  append(options.pair, TemplatePiece::text_a(0), 0);
  append(options.pair, TemplatePiece::text_b(1), 1);
  return template_processing(std::move(options), where);
}

PostProcessorPtr stated_marks(const Assembly& assembly, const TokenizerConfig& config,
                              const std::vector<NamedToken>& named, std::string_view what) {
  const auto mark = [&](std::string_view key, std::string_view role) {
    const std::string* text = content_of(named, role);
    return text != nullptr && config.get_bool(key, false) ? std::optional(assembly.special(*text)) : std::nullopt;
  };
  const auto bos = mark("add_bos_token", "bos_token");
  const auto eos = mark("add_eos_token", "eos_token");
  return bos || eos ? marks_template(bos, eos, what) : marks_template({}, {}, what);
}

}  // namespace alate::tokenizers
