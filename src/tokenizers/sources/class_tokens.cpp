#include "tokenizers/sources/class_tokens.h"

#include <algorithm>
#include <array>
#include <string>

#include "alate/error.h"

namespace alate::tokenizers {

std::vector<NamedToken> usual_tokens(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
  std::vector<NamedToken> tokens;
  for (const auto& [role, text] : texts) tokens.push_back({std::string(role), StatedToken::special(text)});
  return tokens;
}

NamedToken mask_with_space(std::string_view text, std::optional<bool> normalized) {
  StatedToken token = StatedToken::special(text);
  token.token.lstrip = true;
  token.normalized = normalized;
  return {"mask_token", std::move(token)};
}

const std::string* content_of(std::span<const NamedToken> named, std::string_view role) {
  const auto found = std::ranges::find(named, role, &NamedToken::role);
  return found == named.end() ? nullptr : &found->token.token.content;
}

std::string text_of_role(std::span<const NamedToken> named, std::string_view role, std::string_view otherwise) {
  const std::string* text = content_of(named, role);
  return text == nullptr ? std::string(otherwise) : *text;
}

std::size_t numbered_count(const TokenizerConfig& config, std::string_view key, std::int64_t otherwise) {
  constexpr std::int64_t kMost = 10'000;
  const std::int64_t count = config.get_int(key, otherwise);
  if (count < 0 || count > kMost)
    throw make_error(ErrorCode::corrupt, config.where(), ": ", key, " is ", count, "; 0 to ", kMost, " are possible");
  return static_cast<std::size_t>(count);
}

std::span<const std::string_view> mbart_languages() {
  static constexpr std::array<std::string_view, 25> kLanguages = {
      "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN",
      "hi_IN", "it_IT", "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP",
      "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN"};
  return kLanguages;
}

std::vector<NamedToken> bert_tokens() {
  return usual_tokens({{"unk_token", "[UNK]"},
                       {"sep_token", "[SEP]"},
                       {"pad_token", "[PAD]"},
                       {"cls_token", "[CLS]"},
                       {"mask_token", "[MASK]"}});
}

std::vector<NamedToken> mpnet_tokens() {
  std::vector<NamedToken> tokens = usual_tokens({{"bos_token", "<s>"},
                                                 {"eos_token", "</s>"},
                                                 {"unk_token", "[UNK]"},
                                                 {"sep_token", "</s>"},
                                                 {"pad_token", "<pad>"},
                                                 {"cls_token", "<s>"}});
  tokens.push_back(mask_with_space("<mask>", false));
  return tokens;
}

std::vector<NamedToken> funnel_tokens() {
  return usual_tokens({{"bos_token", "<s>"},
                       {"eos_token", "</s>"},
                       {"unk_token", "<unk>"},
                       {"sep_token", "<sep>"},
                       {"pad_token", "<pad>"},
                       {"cls_token", "<cls>"},
                       {"mask_token", "<mask>"}});
}

std::vector<NamedToken> gpt2_tokens() {
  return usual_tokens({{"unk_token", "<|endoftext|>"}, {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}});
}

std::vector<NamedToken> deberta_tokens() {
  return usual_tokens({{"bos_token", "[CLS]"},
                       {"eos_token", "[SEP]"},
                       {"sep_token", "[SEP]"},
                       {"cls_token", "[CLS]"},
                       {"unk_token", "[UNK]"},
                       {"pad_token", "[PAD]"},
                       {"mask_token", "[MASK]"}});
}

std::vector<NamedToken> roberta_tokens() {
  return usual_tokens({{"bos_token", "<s>"},
                       {"eos_token", "</s>"},
                       {"sep_token", "</s>"},
                       {"cls_token", "<s>"},
                       {"unk_token", "<unk>"},
                       {"pad_token", "<pad>"}});
}

}  // namespace alate::tokenizers
