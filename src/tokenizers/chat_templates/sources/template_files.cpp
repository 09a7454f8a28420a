#include <algorithm>
#include <array>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/mapped_file.h"
#include "base/log.h"
#include "formats/json.h"
#include "tokenizers/chat_templates/sources/class_tokens.h"
#include "tokenizers/chat_templates/sources/known_families.h"
#include "tokenizers/chat_templates/sources/model_signs.h"
#include "tokenizers/chat_templates/sources/template_files.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

namespace fs = std::filesystem;
using formats::Json;

// A token as text, or as an object with its text; null for other values.
const std::string* token_text(const Json& value) {
  const Json* content = value.is_object() ? value.find("content") : &value;
  return content != nullptr && content->is_string() ? &content->as_string("content") : nullptr;
}

// Tokens that have a name: the usual ones, and those of the model itself.
void read_special_tokens(const Json& config, std::map<std::string, std::string>& tokens) {
  if (!config.is_object()) return;
  for (const auto& [name, value] : config.as_object("tokenizer_config.json")) {
    const std::string* text = token_text(value);
    if (text != nullptr && name.ends_with("_token")) tokens[name] = *text;
  }
  for (const std::string_view named : {"extra_special_tokens", "model_specific_special_tokens"}) {
    const Json* more = config.find(named);
    if (more == nullptr || !more->is_object()) continue;
    for (const auto& [name, value] : more->as_object(named)) {
      if (const std::string* text = token_text(value)) tokens[name] = *text;
    }
  }
}

// A template, or a list of {"name", "template"}.
void read_templates(const Json& value, std::string_view where, std::map<std::string, std::string>& texts) {
  if (value.is_string()) {
    texts["default"] = value.as_string(where);
    return;
  }
  const auto refuse = [&] {
    throw make_error(ErrorCode::corrupt, where,
                     ": chat_template must be text or a list of objects with name and template");
  };
  if (value.is_object()) {
    for (const auto& [name, text] : value.as_object(where)) {
      if (!text.is_string()) refuse();
      texts[name] = text.as_string(where);
    }
    return;
  }
  if (!value.is_array()) refuse();
  for (const Json& item : value.as_array(where)) {
    const Json *name = item.find("name"), *text = item.find("template");
    if (name == nullptr || text == nullptr || !name->is_string() || !text->is_string()) refuse();
    texts[name->as_string(where)] = text->as_string(where);
  }
}

// Reads files of one folder, whose links may not lead outside of it.
class Folder {
 public:
  explicit Folder(const fs::path& path) : path_(path), contained_(path.empty() ? fs::path(".") : path) {}

  bool has(std::string_view name) const {
    std::error_code error;
    return fs::exists(path_ / name, error);
  }
  std::string text(const fs::path& path) const { return base::read_text_file(path, base::kMaxTextBytes, &contained_); }
  Json json(const fs::path& path) const { return formats::parse_json(text(path), path.string()); }
  fs::path operator/(std::string_view name) const { return path_ / name; }
  const base::ContainedFiles* contained() const { return &contained_; }
  /// The only *.gguf of the folder; empty if there is none, or several.
  fs::path gguf() const {
    std::error_code error;
    fs::path found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
      if (entry.path().extension() != ".gguf") continue;
      if (!found.empty()) return {};
      found = entry.path();
    }
    return found;
  }

 private:
  fs::path path_;
  base::ContainedFiles contained_;
};

void read_folder_of_templates(const Folder& folder, std::map<std::string, std::string>& texts) {
  const fs::path inner = folder / "additional_chat_templates";
  std::error_code error;
  if (!fs::is_directory(inner, error)) return;
  constexpr std::size_t kMaxFiles = 100;
  for (const fs::directory_entry& entry : fs::directory_iterator(inner)) {
    if (entry.path().extension() != ".jinja") continue;
    if (texts.size() >= kMaxFiles) throw make_error(ErrorCode::corrupt, inner.string(), " has more than 100 templates");
    texts[entry.path().stem().string()] = folder.text(entry.path());
  }
}

// The templates of a folder, from the first of its files that has some.
void read_folder(const Folder& folder, const Json& config, std::map<std::string, std::string>& texts) {
  if (folder.has("chat_template.jinja")) texts["default"] = folder.text(folder / "chat_template.jinja");
  read_folder_of_templates(folder, texts);
  const Json* text = config.find("chat_template");
  if (texts.empty() && text != nullptr && !text->is_null()) {
    read_templates(*text, (folder / "tokenizer_config.json").string(), texts);
  }
  if (!texts.empty() || !folder.has("chat_template.json")) return;
  const fs::path path = folder / "chat_template.json";
  const Json json = folder.json(path);
  if (const Json* legacy = json.find("chat_template")) read_templates(*legacy, path.string(), texts);
}

// Only a model that has no config.json is its GGUF file.
ModelSigns signs_of(const Folder& folder, const fs::path& path, const TemplateFiles& files) {
  const fs::path gguf = folder.gguf();
  if (gguf.empty() || folder.has("config.json")) return read_folder_signs(path, files.special_tokens);
  return read_gguf_signs(gguf, folder.contained());
}

// Whether the files name the special tokens that a template writes.
bool has_tokens_of(const KnownFamily& family, const TemplateFiles& files) {
  return std::ranges::all_of(std::array<std::string_view, 2>{"bos_token", "eos_token"}, [&](std::string_view name) {
    return family.turns.find(name) == std::string_view::npos || files.special_tokens.contains(std::string(name));
  });
}

// The template of the family that the other files show.
void add_known_template(const ModelSigns& signs, const fs::path& path, TemplateFiles& files) {
  const KnownFamily* family = find_family(signs);
  if (family == nullptr || !has_tokens_of(*family, files)) return;
  files.texts["default"] = template_of(*family);
  files.what = path.string() + ": chat template of the family " + std::string(family->name);
  base::log(base::LogLevel::info, "no chat template; that of the family is used",
            {{"model", path.string()}, {"family", std::string(family->name)}});
}

}  // namespace

Template make_template(std::string_view text, std::string_view what) {
  return {valid_text(text), parse_template(text, what)};
}

std::string valid_text(std::string_view text) { return repair_utf8(text).value_or(std::string(text)); }

TemplateFiles read_template_files(const fs::path& folder_or_file) {
  std::error_code error;
  const bool is_folder = fs::is_directory(folder_or_file, error);
  if (!is_folder && !fs::exists(folder_or_file, error)) {
    throw make_error(ErrorCode::not_found, folder_or_file.string(), " does not exist");
  }
  const Folder folder(is_folder ? folder_or_file : folder_or_file.parent_path());
  TemplateFiles files;
  files.what = folder_or_file.string() + ": chat template";

  Json config;
  if (folder.has("tokenizer_config.json")) config = folder.json(folder / "tokenizer_config.json");
  if (folder.has("special_tokens_map.json")) {
    read_special_tokens(folder.json(folder / "special_tokens_map.json"), files.special_tokens);
  }
  read_special_tokens(config, files.special_tokens);
  add_class_tokens(config, files.special_tokens);

  if (is_folder) {
    read_folder(folder, config, files.texts);
    if (const fs::path gguf = folder.gguf(); files.texts.empty() && !gguf.empty()) {
      read_gguf_templates(gguf, folder.contained(), files);
    }
    if (files.texts.empty()) add_known_template(signs_of(folder, folder_or_file, files), folder_or_file, files);
  } else if (folder_or_file.extension() == ".gguf") {
    read_gguf_templates(folder_or_file, nullptr, files);
    if (files.texts.empty()) add_known_template(read_gguf_signs(folder_or_file, nullptr), folder_or_file, files);
  } else if (folder_or_file.extension() == ".json") {
    const Json json = folder.json(folder_or_file);
    if (const Json* text = json.find("chat_template")) read_templates(*text, folder_or_file.string(), files.texts);
  } else {
    files.texts["default"] = folder.text(folder_or_file);
  }
  if (files.texts.empty()) {
    throw make_error(
        ErrorCode::not_found, folder_or_file.string(),
        " has no chat template: none in chat_template.jinja, tokenizer_config.json, chat_template.json or a GGUF "
        "file, and its other files show no family whose template is known (docs/tokenizers.md). Base models have none; "
        "give one as chat_template");
  }
  return files;
}

}  // namespace alate::tokenizers::chat_templates
