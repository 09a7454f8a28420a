// Conversations to render, from arguments or lines.
#pragma once

#include <optional>
#include <string>

#include "alate/chat_template.h"
#include "apps/alate/texts/text_source.h"

namespace alate::app {

/// Prepares the input of `next_chat`: each argument or line is a JSON object as of ChatTemplate::render_request.
TextInput input_of_chats(TextInput input);

/// The next conversation as text; nothing at the end. Empty lines are skipped. Throws RefusedText with the line's
/// number for a line that is no conversation, or one that the template refuses.
std::optional<std::string> next_chat(TextSource& source, const ChatTemplate& chat);

}  // namespace alate::app
