#include "error_text.h"

#include <algorithm>

#include "base/files/descriptor_io.h"
#include "base/log.h"
#include "base/log_format.h"

namespace alate::app {
namespace {

// Messages say by themselves that something is not found, too large or wrongly used.
std::string_view words_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::unsupported: return "not supported: ";
    case ErrorCode::unavailable: return "not available: ";
    case ErrorCode::deadline_exceeded: return "out of time: ";
    case ErrorCode::unauthenticated: return "not permitted: ";
    case ErrorCode::corrupt: return "damaged file: ";
    case ErrorCode::internal: return "an error in this program: ";
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::resource_exhausted:
    case ErrorCode::cancelled: break;
  }
  return "";
}

// "it is not built: Mamba" as "it is not built (Mamba)", or without the name where it stands before.
std::string without_last_name(std::string_view message) {
  constexpr std::size_t kLongestName = 64;
  const std::size_t colon = message.rfind(": ");
  if (colon == std::string_view::npos) return std::string(message);
  const std::string_view start = message.substr(0, colon), name = message.substr(colon + 2);
  if (name.empty() || name.size() > kLongestName || name.ends_with(')')) return std::string(message);
  if (start.find(name) != std::string_view::npos) return std::string(start);
  return std::string(start) + " (" + std::string(name) + ")";
}

}  // namespace

Reader reader_of_errors() {
  const bool is_for_person = base::is_terminal(base::kStandardError) && base::log_style() == base::LogStyle::terminal;
  return is_for_person ? Reader::person : Reader::program;
}

std::string error_text(ErrorCode code, std::string_view message, Reader reader) {
  std::string text;
  if (reader == Reader::program) {
    text = std::string(to_string(code)) + ": " + std::string(message);
  } else {
    text = std::string(words_of(code));
    text += code == ErrorCode::unsupported ? without_last_name(message) : std::string(message);
  }
  // File names may contain any bytes; the report must stay on one line, and show what it says.
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return "alate: " + base::printable_line(text);
}

}  // namespace alate::app
