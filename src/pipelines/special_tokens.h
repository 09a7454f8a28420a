// The special tokens of a model's folder by their roles: "cls_token", "mask_token", "unk_token".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "alate/tokenizer.h"

namespace alate::pipelines {

/// The text of the token: that of tokenizer_config.json, else of special_tokens_map.json. Empty where neither has one.
/// Throws corrupt for files that cannot be read.
std::string stated_special_token(const std::filesystem::path& folder, std::string_view role);

/// The id of the token with which the tokenizer begins texts ([CLS]); nothing where there is none.
std::optional<std::int32_t> cls_token_id(const std::filesystem::path& folder, const Tokenizer& tokenizer);

struct SpecialToken {
  std::string text;
  std::int32_t id = 0;
};
/// The token in the places that a masked language model fills ([MASK]); nothing where there is none.
std::optional<SpecialToken> mask_token(const std::filesystem::path& folder, const Tokenizer& tokenizer);

/// Whether decoded texts have no spaces before punctuation, as tokenizer_config.json says.
bool cleans_up_spaces(const std::filesystem::path& folder);

/// The side that the folder's tokenizer pads, as its files state it, else the right one.
Side padding_side(const std::filesystem::path& folder, const Tokenizer& tokenizer);

}  // namespace alate::pipelines
