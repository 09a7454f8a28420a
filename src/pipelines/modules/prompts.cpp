#include "pipelines/modules/prompts.h"

#include "alate/error.h"

namespace alate::pipelines {

const std::string& Prompts::prompt_named(const std::string& name) const {
  static const std::string none;
  const std::string& wanted = name.empty() ? default_prompt : name;
  if (wanted.empty()) return none;
  const auto found = prompts.find(wanted);
  if (found != prompts.end()) return found->second;
  std::string known;
  for (const auto& [other, text] : prompts) known += (known.empty() ? "" : ", ") + other;
  throw make_error(ErrorCode::invalid_argument, "the model has no prompt '", wanted, "': it has ",
                   known.empty() ? "none" : known);
}

Prompts read_prompts(const formats::Json& config) {
  Prompts read;
  if (const formats::Json* given = config.find("prompts"); given != nullptr && given->is_object()) {
    for (const auto& [name, prompt] : given->as_object("prompts"))
      read.prompts.emplace(name, prompt.is_null() ? std::string() : prompt.as_string("prompts"));
  }
  read.default_prompt = config.get_string("default_prompt_name", "");
  if (!read.default_prompt.empty() && !read.prompts.contains(read.default_prompt))
    throw make_error(ErrorCode::corrupt, "config_sentence_transformers.json names the default prompt '",
                     read.default_prompt, "' but has no such prompt");
  return read;
}

}  // namespace alate::pipelines
