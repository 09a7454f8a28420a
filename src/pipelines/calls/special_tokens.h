// What the files beside a tokenizer say of it, and its special tokens by their roles.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "alate/tokenizer.h"

namespace alate::pipelines {

/// tokenizer_config.json, and for tokens that it does not name special_tokens_map.json. Empty texts where neither says.
struct TokenizerSettings {
  std::string cls_token = {}, mask_token = {}, pad_token = {}, unk_token = {};
  bool cleans_up_spaces = false;  // decoded texts have no spaces before punctuation
  std::optional<Side> padding_side = {};
};

/// Read once for a loaded model, since the files may be large. Throws corrupt for files that cannot be read.
std::shared_ptr<const TokenizerSettings> read_tokenizer_settings(const std::filesystem::path& folder);

/// The id of the token with which the tokenizer begins texts ([CLS]); nothing where there is none.
std::optional<std::int32_t> cls_token_id(const TokenizerSettings& settings, const Tokenizer& tokenizer);

struct SpecialToken {
  std::string text;
  std::int32_t id = 0;
};
/// The token in the places that a masked language model fills ([MASK]); nothing where there is none.
std::optional<SpecialToken> mask_token(const TokenizerSettings& settings, const Tokenizer& tokenizer);

/// The side that the tokenizer pads, as the files state it, else the right one.
Side padding_side(const TokenizerSettings& settings, const Tokenizer& tokenizer);

}  // namespace alate::pipelines
