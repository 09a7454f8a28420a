// "%s and %d" % (a, b)
#include <algorithm>
#include <cmath>

#include "tokenizers/chat_templates/values/number_text.h"
#include "tokenizers/chat_templates/values/object.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

struct Conversion {
  bool left = false, plus = false, space = false, alternate = false, zero = false;
  std::size_t width = 0;
  int precision = -1;
  char type = 0;
};

class PercentFormatter {
 public:
  PercentFormatter(Rendering& run, const Text& format, const Value& values)
      : run_(run), format_(format.bytes), is_markup_(format.is_markup), values_(values), out_(run.budget()) {}

  Value run() {
    run_.budget().work(format_.size() / 8);
    while (at_ < format_.size()) {
      const std::size_t percent = std::min(format_.find('%', at_), format_.size());
      out_.append(format_.substr(at_, percent - at_));
      at_ = percent + 1;
      if (percent < format_.size()) convert();
    }
    const bool uses_all = !values_.is_tuple() ? used_ > 0 || values_.is_mapping() || values_.is_list() ||
                                                    values_.is_undefined() || values_.is_object()
                                              : used_ == values_.sequence().items.size();
    if (!uses_all && !used_mapping_) run_.fail("not all arguments converted during string formatting");
    return make_text(run_.budget(), out_.take(), is_markup_);
  }

 private:
  char next() {
    if (at_ >= format_.size()) run_.fail("incomplete format");
    return format_[at_++];
  }

  Value next_value() {
    if (values_.is_tuple()) {
      if (used_ == values_.sequence().items.size()) run_.fail("not enough arguments for format string");
      return values_.sequence().items[used_++];
    }
    if (used_++ > 0) run_.fail("not enough arguments for format string");
    return values_;
  }

  std::size_t number(char& c) {
    if (c == '*') {
      const Value value = next_value();
      if (!value.is_integral()) run_.fail("* wants int");
      c = next();
      return static_cast<std::size_t>(std::clamp(value.integer(), Integer{0}, Integer{1} << 40));
    }
    std::size_t value = 0;
    for (; c >= '0' && c <= '9'; c = next()) {
      value = value * 10 + static_cast<std::size_t>(c - '0');
      if (value > (std::size_t{1} << 40)) run_.fail("width or precision too big");
    }
    return value;
  }

  void convert() {
    run_.budget().work();
    Conversion conversion;
    std::optional<Value> value;
    char c = next();
    if (c == '(') {
      std::size_t end = at_;
      for (int depth = 1; depth > 0; ++end) {
        if (end >= format_.size()) run_.fail("incomplete format key");
        depth += format_[end] == '(' ? 1 : format_[end] == ')' ? -1 : 0;
      }
      if (!values_.is_mapping()) run_.fail("format requires a mapping");
      const Value* found = values_.mapping().find(format_.substr(at_, end - 1 - at_));
      if (found == nullptr) run_.fail("the mapping has no key for the format");
      value = *found;
      used_mapping_ = true;
      at_ = end;
      c = next();
    }
    for (bool is_flag = true; is_flag;) {
      switch (c) {
        case '-': conversion.left = true; break;
        case '+': conversion.plus = true; break;
        case ' ': conversion.space = true; break;
        case '#': conversion.alternate = true; break;
        case '0': conversion.zero = true; break;
        default: is_flag = false;
      }
      if (is_flag) c = next();
    }
    conversion.width = number(c);
    if (c == '.') {
      c = next();
      conversion.precision = static_cast<int>(std::min<std::size_t>(number(c), 1 << 30));
    }
    while (c == 'h' || c == 'l' || c == 'L') c = next();
    conversion.type = c;
    if (c == '%') return pad(conversion, "", "%", false);
    append(conversion, value ? *value : next_value());
  }

  void append(const Conversion& conversion, const Value& value) {
    switch (conversion.type) {
      case 's':
        return append_text_of(conversion, is_markup_ && !(value.is_text() && value.text().is_markup)
                                              ? escaped_markup(run_, text_of(run_, value))
                                              : text_of(run_, value));
      case 'r': return append_text_of(conversion, repr_of(run_, value));
      case 'a': {
        if (!value.is_text()) return append_text_of(conversion, repr_of(run_, value));
        Builder quoted(run_.budget());
        append_quoted(quoted, value.bytes(), true);
        return append_text_of(conversion, quoted.take());
      }
      case 'c': return append_character(conversion, value);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X': return append_integer(conversion, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': return append_real(conversion, value);
      default: run_.fail("unsupported format character");
    }
  }

  void append_text_of(const Conversion& conversion, std::string text) {
    if (conversion.precision >= 0) {
      std::size_t at = 0;
      for (int i = 0; i < conversion.precision && at < text.size(); ++i) at += decode_utf8(text, at).length;
      text.resize(at);
    }
    pad(conversion, "", text, false);
  }

  void append_character(const Conversion& conversion, const Value& value) {
    if (value.is_text()) {
      if (value.text().length != 1) run_.fail("%c requires int or char");
      return pad(conversion, "", value.bytes(), false);
    }
    if (!value.is_integral()) run_.fail("%c requires int or char");
    if (value.integer() < 0 || value.integer() > 0x10FFFF) run_.fail("%c arg not in range(0x110000)");
    const auto c = static_cast<char32_t>(value.integer());
    std::string text;
    append_utf8(text, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
    pad(conversion, "", text, false);
  }

  std::string_view sign_of(const Conversion& conversion, bool is_negative) const {
    return is_negative ? "-" : conversion.plus ? "+" : conversion.space ? " " : "";
  }

  void append_integer(const Conversion& conversion, const Value& value) {
    const bool is_decimal_type = conversion.type == 'd' || conversion.type == 'i' || conversion.type == 'u';
    if (!value.is_number() || (!is_decimal_type && !value.is_integral())) {
      run_.fail("%", conversion.type, " format: a number is required, not ", type_name(value));
    }
    Integer number = 0;
    if (value.is_integral()) {
      number = value.integer();
    } else {
      if (!std::isfinite(value.real()) || std::fabs(value.real()) > 1e37) run_.fail("cannot convert float to integer");
      number = static_cast<Integer>(value.real());
    }
    const int base = is_decimal_type ? 10 : conversion.type == 'o' ? 8 : 16;
    std::string digits = digits_in(number, base, conversion.type == 'X');
    std::string prefix(sign_of(conversion, number < 0));
    if (conversion.alternate && base != 10) prefix += base == 8 ? "0o" : conversion.type == 'X' ? "0X" : "0x";
    if (conversion.precision > static_cast<int>(digits.size())) {
      Builder padded(run_.budget());
      padded.append_repeated("0", static_cast<std::size_t>(conversion.precision) - digits.size());
      padded.append(digits);
      digits = padded.take();
    }
    pad(conversion, prefix, digits, true);
  }

  void append_real(const Conversion& conversion, const Value& value) {
    if (value.is_undefined()) run_.fail(value.undefined_message());
    if (!value.is_number()) run_.fail("must be real number, not ", type_name(value));
    const double number = value.number();
    const int precision = conversion.precision < 0 ? 6 : conversion.precision;
    const std::string digits = real_digits(run_, number, conversion.type, precision, conversion.alternate);
    pad(conversion, sign_of(conversion, std::signbit(number) && !std::isnan(number)), digits, std::isfinite(number));
  }

  void pad(const Conversion& conversion, std::string_view prefix, std::string_view text, bool may_zero) {
    const std::size_t length = prefix.size() + count_code_points(text);
    const std::size_t missing = conversion.width > length ? conversion.width - length : 0;
    const bool zeros = conversion.zero && may_zero && !conversion.left;
    if (!conversion.left && !zeros) out_.append_repeated(" ", missing);
    out_.append(prefix);
    if (zeros) out_.append_repeated("0", missing);
    out_.append(text);
    if (conversion.left) out_.append_repeated(" ", missing);
  }

  Rendering& run_;
  std::string_view format_;
  bool is_markup_;
  const Value& values_;
  Builder out_;
  std::size_t at_ = 0, used_ = 0;
  bool used_mapping_ = false;
};

}  // namespace

Value format_percent(Rendering& run, const Text& format, const Value& values) {
  return PercentFormatter(run, format, values).run();
}

}  // namespace alate::tokenizers::chat_templates
