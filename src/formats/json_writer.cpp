#include <algorithm>
#include <charconv>

#include "base/log_format.h"
#include "formats/json.h"

namespace alate::formats {
namespace {

// The character after the backslash for a byte with a short escape, 'u' for other control characters, 0 for plain
// bytes.
constexpr char escape_of(unsigned char byte) {
  switch (byte) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return byte < 0x20 ? 'u' : '\0';
  }
}

template <typename Integer>
void append_integer(std::string& out, Integer value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

struct Writer {
  std::string& out;

  void operator()(std::monostate) { out += "null"; }
  void operator()(bool value) { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) { append_integer(out, value); }
  void operator()(std::uint64_t value) { append_integer(out, value); }
  void operator()(double value) { append_json_number(out, value); }
  void operator()(const std::string& value) { append_json_string(out, value); }
  void operator()(const Json::Array& values) {
    out += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += ',';
      values[i].visit(*this);
    }
    out += ']';
  }
  void operator()(const Json::Object& members) {
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out += ',';
      append_json_string(out, members[i].first);
      out += ':';
      members[i].second.visit(*this);
    }
    out += '}';
  }
};

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  std::size_t plain_from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape = escape_of(byte);
    if (escape == '\0') continue;
    out.append(text, plain_from, i - plain_from);
    plain_from = i + 1;
    out += '\\';
    out += escape;
    if (escape != 'u') continue;
    out += "00";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  out.append(text, plain_from);
  out += '"';
}

std::string quoted_name(std::string_view name) {
  constexpr std::size_t kShown = 120;
  std::size_t end = std::min(name.size(), kShown);
  // Never cuts within a character.
  while (end < name.size() && end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return base::json_quoted(name.substr(0, end)) + (end < name.size() ? "..." : "");
}

std::string to_json_text(const Json& value) {
  std::string out;
  Writer writer{out};
  value.visit(writer);
  return out;
}

}  // namespace alate::formats
