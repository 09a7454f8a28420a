#include "tokenizers/chat_templates/values/python_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/values/object.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

using Kind = Value::Kind;

void append_sequence(Rendering& run, Builder& out, const Sequence& sequence) {
  out.append(sequence.is_tuple ? '(' : '[');
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    if (i > 0) out.append(", ");
    append_repr(run, out, sequence.items[i]);
  }
  if (sequence.is_tuple && sequence.items.size() == 1) out.append(',');
  out.append(sequence.is_tuple ? ')' : ']');
}

void append_mapping(Rendering& run, Builder& out, const Mapping& mapping) {
  out.append('{');
  bool is_first = true;
  for (const auto& [key, value] : mapping.entries()) {
    if (!is_first) out.append(", ");
    is_first = false;
    append_repr(run, out, key);
    out.append(": ");
    append_repr(run, out, value);
  }
  out.append('}');
}

void append_escape(Builder& out, char32_t c) {
  char escape[16];
  const char* format = c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(escape, sizeof(escape), format, static_cast<unsigned>(c));
  out.append(escape);
}

}  // namespace

std::string decimal(Integer value) {
  if (value == 0) return "0";
  const bool is_negative = value < 0;
  __extension__ typedef unsigned __int128 Magnitude;
  auto rest = is_negative ? Magnitude{0} - static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
  std::string digits;
  for (; rest != 0; rest /= 10) digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  if (is_negative) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  const std::string_view shortest(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = shortest.find('e');
  int exponent = 0;
  const char* digits_of_exponent = shortest.data() + e + (shortest[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits_of_exponent, shortest.data() + shortest.size(), exponent);
  std::string digits;
  for (const char c : shortest.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  std::string text = std::signbit(value) ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    text += digits[0];
    if (count > 1) text += "." + digits.substr(1);
    std::snprintf(buffer, sizeof(buffer), "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    return text + buffer;
  }
  if (exponent < 0) return text + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return text + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  const auto whole = static_cast<std::size_t>(exponent + 1);
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

void append_quoted(Builder& out, std::string_view text, bool only_ascii) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  out.append(quote);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    const char32_t c = point.value;
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out.append('\\');
      out.append(static_cast<char>(c));
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\r') {
      out.append("\\r");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (!is_printable(c) || (only_ascii && c >= 0x80)) {
      append_escape(out, c);
    } else {
      out.append(text.substr(at, point.length));
    }
    at += point.length;
  }
  out.budget().work(text.size() / 4);
  out.append(quote);
}

void append_repr(Rendering& run, Builder& out, const Value& value) {
  run.budget().work();
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined: return out.append("Undefined");
    case Kind::none: return out.append("None");
    case Kind::boolean: return out.append(value.boolean() ? "True" : "False");
    case Kind::integer: return out.append(decimal(value.integer()));
    case Kind::real: return out.append(real_text(value.real()));
    case Kind::text:
      if (value.text().is_markup) out.append("Markup(");
      append_quoted(out, value.bytes());
      if (value.text().is_markup) out.append(')');
      return;
    default: break;
  }
  const Rendering::Nesting nesting(run);  // a namespace may contain itself, and an object may run code
  if (value.is_sequence()) return append_sequence(run, out, value.sequence());
  if (value.is_mapping()) return append_mapping(run, out, value.mapping());
  value.object().append_repr(run, out);
}

void append_text(Rendering& run, Builder& out, const Value& value) {
  if (value.is_text()) return out.append(value.bytes());
  if (value.is_undefined() || value.is_missing()) return;
  append_repr(run, out, value);
}

std::string text_of(Rendering& run, const Value& value) {
  Builder out(run.budget());
  append_text(run, out, value);
  return out.take();
}

Value as_text(Rendering& run, const Value& value) {
  return value.is_text() ? value : make_text(run.budget(), text_of(run, value));
}

std::string repr_of(Rendering& run, const Value& value) {
  Builder out(run.budget());
  append_repr(run, out, value);
  return out.take();
}

}  // namespace alate::tokenizers::chat_templates
