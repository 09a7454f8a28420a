#include "tokenizers/sources/gguf_vocabulary.h"

#include <cmath>
#include <unordered_set>

#include "alate/error.h"
#include "formats/utf8.h"

namespace alate::tokenizers {
namespace {

using formats::GgufArray;
using formats::GgufHeader;
using formats::GgufType;
using formats::GgufValue;

constexpr std::size_t kMaxGgufTokens = std::size_t{1} << 24;

class EntryReader {
 public:
  explicit EntryReader(const GgufHeader& header) : header_(header) {}

  std::string text(const std::string& key) const {
    const GgufValue* value = header_.find(key);
    return value == nullptr ? std::string() : std::string(value->as_text(key));
  }

  std::optional<bool> flag(const std::string& key) const {
    const GgufValue* value = header_.find(key);
    return value == nullptr ? std::nullopt : std::optional(value->as_bool(key));
  }

  // An id that is not one of a token counts as absent, as in llama.cpp.
  std::optional<std::uint32_t> id(const std::string& key, std::size_t tokens) const {
    const GgufValue* value = header_.find(key);
    if (value == nullptr) return std::nullopt;
    const std::int64_t id = value->as_int(key);
    return id < 0 || static_cast<std::uint64_t>(id) >= tokens ? std::nullopt
                                                              : std::optional(static_cast<std::uint32_t>(id));
  }

  std::optional<GgufArray> array(const std::string& key) const {
    const GgufValue* value = header_.find(key);
    return value == nullptr ? std::nullopt : std::optional(value->as_array(key));
  }

  std::vector<std::string_view> strings(const std::string& key) const {
    const auto list = array(key);
    if (!list) throw make_error(ErrorCode::corrupt, key, " is missing");
    if (list->element_type() != GgufType::string) throw make_error(ErrorCode::corrupt, key, " must be texts");
    if (list->size() > kMaxGgufTokens)
      throw make_error(ErrorCode::resource_exhausted, key, " has ", list->size(), " texts; ", kMaxGgufTokens,
                       " are allowed");
    std::vector<std::string_view> texts;
    texts.reserve(list->size());
    for (const GgufValue value : *list) texts.push_back(value.as_text(key));
    return texts;
  }

  // The numbers of a list as long as the tokens', at least; empty if there is none.
  template <typename Number, typename Convert>
  std::vector<Number> numbers(const std::string& key, std::size_t tokens, Convert convert) const {
    const auto list = array(key);
    if (!list || list->size() == 0) return {};
    if (list->size() < tokens)
      throw make_error(ErrorCode::corrupt, key, " has ", list->size(), " entries for ", tokens, " tokens");
    if (list->element_type() == GgufType::string || list->element_type() == GgufType::array)
      throw make_error(ErrorCode::corrupt, key, " must be numbers");
    std::vector<Number> numbers;
    numbers.reserve(tokens);
    for (std::size_t i = 0; i < tokens; ++i) numbers.push_back(convert(list->at(i)));
    return numbers;
  }

 private:
  const GgufHeader& header_;
};

GgufVocabulary::TokenType token_type_of(const GgufValue& value) {
  const std::int64_t type = value.as_int("tokenizer.ggml.token_type");
  return type < 1 || type > 6 ? GgufVocabulary::TokenType::undefined : static_cast<GgufVocabulary::TokenType>(type);
}

float score_of(const GgufValue& value) {
  const auto number = static_cast<float>(value.as_double("tokenizer.ggml.scores"));
  if (!std::isfinite(number)) throw Error(ErrorCode::corrupt, "tokenizer.ggml.scores has a score that is no number");
  return number;
}

// A space between two tokens, of which the first may begin with one.
std::pair<std::string, std::string> parse_merge(std::string_view text) {
  const std::size_t space = text.find(' ', 1);
  if (space == std::string_view::npos || space + 1 == text.size())
    throw Error(ErrorCode::corrupt, "tokenizer.ggml.merges has a merge that is no pair of tokens");
  return {std::string(text.substr(0, space)), std::string(text.substr(space + 1))};
}

std::string charsmap_of(const std::optional<GgufArray>& list) {
  if (!list) return {};
  if (list->element_type() != GgufType::u8 && list->element_type() != GgufType::i8)
    throw Error(ErrorCode::corrupt, "tokenizer.ggml.precompiled_charsmap must be bytes");
  const std::span<const std::byte> bytes = list->bytes().first(list->size());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::optional<std::uint32_t> GgufVocabulary::or_default(std::optional<std::uint32_t> id,
                                                        std::uint32_t otherwise) const {
  if (id) return id;
  return otherwise < tokens.size() ? std::optional(otherwise) : std::nullopt;
}

GgufVocabulary read_gguf_vocabulary(const GgufHeader& header) {
  const EntryReader reader(header);
  GgufVocabulary vocabulary;
  const auto key = [](std::string_view name) { return "tokenizer.ggml." + std::string(name); };
  vocabulary.model = reader.text(key("model"));
  if (vocabulary.model.empty() || vocabulary.model == "none" || vocabulary.model == "no_vocab")
    throw Error(ErrorCode::not_found, "it has no tokenizer; use the file of the model that it belongs to");
  vocabulary.architecture = reader.text("general.architecture");
  vocabulary.pre = reader.text(key("pre"));
  vocabulary.tokens = reader.strings(key("tokens"));
  const std::size_t count = vocabulary.tokens.size();
  if (count == 0) throw Error(ErrorCode::corrupt, "tokenizer.ggml.tokens is empty");
  vocabulary.scores = reader.numbers<float>(key("scores"), count, score_of);
  vocabulary.types = reader.numbers<GgufVocabulary::TokenType>(key("token_type"), count, token_type_of);
  if (reader.array(key("merges"))) {
    vocabulary.has_merges = true;
    const std::vector<std::string_view> texts = reader.strings(key("merges"));
    vocabulary.merges.reserve(texts.size());
    for (const std::string_view text : texts) vocabulary.merges.push_back(parse_merge(text));
  }
  vocabulary.charsmap = charsmap_of(reader.array(key("precompiled_charsmap")));
  vocabulary.bos = reader.id(key("bos_token_id"), count);
  vocabulary.eos = reader.id(key("eos_token_id"), count);
  vocabulary.unk = reader.id(key("unknown_token_id"), count);
  vocabulary.sep = reader.id(key("seperator_token_id"), count);  // spelled like this in the format
  vocabulary.pad = reader.id(key("padding_token_id"), count);
  vocabulary.cls = reader.id(key("cls_token_id"), count);
  vocabulary.mask = reader.id(key("mask_token_id"), count);
  vocabulary.add_bos = reader.flag(key("add_bos_token"));
  vocabulary.add_eos = reader.flag(key("add_eos_token"));
  vocabulary.add_sep = reader.flag(key("add_sep_token"));
  vocabulary.add_space_prefix = reader.flag(key("add_space_prefix"));
  vocabulary.remove_extra_whitespaces = reader.flag(key("remove_extra_whitespaces"));
  vocabulary.lowercase = reader.flag(key("normalizer.lowercase"));
  vocabulary.strip_accents = reader.flag(key("normalizer.strip_accents"));
  return vocabulary;
}

std::vector<AddedToken> added_tokens_of(const GgufVocabulary& vocabulary) {
  std::unordered_set<std::uint32_t> roles;
  for (const auto& id : {vocabulary.bos, vocabulary.eos, vocabulary.unk, vocabulary.sep, vocabulary.pad, vocabulary.cls,
                         vocabulary.mask}) {
    if (id) roles.insert(*id);
  }
  std::vector<AddedToken> added;
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const GgufVocabulary::TokenType type = vocabulary.type(i);
    const bool is_special = type == GgufVocabulary::TokenType::control || roles.contains(static_cast<std::uint32_t>(i));
    if (!is_special && type != GgufVocabulary::TokenType::user_defined) continue;
    AddedToken token;
    token.content = vocabulary.tokens[i];
    token.special = is_special;
    token.normalized = false;
    added.push_back(std::move(token));
  }
  return added;
}

}  // namespace alate::tokenizers
