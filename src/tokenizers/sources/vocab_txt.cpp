#include "tokenizers/sources/vocab_txt.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "tokenizers/models/word_piece.h"
#include "tokenizers/sources/assembly.h"
#include "tokenizers/sources/class_tokens.h"
#include "tokenizers/sources/tokenizer_config.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

std::string_view without_trailing_space(std::string_view line) {
  std::size_t end = line.size();
  while (end > 0) {
    std::size_t before = end - 1;
    while (before > 0 && !starts_code_point(line[before])) --before;
    if (!is_in(decode_utf8(line, before).value, kWhitespace)) break;
    end = before;
  }
  return line.substr(0, end);
}

// One token per line, numbered from 0; trailing white space is not part of it. A duplicate token gets the later number.
Vocabulary read_vocab_txt(const std::filesystem::path& vocab_txt, const base::ContainedFiles* within) {
  const std::string text = base::read_text_file(vocab_txt, base::kMaxTextBytes, within);
  if (repair_utf8(text).has_value()) throw make_error(ErrorCode::corrupt, vocab_txt.string(), " is not UTF-8 text");
  Vocabulary vocabulary;
  vocabulary.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  std::int32_t id = 0;
  for (std::size_t begin = 0; begin < text.size(); ++id) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    vocabulary.add(without_trailing_space(std::string_view(text).substr(begin, end - begin)), id);
    begin = end + 1;
  }
  vocabulary.finish();
  return vocabulary;
}

struct SpecialNames {
  SpecialToken cls, sep;
  const Assembly& assembly;
  std::string question;  // of Splinter
  bool pads_left;
  std::string_view where;
};

PostProcessorPtr bert_template(const SpecialNames& names) {
  return surrounding_template(
      {.before = {names.cls}, .middle = {names.sep}, .after = {names.sep}, .types_of_pair = true}, names.where);
}

PostProcessorPtr mpnet_template(const SpecialNames& names) {
  return roberta_processing(names.sep, names.cls, true, false);
}

PostProcessorPtr funnel_template(const SpecialNames& names) {
  return first_of_own_type(names.cls, names.sep, names.where);
}

// The question, which is filled at the side where there is no padding, ends with a token of its own and a full stop.
PostProcessorPtr splinter_template(const SpecialNames& names) {
  const auto marks = [&](std::vector<TemplatePiece>& pieces) {
    for (const SpecialToken& token : {names.assembly.special(names.question), names.assembly.special(".")})
      pieces.push_back(TemplatePiece::token(token, 0));
  };
  TemplateOptions options;
  options.single = {TemplatePiece::token(names.cls, 0), TemplatePiece::text_a(0), TemplatePiece::token(names.sep, 0)};
  options.pair = {TemplatePiece::token(names.cls, 0), TemplatePiece::text_a(0)};
  if (!names.pads_left) marks(options.pair);
  options.pair.push_back(TemplatePiece::token(names.sep, 0));
  options.pair.push_back(TemplatePiece::text_b(1));
  if (names.pads_left) marks(options.pair);
  options.pair.push_back(TemplatePiece::token(names.sep, 1));
  return template_processing(std::move(options), names.where);
}

struct WordPieceFamily {
  std::string_view class_name;
  std::vector<NamedToken> (*tokens)();
  PostProcessorPtr (*post_processor)(const SpecialNames&);
};
constexpr std::array kWordPieceFamilies = std::to_array<WordPieceFamily>({
    {"BertTokenizer", bert_tokens, bert_template},
    {"MPNetTokenizer", mpnet_tokens, mpnet_template},
    {"FunnelTokenizer", funnel_tokens, funnel_template},
    {"SplinterTokenizer", bert_tokens, splinter_template},
});

// Classes whose vocabulary has this name but that are no WordPiece, or split texts in a way of their own.
constexpr std::array<std::string_view, 9> kOtherWordPieceClasses = {
    "BertJapaneseTokenizer", "BertweetTokenizer", "EsmTokenizer",   "HerbertTokenizer",      "PhobertTokenizer",
    "ProphetNetTokenizer",   "RoFormerTokenizer", "TapasTokenizer", "XLMProphetNetTokenizer"};

const WordPieceFamily& family_of(const TokenizerConfig& config, std::string_view where) {
  const std::string& name = config.class_name();
  if (std::ranges::find(kOtherWordPieceClasses, name) != kOtherWordPieceClasses.end())
    throw make_error(ErrorCode::unsupported, where, ": the tokenizer's class is not read from a vocab.txt; ",
                     "make a tokenizer.json once in Python: ",
                     "transformers.AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER): ", name);
  const auto* found = std::ranges::find(kWordPieceFamilies, name, &WordPieceFamily::class_name);
  return found == kWordPieceFamilies.end() ? kWordPieceFamilies.front() : *found;
}

}  // namespace

std::shared_ptr<Tokenizer::Parts> load_vocab_txt(const std::filesystem::path& vocab_txt,
                                                 const base::ContainedFiles* within) {
  const std::string where = vocab_txt.string();
  const TokenizerConfig config = TokenizerConfig::read(vocab_txt.parent_path());
  const WordPieceFamily& family = family_of(config, where);
  const std::vector<NamedToken> usual = family.tokens();
  const std::vector<NamedToken> named = config.named_tokens(usual);
  const auto name = [&](std::string_view role) {
    const std::string* text = content_of(named, role);
    return text != nullptr ? *text : *content_of(usual, role);
  };
  std::vector<StatedToken> further = config.further_tokens().value_or(std::vector<StatedToken>());
  const std::string question = config.get_string("question_token", "[QUESTION]");
  if (family.class_name == "SplinterTokenizer") further.push_back(StatedToken::special(question));
  BertNormalizerOptions options;
  options.handle_chinese_chars = config.get_bool("tokenize_chinese_chars", true);
  options.lowercase = config.get_bool("do_lower_case", true);
  if (const formats::Json* strip = config.find("strip_accents"); strip != nullptr && !strip->is_null())
    options.strip_accents = config.get_bool("strip_accents", false);
  WordPieceRules rules;
  rules.unknown_token = name("unk_token");
  Assembly assembly(bert_normalizer(options), bert_pre_tokenizer(),
                    word_piece(read_vocab_txt(vocab_txt, within), std::move(rules), where),
                    config.added_tokens(named, further), word_piece_decoder("##", true), where);
  PostProcessorPtr marks = family.post_processor({.cls = assembly.special(name("cls_token")),
                                                  .sep = assembly.special(name("sep_token")),
                                                  .assembly = assembly,
                                                  .question = question,
                                                  .pads_left = config.get_string("padding_side", "right") == "left",
                                                  .where = where});
  return std::move(assembly).finish(std::move(marks));
}

}  // namespace alate::tokenizers
