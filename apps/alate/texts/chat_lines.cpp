#include "apps/alate/texts/chat_lines.h"

#include <string_view>
#include <utility>

#include "tokenizers/unicode/utf8.h"

namespace alate::app {
namespace {

// For the caller, a line that is not JSON is bad input, not a damaged file.
Error as_bad_input(const Error& error) {
  return error.code() == ErrorCode::corrupt ? Error(ErrorCode::invalid_argument, error.message()) : error;
}

}  // namespace

TextInput input_of_chats(TextInput input) {
  input.format = "text";  // lines as they are written: numbers keep their form
  return input;
}

std::optional<std::string> next_chat(TextSource& source, const ChatTemplate& chat) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  while (auto line = source.next()) {
    if (auto repaired = tokenizers::repair_utf8(line->text)) line->text = std::move(*repaired);
    std::string_view text = line->text;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      return chat.render_request(text).text;
    } catch (const Error& error) {
      throw RefusedText(as_bad_input(error).with_context(source.place()));
    }
  }
  return std::nullopt;
}

}  // namespace alate::app
