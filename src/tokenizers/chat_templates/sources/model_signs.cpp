#include "tokenizers/chat_templates/sources/model_signs.h"

#include <system_error>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/mapped_file.h"
#include "formats/gguf/gguf_file.h"
#include "formats/json.h"

namespace alate::tokenizers::chat_templates {
namespace {

namespace fs = std::filesystem;
using formats::Json;

constexpr std::size_t kMostWords = 256, kMostEndTokens = 256;

bool is_digit_or_letter(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); }

void add_words(std::string_view name, std::set<std::string, std::less<>>& words) {
  std::string word;
  for (std::size_t i = 0; i <= name.size() && words.size() < kMostWords; ++i) {
    const char c = i == name.size() ? ' ' : name[i];
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (is_digit_or_letter(small)) {
      word += small;
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  }
}

void add_id(const Json& value, std::set<std::int32_t>& ids) {
  if (!value.is_number()) return;
  const double id = value.as_double("eos_token_id");
  if (id >= 0 && id <= 0x7fffffff && ids.size() < kMostEndTokens) ids.insert(static_cast<std::int32_t>(id));
}

// One id or several.
void add_end_tokens(const Json& config, std::set<std::int32_t>& ids) {
  const Json* found = config.find("eos_token_id");
  if (found == nullptr) return;
  if (!found->is_array()) return add_id(*found, ids);
  for (const Json& id : found->as_array("eos_token_id")) add_id(id, ids);
}

// An object; empty if the file is not there or is something else.
Json read_object(const fs::path& folder, std::string_view name) {
  std::error_code error;
  if (!fs::exists(folder / name, error)) return Json::Object{};
  const base::ContainedFiles contained(folder);
  const fs::path path = folder / name;
  Json json = formats::parse_json(base::read_text_file(path, base::kMaxTextBytes, &contained), path.string());
  return json.is_object() ? json : Json(Json::Object{});
}

void read_config(const fs::path& folder, ModelSigns& signs) {
  const Json config = read_object(folder, "config.json");
  const Json* type = config.find("model_type");
  if (type != nullptr && type->is_string()) signs.architecture = type->as_string("model_type");
  const Json* name = config.find("_name_or_path");
  if (name != nullptr && name->is_string()) add_words(name->as_string("_name_or_path"), signs.words);
  const Json* classes = config.find("architectures");
  if (classes != nullptr && classes->is_array() && !classes->as_array("architectures").empty()) {
    const Json& first = classes->as_array("architectures").front();
    const std::string_view named = first.is_string() ? first.as_string("architectures") : std::string_view();
    signs.generates = named.ends_with("ForCausalLM") || named.ends_with("ForConditionalGeneration");
  }
  add_end_tokens(config, signs.end_tokens);
  add_end_tokens(read_object(folder, "generation_config.json"), signs.end_tokens);
}

void read_metadata(const fs::path& file, const base::ContainedFiles* within, ModelSigns& signs) {
  const auto gguf = formats::GgufFile::open(file, base::MappedFile::Mode::map, within);
  const auto text = [&](std::string_view key) {
    const formats::GgufValue* value = gguf->header().find(key);
    return value != nullptr && value->is_string() ? std::string(value->as_bytes(key)) : std::string();
  };
  signs.architecture = text("general.architecture");
  for (const std::string_view key : {"general.name", "general.basename", "general.finetune"})
    add_words(text(key), signs.words);
  if (const formats::GgufValue* id = gguf->header().find("tokenizer.ggml.eos_token_id")) {
    const std::uint64_t end = id->as_count("tokenizer.ggml.eos_token_id");
    if (end <= 0x7fffffff) signs.end_tokens.insert(static_cast<std::int32_t>(end));
  }
  gguf->file().require_unchanged();
}

std::optional<Tokenizer> read_tokenizer(const fs::path& folder_or_file) {
  try {
    return Tokenizer::load(folder_or_file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool ModelSigns::ends_with(std::string_view token) const {
  const auto id = tokenizer ? tokenizer->token_to_id(token) : std::nullopt;
  return id && end_tokens.contains(*id);
}

ModelSigns read_folder_signs(const fs::path& folder, const std::map<std::string, std::string>& special_tokens) {
  ModelSigns signs;
  signs.tokenizer = read_tokenizer(folder);
  if (!signs.tokenizer) return signs;
  read_config(folder, signs);
  const auto end = special_tokens.find("eos_token");
  const auto id = end == special_tokens.end() ? std::nullopt : signs.tokenizer->token_to_id(end->second);
  if (id) signs.end_tokens.insert(*id);
  return signs;
}

ModelSigns read_gguf_signs(const fs::path& file, const base::ContainedFiles* within) {
  ModelSigns signs;
  signs.tokenizer = read_tokenizer(file);
  if (signs.tokenizer) read_metadata(file, within, signs);
  return signs;
}

}  // namespace alate::tokenizers::chat_templates
