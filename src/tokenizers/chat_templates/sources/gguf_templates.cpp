// Chat templates in the metadata of a GGUF file.
#include <algorithm>
#include <array>
#include <utility>

#include "base/files/contained_files.h"
#include "formats/gguf/gguf_file.h"
#include "tokenizers/chat_templates/sources/template_files.h"

namespace alate::tokenizers::chat_templates {
namespace {

constexpr std::string_view kTemplate = "tokenizer.chat_template";

// The special tokens by the keys of their ids; "seperator" is spelled like this in the format.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTokens = {{{"bos_token_id", "bos_token"},
                                                                                   {"eos_token_id", "eos_token"},
                                                                                   {"unknown_token_id", "unk_token"},
                                                                                   {"seperator_token_id", "sep_token"},
                                                                                   {"padding_token_id", "pad_token"},
                                                                                   {"cls_token_id", "cls_token"},
                                                                                   {"mask_token_id", "mask_token"}}};

void read_special_tokens(const formats::GgufHeader& header, std::map<std::string, std::string>& tokens) {
  const formats::GgufValue* texts = header.find("tokenizer.ggml.tokens");
  if (texts == nullptr || !texts->is_array()) return;
  std::multimap<std::uint64_t, std::string_view> names;  // by id
  for (const auto& [key, name] : kTokens) {
    const std::string full = "tokenizer.ggml." + std::string(key);
    if (const formats::GgufValue* id = header.find(full)) names.emplace(id->as_count(full), name);
  }
  std::uint64_t id = 0;
  for (const formats::GgufValue& text : texts->as_array("tokenizer.ggml.tokens")) {
    if (names.empty() || id > names.rbegin()->first) break;
    const auto [first, last] = names.equal_range(id++);
    for (auto name = first; name != last; ++name) {
      tokens[std::string(name->second)] = valid_text(text.as_bytes("tokenizer.ggml.tokens"));
    }
  }
}

}  // namespace

void read_gguf_templates(const std::filesystem::path& path, const base::ContainedFiles* within, TemplateFiles& files) {
  const auto file = formats::GgufFile::open(path, base::MappedFile::Mode::map, within);
  for (const auto& [key, value] : file->header().metadata) {
    if (!key.starts_with(kTemplate) || !value.is_string()) continue;
    const std::string_view name = key.substr(kTemplate.size());
    const std::string text = valid_text(value.as_bytes(key));
    if (name.empty()) files.texts["default"] = text;
    if (name.size() > 1 && name.front() == '.') files.texts[std::string(name.substr(1))] = text;
  }
  read_special_tokens(file->header(), files.special_tokens);
  file->file().require_unchanged();
}

}  // namespace alate::tokenizers::chat_templates
