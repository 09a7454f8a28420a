// The messages of a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/json.h"
#include "pipelines/generate/template_traits.h"

namespace alate::pipelines {

/// A call that an assistant's message makes.
struct MadeCall {
  std::string id;
  std::string name;
  formats::Json arguments;  // an object
};

/// A message after its checks.
struct CheckedMessage {
  std::string role;  // system, developer, user, assistant, tool
  std::string content;
  std::string name = {};                      // of the speaker, or of the tool
  std::optional<std::string> reasoning = {};  // the assistant's
  std::vector<MadeCall> calls = {};           // the assistant's
  std::string call_id = {};                   // the tool's: which call it answers
};

/// Reads OpenAI's messages, also those with `function_call` and the role `function`. Throws invalid_argument, naming
/// the field, for what is not of their form; for parts of contents other than text; for the result of a call that
/// the messages before it do not make, or of which there is a result already.
std::vector<CheckedMessage> checked_messages(const formats::Json& messages);

/// The messages as the template can write them: what it cannot is told in messages of the system and the user.
/// `tools_text` is what the system says of tools; empty: nothing. `system_tools` is not null for templates that find
/// the tools in the system's message.
formats::Json::Array template_messages(std::vector<CheckedMessage> messages, const TemplateTraits& traits,
                                       std::string tools_text, const formats::Json& system_tools);

}  // namespace alate::pipelines
