// The templates of a model, and the files that they come from.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "tokenizers/chat_templates/syntax/syntax.h"

namespace alate::base {
class ContainedFiles;
}

namespace alate::tokenizers::chat_templates {

struct Template {
  std::string text;
  Syntax syntax;
};

struct Templates {
  std::map<std::string, Template, std::less<>> texts;  // by name
};

/// Throws as parse_template.
Template make_template(std::string_view text, std::string_view what);

struct TemplateFiles {
  std::map<std::string, std::string> texts;           // by name
  std::map<std::string, std::string> special_tokens;  // by name
  std::string what;                                   // for errors
};

/// See ChatTemplate::load.
TemplateFiles read_template_files(const std::filesystem::path& folder_or_file);

/// Adds the templates and special tokens of a GGUF file's metadata. `within` is as in GgufFile::open.
void read_gguf_templates(const std::filesystem::path& path, const base::ContainedFiles* within, TemplateFiles& files);

/// The text, invalid UTF-8 replaced by U+FFFD.
std::string valid_text(std::string_view text);

}  // namespace alate::tokenizers::chat_templates
