#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/number_text.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

Value default_value(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "default", std::move(arguments), {"default_value", "boolean"});
  if (input.is_undefined() || (given.flag(1, false) && !truth(run, input))) {
    return given.has(0) ? given[0] : constant_text("");
  }
  return input;
}

// A number's text as int() and float() take it: white space around it, digits of any script, "_" between digits.
std::optional<std::string> plain_number(Rendering& run, std::string_view text) {
  run.budget().work(text.size() / 4);
  text = stripped(text, nullptr, true, true);
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    if (point.value >= 0x80) {
      if (!is_decimal(point.value)) return std::nullopt;
      plain += static_cast<char>('0' + decimal_value(point.value));
    } else {
      plain += static_cast<char>(point.value);
    }
    at += point.length;
  }
  const auto is_digit_at = [&](std::size_t i) {
    return i < plain.size() && std::isalnum(static_cast<unsigned char>(plain[i])) != 0;
  };
  std::string out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] != '_') {
      out += plain[i];
    } else if (i == 0 || !is_digit_at(i - 1) || !is_digit_at(i + 1)) {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<Integer> parse_integer(Rendering& run, std::string_view text, int base) {
  const std::optional<std::string> plain = plain_number(run, text);
  if (!plain || plain->empty()) return std::nullopt;
  std::string_view digits = *plain;
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  const auto has_prefix = [&](char mark) { return digits.size() > 2 && digits[0] == '0' && (digits[1] | 32) == mark; };
  for (const auto& [mark, its_base] : {std::pair('x', 16), std::pair('o', 8), std::pair('b', 2)}) {
    if ((base == its_base || base == 0) && has_prefix(mark)) {
      digits.remove_prefix(2);
      base = its_base;
      break;
    }
  }
  if (base == 0) base = 10;
  if (digits.empty()) return std::nullopt;
  Integer value = 0;
  for (const char c : digits) {
    const char lower = static_cast<char>(c | 32);
    const int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(value, Integer{base}, &value) || __builtin_add_overflow(value, Integer{digit}, &value)) {
      run.fail_limit("an integer of the chat template has more than 127 bits");
    }
  }
  return is_negative ? -value : value;
}

std::optional<double> parse_real(Rendering& run, std::string_view text) {
  const std::optional<std::string> plain = plain_number(run, text);
  if (!plain || plain->empty()) return std::nullopt;
  std::string lower = *plain;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c;
  const std::string_view unsigned_text = std::string_view(lower).substr(lower[0] == '-' || lower[0] == '+' ? 1 : 0);
  const double sign = lower[0] == '-' ? -1 : 1;
  if (unsigned_text == "inf" || unsigned_text == "infinity") return sign * HUGE_VAL;
  if (unsigned_text == "nan") return std::nan("");
  if (unsigned_text.find_first_not_of("0123456789.e+-") != std::string_view::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(lower.c_str(), &end);
  if (end != lower.c_str() + lower.size()) return std::nullopt;
  return value;
}

std::optional<double> as_real(Rendering& run, const Value& value) {
  if (value.is_number()) return value.number();
  return value.is_text() ? parse_real(run, value.bytes()) : std::nullopt;
}

// int(value) of a float; nothing where it is no integer.
std::optional<Integer> truncated(Rendering& run, double value) {
  if (!std::isfinite(value)) return std::nullopt;
  if (std::fabs(value) > 1e38) run.fail_limit("an integer of the chat template has more than 127 bits");
  return static_cast<Integer>(value);
}

Value integer(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "int", std::move(arguments), {"default", "base"});
  if (input.is_undefined()) run.fail(input.undefined_message());
  std::optional<Integer> value;
  if (input.is_text()) {
    const bool has_base = !given.has(1) || given[1].is_integral();  // otherwise only float() may read the text
    const Integer base = has_base ? given.integer(1, 10) : 1;
    if (base >= 0 && base <= 36 && base != 1) value = parse_integer(run, input.bytes(), static_cast<int>(base));
    if (!value) {
      const std::optional<double> real = parse_real(run, input.bytes());
      if (real) value = truncated(run, *real);
    }
  } else if (input.is_integral()) {
    value = input.integer();
  } else if (input.is(Value::Kind::real)) {
    if (std::isinf(input.real())) run.fail("cannot convert float infinity to integer");
    value = truncated(run, input.real());
  }
  if (value) return Value::integer(*value);
  return given.has(0) ? given[0] : Value::integer(0);
}

Value real(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "float", std::move(arguments), {"default"});
  if (input.is_undefined()) run.fail(input.undefined_message());
  const std::optional<double> value = as_real(run, input);
  if (value) return Value::real(*value);
  return given.has(0) ? given[0] : Value::real(0);
}

Value absolute(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "abs", std::move(arguments), {});
  if (input.is(Value::Kind::real)) return Value::real(std::fabs(input.real()));
  if (input.is_undefined()) run.fail(input.undefined_message());
  if (!input.is_integral()) run.fail("bad operand type for abs(): '", type_name(input), "'");
  return input.integer() < 0 ? negated(run, input) : Value::integer(input.integer());
}

// round(integer, -digits): to a multiple of a power of ten, halves to the even one.
Value rounded_integer(Rendering& run, Integer value, Integer digits) {
  if (digits <= 0) return Value::integer(value);
  if (digits > 38) return Value::integer(0);
  Integer unit = 1;
  for (Integer i = 0; i < digits; ++i) {
    if (__builtin_mul_overflow(unit, Integer{10}, &unit)) return Value::integer(0);
  }
  Integer remainder = value % unit;
  if (remainder < 0) remainder += unit;
  Integer down = value - remainder;
  const bool is_odd = (down / unit) % 2 != 0;
  if (remainder > unit / 2 || (remainder == unit / 2 && is_odd)) {
    if (__builtin_add_overflow(down, unit, &down)) run.fail_limit("an integer has more than 127 bits");
  }
  return Value::integer(down);
}

Value round(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "round", std::move(arguments), {"precision", "method"});
  const std::string_view method = given.text(1, "common");
  const bool to_integer = given.has(0) && given[0].is_none();  // round(value, None)
  const Integer precision = to_integer ? 0 : given.integer(0, 0);
  if (method != "common" && method != "ceil" && method != "floor") run.fail("method must be common, ceil or floor");
  if (input.is_undefined()) run.fail(input.undefined_message());
  if (!input.is_number()) run.fail("round needs a number, not '", type_name(input), "'");
  if (to_integer) {
    if (method != "common") run.fail("round needs an integer, not 'NoneType'");
    if (input.is_integral()) return Value::integer(input.integer());
    const std::optional<Integer> whole = truncated(run, std::nearbyint(input.real()));
    if (!whole) run.fail("cannot convert float infinity or NaN to integer");
    return Value::integer(*whole);
  }
  if (precision > 400 || precision < -400) {
    if (method != "common") run.fail("round with too large a precision");
    return precision > 0         ? input
           : input.is_integral() ? Value::integer(0)
                                 : Value::real(std::copysign(0.0, input.real()));
  }
  const int digits = static_cast<int>(precision);
  if (method == "common") {
    if (input.is_integral()) return rounded_integer(run, input.integer(), -precision);
    const double value = input.real();
    if (!std::isfinite(value)) return input;
    if (digits >= 0) {  // the decimal that printf rounds to exactly
      const std::string text = real_digits(run, value, 'f', digits, false);
      return Value::real(std::copysign(std::strtod(text.c_str(), nullptr), value));
    }
    const long double unit = std::pow(10.0L, -digits);
    const long double scaled = static_cast<long double>(value) / unit;
    long double whole = std::floor(scaled);
    const long double rest = scaled - whole;
    if (rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) != 0)) whole += 1;
    return Value::real(std::copysign(static_cast<double>(std::fabs(whole) * unit), value));
  }
  const double unit = std::pow(10.0, std::abs(digits));
  const double scaled = digits >= 0 ? input.number() * unit : input.number() * (1 / unit);
  if (!std::isfinite(scaled)) run.fail("cannot convert float infinity or NaN to integer");
  const double whole = method == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  return Value::real(digits >= 0 ? (whole + 0.0) / unit : whole / (1 / unit));
}

Value filesizeformat(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "filesizeformat", std::move(arguments), {"binary"});
  const std::optional<double> bytes = as_real(run, input);
  if (!bytes) run.fail("filesizeformat needs a number");
  const bool is_binary = given.flag(0, false);
  const double base = is_binary ? 1024 : 1000;
  if (*bytes == 1) return constant_text("1 Byte");
  if (*bytes < base) {
    const std::optional<Integer> whole = truncated(run, *bytes);
    if (!whole) run.fail("filesizeformat needs a finite number");
    return make_text(run.budget(), decimal(*whole) + " Bytes");
  }
  constexpr std::string_view kPrefixes = "kMGTPEZY";
  double unit = base;
  for (std::size_t i = 0;; ++i) {
    unit *= base;
    if (*bytes < unit || i + 1 == kPrefixes.size()) {
      std::string text = real_digits(run, base * *bytes / unit, 'f', 1, false) + " ";
      text += is_binary && i == 0 ? 'K' : kPrefixes[i];
      return make_text(run.budget(), text + (is_binary ? "iB" : "B"));
    }
  }
}

Value attr(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "attr", std::move(arguments), {"name"}, 1);
  const std::string_view name = given.text(0, "");
  if (input.is_undefined()) run.fail(input.undefined_message());
  std::optional<Value> found = input.is_object() ? input.object().attribute(run, name) : method_of(run, input, name);
  if (found) return *found;
  return make_undefined(run.budget(),
                        "'" + std::string(type_name(input)) + " object' has no attribute '" + std::string(name) + "'");
}

// Two renderings of a conversation must not differ.
Value random(Rendering& run, const Value&, Arguments) {
  run.fail("the filter random, which chat templates may not use: a conversation has one text");
}

constexpr Filter kFilters[] = {
    {"abs", absolute},
    {"attr", attr},
    {"d", default_value},
    {"default", default_value},
    {"filesizeformat", filesizeformat},
    {"float", real},
    {"int", integer},
    {"pprint", pretty_print},
    {"random", random},
    {"round", round},
    {"tojson", to_json},
};

}  // namespace

std::span<const Filter> value_filters() { return kFilters; }

const Filter* find_filter(std::string_view name) {
  static const auto filters = [] {
    std::map<std::string_view, const Filter*> all;
    for (const auto& family :
         {text_filters(), markup_filters(), sequence_filters(), selection_filters(), value_filters()}) {
      for (const Filter& filter : family) all.emplace(filter.name, &filter);
    }
    return all;
  }();
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

Value apply_filter(Rendering& run, const Filter* filter, std::string_view name, const Value& input,
                   Arguments arguments) {
  if (filter == nullptr) run.fail("there is no filter ", name);
  run.budget().work(2);
  return filter->apply(run, input, std::move(arguments));
}

}  // namespace alate::tokenizers::chat_templates
