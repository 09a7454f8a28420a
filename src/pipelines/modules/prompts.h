// The prompts of a sentence-transformers folder: texts that come before the inputs, by name.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "formats/json.h"

namespace alate::pipelines {

struct Prompts {
  std::map<std::string, std::string, std::less<>> prompts;
  std::string default_prompt;  // a name in prompts, or empty

  /// The prompt of this name; of an empty name the default one, which may be none. Throws invalid_argument for an
  /// unknown name.
  const std::string& prompt_named(const std::string& name) const;
};

/// Those of a config_sentence_transformers.json. Throws corrupt for a default that is not there.
Prompts read_prompts(const formats::Json& config);

}  // namespace alate::pipelines
