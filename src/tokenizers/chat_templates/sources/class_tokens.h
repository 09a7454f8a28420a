// The special tokens that a tokenizer's class has by itself.
#pragma once

#include <map>
#include <string>

#include "formats/json.h"

namespace alate::tokenizers::chat_templates {

/// Adds the tokens that the class named by a tokenizer_config.json gives where the file says nothing; null is
/// something.
void add_class_tokens(const formats::Json& config, std::map<std::string, std::string>& tokens);

}  // namespace alate::tokenizers::chat_templates
