// The text of one log line without its time, for each style.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/log.h"

namespace alate::base {

/// `text` as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD; hidden characters (hidden_characters.h) are
/// escaped, so that the result is one printable line.
std::string json_quoted(std::string_view text);
/// The same without quotes, and without escapes for those that the text has.
std::string printable_line(std::string_view text);

/// `text` unquoted if that is unambiguous within key=value pairs, otherwise quoted.
std::string quoted_if_needed(std::string_view text);

/// The sentence, if there is one; else "model loaded path=a seconds=0.2". Hidden characters are escaped.
std::string terminal_payload(std::string_view event, std::span<const LogField> fields, std::string_view sentence = {});
/// level=info event="model loaded" path=a seconds=0.2
std::string logfmt_payload(LogLevel level, std::string_view event, std::span<const LogField> fields);
/// "level":"info","event":"model loaded","path":"a","seconds":"0.2" -- the members of an object, without its braces
std::string json_payload(LogLevel level, std::string_view event, std::span<const LogField> fields);

}  // namespace alate::base
