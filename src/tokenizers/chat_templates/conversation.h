// A conversation as a template sees it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/json.h"
#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

/// The value of a JSON text, without a budget: what it takes is in proportion to the text.
Value from_json(const formats::Json& json);

/// What transformers does to messages before a template sees them: keys whose value is null are left out, and reasoning
/// under one of its names gets the others. Throws invalid_argument unless it is a list of objects with at least one.
formats::Json prepared_messages(const formats::Json& messages);

/// Marks the end of a field of the last message, so that the text can be cut there after rendering.
class Continuation {
 public:
  /// Changes the messages. Throws invalid_argument if there is no such field, or the template never reads it.
  Continuation(formats::Json& messages, std::string_view field, std::string_view template_text);

  /// The text up to the mark. Throws invalid_argument if the template has not written the field.
  std::string cut(std::string rendered) const;

 private:
  std::string final_text_;
};

}  // namespace alate::tokenizers::chat_templates
