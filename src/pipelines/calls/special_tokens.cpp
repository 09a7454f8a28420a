#include "pipelines/calls/special_tokens.h"

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/json.h"

namespace alate::pipelines {
namespace {

// An object without members where the file is absent or something else.
formats::Json read_object(const std::filesystem::path& folder, const char* file) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  if (!base::is_there(folder / file)) return formats::Json::Object{};
  formats::Json json = formats::parse_json(base::read_contained_file(folder, file, kMaxBytes), file);
  return json.is_object() ? json : formats::Json(formats::Json::Object{});
}

// The text of a token: written as it is, or as an object.
std::string token_in(std::initializer_list<const formats::Json*> files, std::string_view role) {
  for (const formats::Json* file : files) {
    const formats::Json* token = file->find(role);
    if (token != nullptr && token->is_object()) token = token->find("content");
    if (token != nullptr && token->is_string()) return token->as_string(role);
  }
  return {};
}

}  // namespace

std::shared_ptr<const TokenizerSettings> read_tokenizer_settings(const std::filesystem::path& folder) {
  const formats::Json config = read_object(folder, "tokenizer_config.json"),
                      map = read_object(folder, "special_tokens_map.json");
  const auto token = [&](std::string_view role) { return token_in({&config, &map}, role); };
  TokenizerSettings settings{.cls_token = token("cls_token"),
                             .mask_token = token("mask_token"),
                             .pad_token = token("pad_token"),
                             .unk_token = token("unk_token")};
  const formats::Json* cleans = config.find("clean_up_tokenization_spaces");
  settings.cleans_up_spaces = cleans != nullptr && cleans->is_bool() && cleans->as_bool("clean_up_tokenization_spaces");
  if (const formats::Json* side = config.find("padding_side"); side != nullptr && side->is_string())
    settings.padding_side = side->as_string("padding_side") == "left" ? Side::left : Side::right;
  return std::make_shared<const TokenizerSettings>(std::move(settings));
}

std::optional<std::int32_t> cls_token_id(const TokenizerSettings& settings, const Tokenizer& tokenizer) {
  if (!settings.cls_token.empty()) return tokenizer.token_to_id(settings.cls_token);
  const Encoding empty = tokenizer.encode("");
  if (empty.ids.empty() || empty.special_mask.front() == 0) return std::nullopt;
  return empty.ids.front();
}

std::optional<SpecialToken> mask_token(const TokenizerSettings& settings, const Tokenizer& tokenizer) {
  for (const std::string& text : {settings.mask_token, std::string("[MASK]"), std::string("<mask>")}) {
    if (text.empty()) continue;
    if (const std::optional<std::int32_t> id = tokenizer.token_to_id(text)) return SpecialToken{text, *id};
  }
  return std::nullopt;
}

Side padding_side(const TokenizerSettings& settings, const Tokenizer& tokenizer) {
  if (settings.padding_side) return *settings.padding_side;
  return tokenizer.stated_padding() ? tokenizer.stated_padding()->side : Side::right;
}

}  // namespace alate::pipelines
