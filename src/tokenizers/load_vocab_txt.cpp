#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "tokenizers/models/word_piece.h"
#include "tokenizers/parts.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

// The order in which transformers adds the named special tokens, and BertTokenizer's own names for them.
constexpr std::pair<std::string_view, std::string_view> kNamedTokens[] = {
    {"bos_token", ""},      {"eos_token", ""},      {"unk_token", "[UNK]"},   {"sep_token", "[SEP]"},
    {"pad_token", "[PAD]"}, {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"},
};

Json read_json_beside(const std::filesystem::path& vocab_txt, std::string_view name) {
  const std::filesystem::path path = vocab_txt.parent_path() / name;
  if (!base::is_there(path)) return {};
  Json file = formats::parse_json(base::read_contained_file(vocab_txt.parent_path(), name), path.string());
  if (!file.is_object()) throw make_error(ErrorCode::corrupt, path.string(), " must be a JSON object");
  return file;
}

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
Vocabulary read_vocabulary(const std::filesystem::path& vocab_txt, const base::ContainedFiles* within) {
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

// Reads a token of tokenizer_config.json or special_tokens_map.json: its text, or an object with its properties.
AddedToken read_token(const Json& value, bool special, std::string_view where) {
  AddedToken token;
  token.special = special;
  token.normalized = !special;
  if (value.is_string()) {
    token.content = as_string(value, where);
    return token;
  }
  token.content = string_member(value, "content", where);
  token.special = special || value.get_bool("special", false);
  token.single_word = value.get_bool("single_word", false);
  token.lstrip = value.get_bool("lstrip", false);
  token.rstrip = value.get_bool("rstrip", false);
  token.normalized = value.get_bool("normalized", !token.special);
  return token;
}

// Added and special tokens from the files beside a vocab.txt, as in transformers'
// PreTrainedTokenizerBase._from_pretrained: added_tokens_decoder if it exists, otherwise the two older files.
class StatedTokens {
 public:
  StatedTokens(const Json& config, const std::filesystem::path& vocab_txt) : where_(vocab_txt.parent_path().string()) {
    const Json* decoder = config.find("added_tokens_decoder");
    const Json special_map = decoder == nullptr ? read_json_beside(vocab_txt, "special_tokens_map.json") : Json();
    for (const auto& [key, usual] : kNamedTokens) {
      if (!usual.empty()) named_[std::string(key)] = read_token(Json(usual), true, where_);
      read_named(config, key);
      read_named(special_map, key);
    }
    read_extra(config);
    read_extra(special_map);
    if (decoder != nullptr) {
      if (!decoder->is_object())
        throw make_error(ErrorCode::corrupt, where_, ": added_tokens_decoder must be an object");
      for (const auto& [id, token] : decoder->as_object(where_))
        numbered_[number(id)] = read_token(token, false, where_);
    } else {
      read_added_tokens_json(read_json_beside(vocab_txt, "added_tokens.json"));
    }
  }

  const std::string& name(std::string_view key) const { return named_.at(std::string(key)).content; }

  std::vector<AddedToken> in_order() const {
    std::vector<AddedToken> tokens;
    const auto is_named = [&](const std::string& content) {
      return std::any_of(named_.begin(), named_.end(),
                         [&](const auto& named) { return named.second.content == content; });
    };
    const auto add = [&](const AddedToken& token) {
      if (std::none_of(tokens.begin(), tokens.end(), [&](const AddedToken& t) { return t.content == token.content; }))
        tokens.push_back(token);
    };
    for (const auto& [id, token] : numbered_) {
      tokens.push_back(token);
      tokens.back().special = token.special || is_named(token.content);
    }
    for (const auto& [key, usual] : kNamedTokens) {
      if (const auto found = named_.find(std::string(key)); found != named_.end()) add(found->second);
    }
    for (const AddedToken& token : extra_) add(token);
    return tokens;
  }

 private:
  void read_named(const Json& file, std::string_view key) {
    const Json* value = file.find(key);
    if (value != nullptr && !value->is_null()) named_[std::string(key)] = read_token(*value, true, where_);
  }

  void read_extra(const Json& file) {
    for (const std::string_view key : {"additional_special_tokens", "extra_special_tokens"}) {
      const Json* list = file.find(key);
      if (list == nullptr || !list->is_array()) continue;
      for (const Json& token : list->as_array(key)) extra_.push_back(read_token(token, true, where_));
    }
  }

  void read_added_tokens_json(const Json& file) {
    if (file.is_null()) return;
    for (const auto& [content, id] : file.as_object(where_)) {
      const bool special =
          std::any_of(named_.begin(), named_.end(),
                      [&](const auto& named) { return named.second.content == content; }) ||
          std::any_of(extra_.begin(), extra_.end(), [&](const AddedToken& token) { return token.content == content; });
      numbered_[as_count(id, where_)] = read_token(Json(content), special, where_);
    }
  }

  std::int32_t number(const std::string& text) const {
    std::int32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size() || id < 0)
      throw make_error(ErrorCode::corrupt, where_, ": added_tokens_decoder has a key that is no id");
    return id;
  }

  std::string where_;
  std::map<std::string, AddedToken> named_;
  std::vector<AddedToken> extra_;
  std::map<std::int32_t, AddedToken> numbered_;
};

TemplateOptions bert_template(const SpecialToken& cls, const SpecialToken& sep) {
  using Piece = TemplatePiece;
  return {{Piece::token(cls, 0), Piece::text_a(0), Piece::token(sep, 0)},
          {Piece::token(cls, 0), Piece::text_a(0), Piece::token(sep, 0), Piece::text_b(1), Piece::token(sep, 1)}};
}

}  // namespace

std::shared_ptr<const Tokenizer::Parts> load_vocab_txt(const std::filesystem::path& vocab_txt,
                                                       const base::ContainedFiles* within) {
  const std::string where = vocab_txt.string();
  const Json config = read_json_beside(vocab_txt, "tokenizer_config.json");
  const StatedTokens stated(config, vocab_txt);
  const Json* strip_accents = config.find("strip_accents");
  BertNormalizerOptions cleaning;
  cleaning.handle_chinese_chars = config.get_bool("tokenize_chinese_chars", true);
  if (strip_accents != nullptr && !strip_accents->is_null())
    cleaning.strip_accents = bool_member(config, "strip_accents", where);
  cleaning.lowercase = config.get_bool("do_lower_case", true);
  NormalizerPtr normalizer = bert_normalizer(cleaning);
  WordPieceRules rules;
  rules.unknown_token = stated.name("unk_token");
  ModelPtr model = word_piece(read_vocabulary(vocab_txt, within), std::move(rules), where);
  AddedVocabulary added(stated.in_order(), *model, normalizer.get());
  const std::string& cls = stated.name("cls_token");
  const std::string& sep = stated.name("sep_token");
  const auto id_of = [&](const std::string& token) {
    const auto id = added.token_to_id(token);
    if (!id.has_value()) throw make_error(ErrorCode::corrupt, where, ": a special token has no text");
    return *id;
  };
  PostProcessorPtr processor = template_processing(bert_template({cls, id_of(cls)}, {sep, id_of(sep)}), where);
  return std::make_shared<const Tokenizer::Parts>(Tokenizer::Parts{
      .normalizer = std::move(normalizer),
      .pre_tokenizer = bert_pre_tokenizer(),
      .model = std::move(model),
      .added = std::move(added),
      .post_processor = std::move(processor),
      .decoder = word_piece_decoder("##", true),
      .stated_max_length = {},
      .stated_side = Side::right,
  });
}

}  // namespace alate::tokenizers
