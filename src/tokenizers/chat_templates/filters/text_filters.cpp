#include <algorithm>
#include <cmath>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

// Filters that are a method of the value as a text.
template <const char* Name>
Value method(Rendering& run, const Value& input, Arguments arguments) {
  return run.call(*text_method(run, as_text(run, input), Name), std::move(arguments));
}
constexpr char kUpper[] = "upper", kLower[] = "lower", kCapitalize[] = "capitalize";

Value trim(Rendering& run, const Value& input, Arguments arguments) {
  Parameters given(run, "trim", std::move(arguments), {"chars"});
  Arguments rest;
  if (given.has(0)) rest.positional.push_back(given[0]);
  return run.call(*text_method(run, as_text(run, input), "strip"), std::move(rest));
}

Value center(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "center", std::move(arguments), {"width"});
  Arguments rest;
  rest.positional.push_back(Value::integer(given.integer(0, 80)));
  return run.call(*text_method(run, as_text(run, input), "center"), std::move(rest));
}

bool begins_word_after(char32_t c) { return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c); }

Value title(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "title", std::move(arguments), {});
  const std::string text = text_of(run, input);
  std::string out;
  run.budget().work(text.size() / 4);
  // Runs of the characters that part words, and runs of others.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t first = decode_utf8(text, at).length;
    const bool parts = begins_word_after(decode_utf8(text, at).value);
    std::size_t end = at + first;
    while (end < text.size() && begins_word_after(decode_utf8(text, end).value) == parts) {
      end += decode_utf8(text, end).length;
    }
    const std::string_view piece = std::string_view(text).substr(at, end - at);
    out += upper_text(piece.substr(0, first));
    out += lower_text(piece.substr(first));
    at = end;
  }
  return make_text(run.budget(), std::move(out));
}

Value replace(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "replace", std::move(arguments), {"old", "new", "count"}, 2);
  const Integer count = given.is_set(2) ? given.integer(2, -1) : -1;
  return make_text(run.budget(),
                   replaced(run, text_of(run, input), text_of(run, given[0]), text_of(run, given[1]), count));
}

Value indent(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "indent", std::move(arguments), {"width", "first", "blank"});
  if (input.is_undefined()) run.fail(input.undefined_message());
  if (!input.is_text()) run.fail("indent needs a string, not '", type_name(input), "'");
  Builder margin(run.budget());
  if (given.has(0) && given[0].is_text()) {
    margin.append(given[0].bytes());
  } else {
    margin.append_repeated(" ", given.size(0, 4));
  }
  const bool all = given.flag(2, false);
  const std::string text = std::string(input.bytes()) + "\n";
  run.budget().work(text.size() / 8);
  Builder out(run.budget());
  if (given.flag(1, false)) out.append(margin.view());
  bool is_first = true;
  for (const std::string_view line : split_lines(text)) {
    if (!is_first) {
      out.append('\n');
      if (all || !line.empty()) out.append(margin.view());
    }
    is_first = false;
    out.append(line);
    run.budget().work();
  }
  return make_text(run.budget(), out.take(), input.text().is_markup);
}

Value truncate(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "truncate", std::move(arguments), {"length", "killwords", "end", "leeway"});
  const Integer length = given.integer(0, 255);
  const std::string_view end = given.text(2, "...");
  run.budget().work(end.size() / 32);
  const auto end_length = static_cast<Integer>(count_code_points(end));
  const Integer leeway = given.is_set(3) ? given.integer(3, 5) : 5;
  if (length < end_length) run.fail("expected length >= ", decimal(end_length), ", got ", decimal(length));
  if (leeway < 0) run.fail("expected leeway >= 0");
  const std::optional<std::size_t> size = length_of(run, input);
  if (!size) run.fail("object of type '", type_name(input), "' has no len()");
  if (static_cast<Integer>(*size) <= length + leeway) return input;
  if (!input.is_text()) run.fail("truncate needs a string, not '", type_name(input), "'");
  std::string_view kept = code_points(run, input.text(), 0, static_cast<std::size_t>(length - end_length));
  if (!given.flag(1, false)) kept = kept.substr(0, kept.rfind(' '));
  return make_text(run.budget(), std::string(kept) + std::string(end));
}

bool is_word(char32_t c) { return c == '_' || is_alphabetic(c) || is_decimal(c) || is_numeric(c); }

Value wordcount(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "wordcount", std::move(arguments), {});
  const std::string text = text_of(run, input);
  run.budget().work(text.size() / 8);
  Integer words = 0;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    const bool is_in = is_word(point.value);
    words += is_in && !in_word ? 1 : 0;
    in_word = is_in;
    at += point.length;
  }
  return Value::integer(words);
}

Value string(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "string", std::move(arguments), {});
  return as_text(run, input);
}

Value format(Rendering& run, const Value& input, Arguments arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    run.fail("format takes positional or named arguments, not both");
  }
  const Value text = as_text(run, input);
  if (arguments.named.empty()) {
    return format_percent(run, text.text(), make_tuple(run.budget(), std::move(arguments.positional)));
  }
  MappingBuilder named(run);
  for (auto& [name, value] : arguments.named) named.set(name, std::move(value));
  return format_percent(run, text.text(), named.take());
}

constexpr Filter kFilters[] = {
    {"capitalize", method<kCapitalize>},
    {"center", center},
    {"format", format},
    {"indent", indent},
    {"lower", method<kLower>},
    {"replace", replace},
    {"string", string},
    {"title", title},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", method<kUpper>},
    {"wordcount", wordcount},
    {"wordwrap", wrap_text},
};

}  // namespace

std::span<const Filter> text_filters() { return kFilters; }

}  // namespace alate::tokenizers::chat_templates
