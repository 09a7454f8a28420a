// The special tokens that transformers' tokenizer classes have where no file says another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/sources/tokenizer_config.h"

namespace alate::tokenizers {

/// Roles with their usual texts, as special tokens with nothing else stated.
std::vector<NamedToken> usual_tokens(std::initializer_list<std::pair<std::string_view, std::string_view>> texts);
/// The mask token of several families, which takes the white space before it.
NamedToken mask_with_space(std::string_view text, std::optional<bool> normalized = {});

/// The special tokens of classes, in the order in which transformers adds them; of RoBERTa's descendants without the
/// mask token.
std::vector<NamedToken> bert_tokens();
std::vector<NamedToken> mpnet_tokens();
std::vector<NamedToken> funnel_tokens();
std::vector<NamedToken> gpt2_tokens();
std::vector<NamedToken> deberta_tokens();
std::vector<NamedToken> roberta_tokens();

/// The tokens of mBART's languages, in its order.
std::span<const std::string_view> mbart_languages();
/// How many tokens of a numbered kind there are, such as <extra_id_7> by "extra_ids". Throws corrupt for too many.
std::size_t numbered_count(const TokenizerConfig& config, std::string_view key, std::int64_t otherwise);

/// The content of the token of a role; null if there is none.
const std::string* content_of(std::span<const NamedToken> named, std::string_view role);

/// The same, or `otherwise`.
std::string text_of_role(std::span<const NamedToken> named, std::string_view role, std::string_view otherwise);

}  // namespace alate::tokenizers
