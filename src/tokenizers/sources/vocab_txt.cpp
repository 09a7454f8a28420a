#include "tokenizers/sources/vocab_txt.h"

#include <algorithm>
#include <string>
#include <utility>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "tokenizers/models/word_piece.h"
#include "tokenizers/sources/assembly.h"
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

}  // namespace

std::shared_ptr<const Tokenizer::Parts> load_vocab_txt(const std::filesystem::path& vocab_txt,
                                                       const base::ContainedFiles* within) {
  const std::string where = vocab_txt.string();
  const TokenizerConfig config = TokenizerConfig::read(vocab_txt.parent_path());
  const std::vector<NamedToken> usual = usual_tokens({{"unk_token", "[UNK]"},
                                                      {"sep_token", "[SEP]"},
                                                      {"pad_token", "[PAD]"},
                                                      {"cls_token", "[CLS]"},
                                                      {"mask_token", "[MASK]"}});
  const std::vector<NamedToken> named = config.named_tokens(usual);
  const auto name = [&](std::string_view role) {
    const std::string* text = content_of(named, role);
    return text != nullptr ? *text : *content_of(usual, role);
  };
  BertNormalizerOptions options;
  options.handle_chinese_chars = config.get_bool("tokenize_chinese_chars", true);
  options.lowercase = config.get_bool("do_lower_case", true);
  if (const formats::Json* strip = config.find("strip_accents"); strip != nullptr && !strip->is_null())
    options.strip_accents = config.get_bool("strip_accents", false);
  WordPieceRules rules;
  rules.unknown_token = name("unk_token");
  Assembly assembly(bert_normalizer(options), bert_pre_tokenizer(),
                    word_piece(read_vocab_txt(vocab_txt, within), std::move(rules), where),
                    config.added_tokens(named, config.further_tokens().value_or(std::vector<StatedToken>())),
                    word_piece_decoder("##", true), where);
  const SpecialToken sep = assembly.special(name("sep_token"));
  PostProcessorPtr bert = surrounding_template(
      {.before = {assembly.special(name("cls_token"))}, .middle = {sep}, .after = {sep}, .types_of_pair = true}, where);
  return std::move(assembly).finish(std::move(bert));
}

}  // namespace alate::tokenizers
