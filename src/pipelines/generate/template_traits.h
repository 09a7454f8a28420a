// What a chat template can write, as far as it matters for tools.
#pragma once

#include <cstdint>
#include <utility>

#include "alate/chat_template.h"
#include "pipelines/generate/call_format.h"
#include "pipelines/generate/known_grammars.h"

namespace alate::pipelines {

/// The facts are found by rendering short conversations: a template is a program, and its text says little.
struct TemplateTraits {
  enum class ToolsBy : std::uint8_t {
    none,            // the system's message must describe the tools
    variable,        // `tools`
    xml_variable,    // `xml_tools`, as SmolLM3
    system_message,  // a member `tools` of the system's message, as JSON text, as Phi-4-mini
  };

  ToolsBy tools_by = ToolsBy::none;
  const CallFormat* calls = &general_call_format();  // how the model calls tools
  bool writes_calls = false;                         // tool_calls of messages; otherwise they are part of the content
  bool writes_results = false;                       // messages of the role `tool`
  bool several_calls = false;                        // in one message
  bool arguments_are_text = false;                   // of calls, instead of an object
  bool needs_content = false;                        // also of a message with calls
  bool short_ids = false;                            // ids of calls are nine letters and digits, as Mistral's
  bool has_system = false;                           // messages of the role `system`
  bool has_developer = false;
  bool needs_parts = false;  // contents are lists of parts
};

/// Never throws an error of the template: what it refuses, it cannot write.
TemplateTraits traits_of(const ChatTemplate& chat_template);

/// A model's template with its traits, and what has been made for its requests.
struct ChatDialect {
  explicit ChatDialect(ChatTemplate of) : chat_template(std::move(of)), traits(traits_of(chat_template)) {}

  ChatTemplate chat_template;
  TemplateTraits traits;
  KnownGrammars grammars = {};
};

}  // namespace alate::pipelines
