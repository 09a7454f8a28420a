#include "pipelines/special_tokens.h"

#include <cstddef>

#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/json.h"

namespace alate::pipelines {
namespace {

constexpr const char* kConfigFile = "tokenizer_config.json";

// An object without members where the file is absent or something else.
formats::Json read_object(const std::filesystem::path& folder, const char* file) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  if (!base::is_there(folder / file)) return formats::Json::Object{};
  formats::Json json = formats::parse_json(base::read_contained_file(folder, file, kMaxBytes), file);
  return json.is_object() ? json : formats::Json(formats::Json::Object{});
}

}  // namespace

std::string stated_special_token(const std::filesystem::path& folder, std::string_view role) {
  for (const char* file : {kConfigFile, "special_tokens_map.json"}) {
    const formats::Json json = read_object(folder, file);
    const formats::Json* token = json.find(role);
    if (token != nullptr && token->is_object()) token = token->find("content");
    if (token != nullptr && token->is_string()) return token->as_string(role);
  }
  return {};
}

std::optional<std::int32_t> cls_token_id(const std::filesystem::path& folder, const Tokenizer& tokenizer) {
  const std::string stated = stated_special_token(folder, "cls_token");
  if (!stated.empty()) return tokenizer.token_to_id(stated);
  const Encoding empty = tokenizer.encode("");
  if (empty.ids.empty() || empty.special_mask.front() == 0) return std::nullopt;
  return empty.ids.front();
}

std::optional<SpecialToken> mask_token(const std::filesystem::path& folder, const Tokenizer& tokenizer) {
  const std::string stated = stated_special_token(folder, "mask_token");
  for (const std::string& text : {stated, std::string("[MASK]"), std::string("<mask>")}) {
    if (text.empty()) continue;
    if (const std::optional<std::int32_t> id = tokenizer.token_to_id(text)) return SpecialToken{text, *id};
  }
  return std::nullopt;
}

bool cleans_up_spaces(const std::filesystem::path& folder) {
  const formats::Json config = read_object(folder, kConfigFile);
  const formats::Json* stated = config.find("clean_up_tokenization_spaces");
  return stated != nullptr && stated->is_bool() && stated->as_bool("clean_up_tokenization_spaces");
}

Side padding_side(const std::filesystem::path& folder, const Tokenizer& tokenizer) {
  const formats::Json config = read_object(folder, kConfigFile);
  if (const formats::Json* stated = config.find("padding_side"); stated != nullptr && stated->is_string())
    return stated->as_string("padding_side") == "left" ? Side::left : Side::right;
  return tokenizer.stated_padding() ? tokenizer.stated_padding()->side : Side::right;
}

}  // namespace alate::pipelines
