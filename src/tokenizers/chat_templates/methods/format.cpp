#include "tokenizers/chat_templates/methods/format.h"

#include <algorithm>
#include <cmath>

#include "tokenizers/chat_templates/methods/attributes.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/values/number_text.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

// [[fill]align][sign]["z"]["#"]["0"][width][grouping]["." precision][type]
struct Specification {
  std::string fill = " ";
  char align = 0, sign = '-', grouping = 0, type = 0;
  bool alternate = false, zero = false;
  std::size_t width = 0;
  int precision = -1;
};

bool is_align(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

std::size_t number_at(Rendering& run, std::string_view text, std::size_t& at) {
  std::size_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = value * 10 + static_cast<std::size_t>(text[at] - '0');
    if (value > (std::size_t{1} << 40)) run.fail("too many decimal digits in a format specification");
  }
  return value;
}

Specification parse(Rendering& run, std::string_view text) {
  Specification result;
  std::size_t at = 0;
  if (!text.empty()) {
    const std::size_t first = decode_utf8(text, 0).length;
    if (first < text.size() && is_align(text[first])) {
      result.fill = text.substr(0, first);
      result.align = text[first];
      at = first + 1;
    } else if (is_align(text[0])) {
      result.align = text[0];
      at = 1;
    }
  }
  const auto is_next = [&](char c) { return at < text.size() && text[at] == c; };
  if (is_next('+') || is_next('-') || is_next(' ')) result.sign = text[at++];
  if (is_next('#')) result.alternate = true, ++at;
  if (is_next('0')) {
    result.zero = true;
    ++at;
    if (result.align == 0) {
      result.fill = "0";
      result.align = '=';
    }
  }
  result.width = number_at(run, text, at);
  if (is_next(',') || is_next('_')) result.grouping = text[at++];
  if (is_next('.')) {
    ++at;
    if (at >= text.size() || text[at] < '0' || text[at] > '9') run.fail("format specifier missing precision");
    result.precision = static_cast<int>(std::min<std::size_t>(number_at(run, text, at), 1 << 30));
  }
  if (at < text.size()) result.type = text[at++];
  if (at < text.size()) run.fail("invalid format specifier");
  return result;
}

std::string grouped(std::string digits, char separator, std::size_t size) {
  if (separator == 0) return digits;
  std::size_t end = 0;  // of the digits before the point
  while (end < digits.size() && std::isalnum(static_cast<unsigned char>(digits[end])) != 0 &&
         (size == 4 || (digits[end] >= '0' && digits[end] <= '9'))) {
    ++end;
  }
  for (std::size_t at = end; at > size; at -= size) digits.insert(at - size, 1, separator);
  return digits;
}

std::string padded(Rendering& run, const Specification& specification, std::string_view prefix, std::string_view text,
                   char default_align) {
  const char align = specification.align != 0 ? specification.align : default_align;
  const std::size_t length = prefix.size() + count_code_points(text);
  const std::size_t missing = specification.width > length ? specification.width - length : 0;
  const std::size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  Builder out(run.budget());
  out.append_repeated(specification.fill, before);
  out.append(prefix);
  if (align == '=') out.append_repeated(specification.fill, missing);
  out.append(text);
  if (align != '=') out.append_repeated(specification.fill, missing - before);
  return out.take();
}

std::string sign_of(const Specification& specification, bool is_negative) {
  return is_negative ? "-" : specification.sign == '-' ? "" : std::string(1, specification.sign);
}

std::string formatted_real(Rendering& run, double value, Specification specification) {
  std::string digits;
  const bool is_percent = specification.type == '%';
  if (specification.type == 0 && specification.precision < 0) {
    digits = real_text(std::fabs(value));
  } else {
    char type = is_percent ? 'f' : specification.type == 'n' || specification.type == 0 ? 'g' : specification.type;
    digits = real_digits(run, is_percent ? value * 100 : value, type,
                         specification.precision < 0 ? 6 : specification.precision, specification.alternate);
    if (specification.type == 0 && digits.find_first_of(".en") == std::string::npos) digits += ".0";
  }
  digits = grouped(std::move(digits), specification.grouping, 3) + (is_percent ? "%" : "");
  return padded(run, specification, sign_of(specification, std::signbit(value) && !std::isnan(value)), digits, '>');
}

std::string formatted_integer(Rendering& run, const Value& value, const Specification& specification) {
  const Integer number = value.integer();
  if (specification.precision >= 0) run.fail("precision not allowed in an integer's format");
  int base = 10;
  std::string prefix = sign_of(specification, number < 0);
  switch (specification.type) {
    case 0:
    case 'd':
    case 'n': break;
    case 'b': base = 2; break;
    case 'o': base = 8; break;
    case 'x':
    case 'X': base = 16; break;
    case 'c': {
      std::string text;
      if (number < 0 || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000)) run.fail("%c arg not in range");
      append_utf8(text, static_cast<char32_t>(number));
      return padded(run, specification, "", text, '<');
    }
    default: run.fail("unknown format code '", specification.type, "' for an integer");
  }
  if (specification.alternate && base != 10)
    prefix += std::string("0") + (base == 16 ? specification.type : base == 8 ? 'o' : 'b');
  const std::string digits =
      grouped(digits_in(number, base, specification.type == 'X'), specification.grouping, base == 10 ? 3 : 4);
  return padded(run, specification, prefix, digits, '>');
}

class FieldFormatter {
 public:
  FieldFormatter(Rendering& run, const Text& format, const Arguments& arguments)
      : run_(run), is_markup_(format.is_markup), arguments_(arguments) {}

  std::string expand(std::string_view format, int depth) {
    if (depth > 2) run_.fail("max string recursion exceeded");
    Builder out(run_.budget());
    for (std::size_t at = 0; at < format.size();) {
      const char c = format[at];
      if (c != '{' && c != '}') {
        const std::size_t next = std::min(format.find_first_of("{}", at), format.size());
        out.append(format.substr(at, next - at));
        at = next;
      } else if (at + 1 < format.size() && format[at + 1] == c) {
        out.append(c);
        at += 2;
      } else if (c == '}') {
        run_.fail("single '}' encountered in format string");
      } else {
        const std::size_t end = field_end(format, at + 1);
        out.append(field(format.substr(at + 1, end - at - 1), depth));
        at = end + 1;
      }
      run_.budget().work();
    }
    return out.take();
  }

 private:
  std::size_t field_end(std::string_view format, std::size_t at) {
    int open = 1;
    bool in_brackets = false;
    for (; at < format.size(); ++at) {
      if (format[at] == '[') in_brackets = true;
      if (format[at] == ']') in_brackets = false;
      if (in_brackets) continue;
      if (format[at] == '{') ++open;
      if (format[at] == '}' && --open == 0) return at;
    }
    run_.fail("expected '}' before end of string");
  }

  std::string field(std::string_view field, int depth) {
    std::size_t name_end = 0;
    bool in_brackets = false;
    while (name_end < field.size() && (in_brackets || (field[name_end] != ':' && field[name_end] != '!'))) {
      if (field[name_end] == '[') in_brackets = true;
      if (field[name_end] == ']') in_brackets = false;
      ++name_end;
    }
    Value value = find(field.substr(0, name_end));
    std::string_view rest = field.substr(name_end);
    if (rest.starts_with('!')) {
      if (rest.size() < 2 || (rest.size() > 2 && rest[2] != ':')) run_.fail("expected ':' after conversion specifier");
      value = converted(value, rest[1]);
      rest = rest.substr(2);
    }
    const std::string specification = rest.empty() ? "" : expand(rest.substr(1), depth + 1);
    std::string text = formatted(run_, value, specification);
    if (is_markup_ && !(value.is_text() && value.text().is_markup)) text = escaped_markup(run_, text);
    return text;
  }

  Value converted(const Value& value, char conversion) {
    if (conversion == 's') return as_text(run_, value);
    if (conversion != 'r' && conversion != 'a') run_.fail("unknown conversion specifier");
    if (conversion == 'r' || !value.is_text()) return make_text(run_.budget(), repr_of(run_, value));
    Builder quoted(run_.budget());
    append_quoted(quoted, value.bytes(), true);
    return make_text(run_.budget(), quoted.take());
  }

  static bool is_number(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  }

  Value find(std::string_view name) {
    std::size_t at = std::min(name.find_first_of(".["), name.size());
    Value value = argument(name.substr(0, at));
    while (at < name.size()) {
      if (name[at] == '.') {
        const std::size_t end = std::min(name.find_first_of(".[", at + 1), name.size());
        if (end == at + 1) run_.fail("empty attribute in format string");
        value = attribute_of(run_, value, name.substr(at + 1, end - at - 1));
        at = end;
      } else if (name[at] == '[') {
        const std::size_t end = name.find(']', at);
        if (end == std::string_view::npos) run_.fail("missing ']' in format string");
        const std::string_view key = name.substr(at + 1, end - at - 1);
        if (key.empty()) run_.fail("empty attribute in format string");
        value = item_of(run_, value,
                        is_number(key) ? Value::integer(index_of(key)) : make_text(run_.budget(), std::string(key)));
        at = end + 1;
      } else {
        run_.fail("only '.' or '[' may follow ']' in a format field");
      }
    }
    return value;
  }

  Integer index_of(std::string_view digits) {
    std::size_t at = 0;
    return static_cast<Integer>(number_at(run_, digits, at));
  }

  Value argument(std::string_view name) {
    if (name.empty() || is_number(name)) {
      const bool is_automatic = name.empty();
      if (is_automatic ? uses_numbers_ : next_ > 0) {
        run_.fail("a format cannot mix automatic and manual numbers of fields");
      }
      uses_numbers_ |= !is_automatic;
      const auto index = is_automatic ? static_cast<Integer>(next_++) : index_of(name);
      if (index >= static_cast<Integer>(arguments_.positional.size())) {
        run_.fail("replacement index out of range for positional args");
      }
      return arguments_.positional[static_cast<std::size_t>(index)];
    }
    run_.budget().work(arguments_.named.size() * (8 + name.size()) / 64);
    for (const auto& [each, value] : arguments_.named) {
      if (each == name) return value;
    }
    run_.fail("the format names an argument that is not given");
  }

  Rendering& run_;
  bool is_markup_;
  const Arguments& arguments_;
  std::size_t next_ = 0;
  bool uses_numbers_ = false;
};

}  // namespace

std::string formatted(Rendering& run, const Value& value, std::string_view text) {
  if (text.empty()) return text_of(run, value);
  if (value.is_undefined() || (!value.is_text() && !value.is_number())) {
    run.fail("unsupported format string passed to ", type_name(value), ".__format__");
  }
  Specification specification = parse(run, text);
  if (value.is_text()) {
    if (specification.type != 0 && specification.type != 's') run.fail("unknown format code for a string");
    if (specification.grouping != 0) run.fail("cannot specify '", specification.grouping, "' for a string");
    if (specification.alternate) run.fail("alternate form (#) not allowed in string format specifier");
    if (specification.sign != '-') run.fail("sign not allowed in string format specifier");
    if (specification.align == '=' && !specification.zero)
      run.fail("'=' alignment not allowed in string format specifier");
    if (specification.align == '=') specification.align = '<';
    const auto limit =
        specification.precision < 0 ? value.text().length : static_cast<std::size_t>(specification.precision);
    std::size_t at = 0;
    for (std::size_t i = 0; i < limit && at < value.bytes().size(); ++i) at += decode_utf8(value.bytes(), at).length;
    return padded(run, specification, "", value.bytes().substr(0, at), '<');
  }
  constexpr std::string_view kReals = "eEfFgG%";
  if (value.is(Value::Kind::real) || kReals.find(specification.type) != std::string_view::npos) {
    if (specification.type != 0 && specification.type != 'n' &&
        kReals.find(specification.type) == std::string_view::npos) {
      run.fail("unknown format code '", specification.type, "' for a float");
    }
    return formatted_real(run, value.number(), specification);
  }
  return formatted_integer(run, value, specification);
}

Value format_text(Rendering& run, const Text& format, const Arguments& arguments) {
  run.budget().work(format.bytes.size() / 8);
  return make_text(run.budget(), FieldFormatter(run, format, arguments).expand(format.bytes, 1), format.is_markup);
}

}  // namespace alate::tokenizers::chat_templates
