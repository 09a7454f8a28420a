// What the files of a model say about the conversations that it was trained on, besides a template.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "alate/tokenizer.h"

namespace alate::base {
class ContainedFiles;
}

namespace alate::tokenizers::chat_templates {

struct ModelSigns {
  std::string architecture;                  // model_type of config.json, or general.architecture of a GGUF file
  bool generates = true;                     // as far as config.json names a class
  std::set<std::string, std::less<>> words;  // of the names that the files give the model, in small letters
  std::set<std::int32_t> end_tokens;         // that end what the model generates
  std::optional<Tokenizer> tokenizer;

  bool has_token(std::string_view token) const { return tokenizer && tokenizer->token_to_id(token).has_value(); }
  bool ends_with(std::string_view token) const;
};

/// Reads config.json, generation_config.json and the tokenizer of a folder; `special_tokens` are those of its
/// tokenizer_config.json. Nothing is read of a folder whose tokenizer cannot be.
ModelSigns read_folder_signs(const std::filesystem::path& folder,
                             const std::map<std::string, std::string>& special_tokens);
/// The same of a GGUF file. `within` is as in GgufFile::open.
ModelSigns read_gguf_signs(const std::filesystem::path& file, const base::ContainedFiles* within);

}  // namespace alate::tokenizers::chat_templates
