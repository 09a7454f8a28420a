#include <algorithm>

#include "tokenizers/chat_templates/methods/format.h"
#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/text/html_entities.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/text/text_search.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

using Method = Value (*)(Rendering&, const Text&, Arguments);

Value like(Rendering& run, const Text& self, std::string text) {
  return make_text(run.budget(), std::move(text), self.is_markup);
}

Value like(Rendering& run, const Text& self, std::string_view text) { return like(run, self, std::string(text)); }

void require_nothing(Rendering& run, Arguments arguments) {
  const Parameters none(run, "the method", std::move(arguments), {});
}

// Methods that give another text and take nothing.
template <std::string (*Map)(std::string_view)>
Value mapped(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, std::move(arguments));
  run.budget().work(self.bytes.size() / 4);
  return like(run, self, Map(self.bytes));
}

// Methods that ask something of every character; false for an empty text.
template <bool (*Is)(char32_t)>
Value all_are(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, std::move(arguments));
  run.budget().work(self.bytes.size() / 8);
  for (std::size_t at = 0; at < self.bytes.size();) {
    const CodePoint point = decode_utf8(self.bytes, at);
    if (!Is(point.value)) return Value::boolean(false);
    at += point.length;
  }
  return Value::boolean(!self.bytes.empty());
}

bool is_alphanumeric(char32_t c) { return is_alphabetic(c) || is_decimal(c) || is_digit(c) || is_numeric(c); }

template <bool (*Is)(char32_t), bool (*IsOther)(char32_t)>
Value cased_are(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, std::move(arguments));
  run.budget().work(self.bytes.size() / 8);
  bool found = false;
  for (std::size_t at = 0; at < self.bytes.size();) {
    const CodePoint point = decode_utf8(self.bytes, at);
    if (IsOther(point.value) || is_title(point.value)) return Value::boolean(false);
    found |= Is(point.value);
    at += point.length;
  }
  return Value::boolean(found);
}

Value is_titled(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, std::move(arguments));
  run.budget().work(self.bytes.size() / 8);
  bool found = false, after_cased = false;
  for (std::size_t at = 0; at < self.bytes.size();) {
    const CodePoint point = decode_utf8(self.bytes, at);
    at += point.length;
    if (is_upper(point.value) || is_title(point.value)) {
      if (after_cased) return Value::boolean(false);
      after_cased = found = true;
    } else if (is_lower(point.value)) {
      if (!after_cased) return Value::boolean(false);
      found = true;
    } else {
      after_cased = false;
    }
  }
  return Value::boolean(found);
}

Value is_ascii_only(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, std::move(arguments));
  return Value::boolean(self.is_ascii());
}

bool is_printable_or_space(char32_t c) { return c == ' ' || is_printable(c); }

Value is_all_printable(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, arguments);
  if (self.bytes.empty()) return Value::boolean(true);
  return all_are<is_printable_or_space>(run, self, std::move(arguments));
}

Value is_name(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, std::move(arguments));
  run.budget().work(self.bytes.size() / 4);
  return Value::boolean(is_identifier(self.bytes));
}

template <bool Left, bool Right>
Value strip(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "strip", std::move(arguments), {"chars"});
  run.budget().work(self.bytes.size() / 32);
  if (!given.is_set(0)) return like(run, self, stripped(self.bytes, nullptr, Left, Right));
  const std::string_view characters = given.text(0, "");
  run.budget().work((self.bytes.size() * characters.size()) / 64);
  return like(run, self, stripped(self.bytes, &characters, Left, Right));
}

// A part [start, stop) of the text for methods that search; nothing if start is after the end.
struct Part {
  std::string_view text;
  std::size_t offset;  // in code points
};

std::optional<Part> part_of(Rendering& run, const Text& self, const Parameters& given, std::size_t first) {
  const auto length = static_cast<Integer>(self.length);
  const auto place = [&](std::size_t i, Integer otherwise) {
    const Integer at = given.is_set(i) ? given.integer(i, otherwise) : otherwise;
    return at < 0 ? std::max(at + length, Integer{0}) : at;
  };
  const Integer start = place(first, 0), stop = std::min(place(first + 1, length), length);
  if (start > length || start > stop) return std::nullopt;
  const auto begin = static_cast<std::size_t>(start);
  return Part{code_points(run, self, begin, static_cast<std::size_t>(stop)), begin};
}

template <bool FromRight, bool Fails>
Value find(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "find", std::move(arguments), {"sub", "start", "end"}, 1);
  const std::string_view wanted = given.text(0, "");
  run.budget().work(TextSearch::characters(wanted, self.bytes) / 32);
  const std::optional<Part> part = part_of(run, self, given, 1);
  std::size_t at = std::string_view::npos;
  if (part) {
    const TextSearch search(wanted);
    at = FromRight ? search.find_last(part->text) : search.find(part->text);
  }
  if (at == std::string_view::npos) {
    if (Fails) run.fail("substring not found");
    return Value::integer(-1);
  }
  return Value::integer(Integer{part->offset} + count_code_points(part->text.substr(0, at)));
}

Value count(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "count", std::move(arguments), {"sub", "start", "end"}, 1);
  const std::string_view wanted = given.text(0, "");
  run.budget().work(TextSearch::characters(wanted, self.bytes) / 32);
  const std::optional<Part> part = part_of(run, self, given, 1);
  if (!part) return Value::integer(0);
  if (wanted.empty()) return Value::integer(static_cast<Integer>(count_code_points(part->text)) + 1);
  Integer found = 0;
  const TextSearch search(wanted);
  for (std::size_t at = search.find(part->text); at != std::string_view::npos;
       at = search.find(part->text, at + wanted.size())) {
    ++found;
  }
  return Value::integer(found);
}

template <bool AtEnd>
Value starts_or_ends(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, AtEnd ? "endswith" : "startswith", std::move(arguments), {"prefix", "start", "end"}, 1);
  const std::optional<Part> part = part_of(run, self, given, 1);
  const auto holds = [&](const Value& affix) {
    if (affix.is_undefined()) run.fail(affix.undefined_message());
    if (!affix.is_text()) run.fail("startswith and endswith need a string or a tuple of strings");
    run.budget().work(1 + affix.bytes().size() / 64);
    return part && (AtEnd ? part->text.ends_with(affix.bytes()) : part->text.starts_with(affix.bytes()));
  };
  if (!given[0].is_tuple()) return Value::boolean(holds(given[0]));
  for (const Value& affix : given[0].sequence().items) {
    if (holds(affix)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

template <bool AtEnd>
Value remove_affix(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, AtEnd ? "removesuffix" : "removeprefix", std::move(arguments), {"affix"}, 1);
  const std::string_view text = self.bytes, affix = given.text(0, "");
  if (!AtEnd && text.starts_with(affix)) return like(run, self, text.substr(affix.size()));
  if (AtEnd && text.ends_with(affix)) return like(run, self, text.substr(0, text.size() - affix.size()));
  return like(run, self, text);
}

// The argument as a text; markup takes any value, and escapes it.
std::string for_markup(Rendering& run, const Text& self, const Value& value, const Parameters& given, std::size_t i) {
  if (value.is_text()) run.budget().work(value.bytes().size() / 32);
  if (!self.is_markup) return std::string(given.text(i, ""));
  if (value.is_text() && value.text().is_markup) return std::string(value.bytes());
  return escaped_markup(run, text_of(run, value));
}

Value replace(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "replace", std::move(arguments), {"old", "new", "count"}, 2);
  const std::string by = for_markup(run, self, given[1], given, 1);
  return like(run, self, replaced(run, self.bytes, given.text(0, ""), by, given.integer(2, -1)));
}

Value list_of(Rendering& run, const Text& self, const std::vector<std::string_view>& parts) {
  Values items;
  items.reserve(parts.size());
  for (const std::string_view part : parts) items.push_back(like(run, self, part));
  return make_list(run.budget(), std::move(items));
}

// str.split() and str.rsplit() without a separator.
std::vector<std::string_view> split_at_spaces(std::string_view text, Integer limit, bool from_right) {
  std::vector<std::string_view> parts;
  while (true) {
    text = stripped(text, nullptr, !from_right, from_right);
    if (text.empty()) break;
    if (limit >= 0 && static_cast<Integer>(parts.size()) >= limit) {
      parts.push_back(text);
      break;
    }
    std::size_t at = from_right ? text.size() : 0;
    while (from_right ? at > 0 : at < text.size()) {
      std::size_t next = at;
      if (from_right) {
        do --next;
        while (!starts_code_point(text[next]));
        if (is_space(decode_utf8(text, next).value)) break;
      } else {
        const CodePoint point = decode_utf8(text, at);
        if (is_space(point.value)) break;
        next = at + point.length;
      }
      at = next;
    }
    parts.push_back(from_right ? text.substr(at) : text.substr(0, at));
    text = from_right ? text.substr(0, at) : text.substr(at);
  }
  if (from_right) std::ranges::reverse(parts);
  return parts;
}

template <bool FromRight>
Value split(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "split", std::move(arguments), {"sep", "maxsplit"});
  const Integer limit = given.integer(1, -1);
  run.budget().work(self.bytes.size() / 8);
  if (!given.is_set(0)) return list_of(run, self, split_at_spaces(self.bytes, limit, FromRight));
  const std::string_view separator = given.text(0, "");
  run.budget().work(TextSearch::characters(separator, "") / 32);
  if (separator.empty()) run.fail("empty separator");
  std::vector<std::string_view> parts;
  std::string_view rest = self.bytes;
  const TextSearch search(separator);
  while (limit < 0 || static_cast<Integer>(parts.size()) < limit) {
    const std::size_t at = FromRight ? search.find_last(rest) : search.find(rest);
    if (at == std::string_view::npos) break;
    run.budget().work(4);
    parts.push_back(FromRight ? rest.substr(at + separator.size()) : rest.substr(0, at));
    rest = FromRight ? rest.substr(0, at) : rest.substr(at + separator.size());
  }
  parts.push_back(rest);
  if (FromRight) std::ranges::reverse(parts);
  return list_of(run, self, parts);
}

Value splitlines(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "splitlines", std::move(arguments), {"keepends"});
  run.budget().work(self.bytes.size() / 8);
  return list_of(run, self, split_lines(self.bytes, given.integer(0, 0) != 0));
}

template <bool FromRight>
Value partition(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "partition", std::move(arguments), {"sep"}, 1);
  const std::string_view separator = given.text(0, ""), text = self.bytes;
  if (separator.empty()) run.fail("empty separator");
  run.budget().work(TextSearch::characters(separator, text) / 32);
  const TextSearch search(separator);
  const std::size_t at = FromRight ? search.find_last(text) : search.find(text);
  std::string_view before = FromRight ? std::string_view() : text, between,
                   after = FromRight ? text : std::string_view();
  if (at != std::string_view::npos) {
    before = text.substr(0, at);
    between = separator;
    after = text.substr(at + separator.size());
  }
  return make_tuple(run.budget(), {like(run, self, before), like(run, self, between), like(run, self, after)});
}

Value join(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "join", std::move(arguments), {"iterable"}, 1);
  Builder out(run.budget());
  const IteratorPtr items = iterate(run, given[0]);
  bool is_first = true;
  while (const std::optional<Value> item = items->next(run)) {
    if (item->is_undefined() && !self.is_markup) run.fail(item->undefined_message());
    if (!item->is_text() && !self.is_markup) run.fail("join needs strings, not '", type_name(*item), "'");
    if (!is_first) out.append(self.bytes);
    is_first = false;
    if (self.is_markup && !(item->is_text() && item->text().is_markup)) {
      out.append(escaped_markup(run, text_of(run, *item)));
    } else {
      out.append(item->bytes());
    }
    run.budget().work();
  }
  return like(run, self, out.take());
}

// left and right: how many fill characters of the missing ones.
template <typename Share>
Value padded(Rendering& run, const Text& self, Arguments arguments, Share share) {
  const Parameters given(run, "ljust, rjust and center", std::move(arguments), {"width", "fillchar"}, 1);
  const std::string fill = given.has(1) ? for_markup(run, self, given[1], given, 1) : " ";
  if (count_code_points(fill) != 1) run.fail("the fill character must be exactly one character long");
  const std::size_t width = given.size(0, 0);
  const std::size_t missing = width > self.length ? width - self.length : 0;
  const std::size_t left = share(missing, width);
  Builder out(run.budget());
  out.append_repeated(fill, left);
  out.append(self.bytes);
  out.append_repeated(fill, missing - left);
  return like(run, self, out.take());
}

Value ljust(Rendering& run, const Text& self, Arguments arguments) {
  return padded(run, self, std::move(arguments), [](std::size_t, std::size_t) { return std::size_t{0}; });
}
Value rjust(Rendering& run, const Text& self, Arguments arguments) {
  return padded(run, self, std::move(arguments), [](std::size_t missing, std::size_t) { return missing; });
}
Value center(Rendering& run, const Text& self, Arguments arguments) {
  return padded(run, self, std::move(arguments),
                [](std::size_t missing, std::size_t width) { return missing / 2 + (missing & width & 1); });
}

Value zfill(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "zfill", std::move(arguments), {"width"}, 1);
  const std::size_t width = given.size(0, 0);
  const bool has_sign = self.bytes.starts_with('-') || self.bytes.starts_with('+');
  Builder out(run.budget());
  if (has_sign) out.append(self.bytes[0]);
  out.append_repeated("0", width > self.length ? width - self.length : 0);
  out.append(std::string_view(self.bytes).substr(has_sign ? 1 : 0));
  return like(run, self, out.take());
}

Value expandtabs(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "expandtabs", std::move(arguments), {"tabsize"});
  const std::size_t size = given.size(0, 8);
  Builder out(run.budget());
  std::size_t column = 0;
  for (const char c : self.bytes) {
    if (c == '\t') {
      const std::size_t spaces = size == 0 ? 0 : size - column % size;
      out.append_repeated(" ", spaces);
      column += spaces;
      continue;
    }
    out.append(c);
    if (c == '\n' || c == '\r') {
      column = 0;
    } else if (starts_code_point(c)) {
      ++column;
    }
  }
  run.budget().work(self.bytes.size() / 8);
  return like(run, self, out.take());
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as every Method
Value format(Rendering& run, const Text& self, Arguments arguments) { return format_text(run, self, arguments); }

// What str.maketrans gives: code points by their numbers.
Value maketrans(Rendering& run, const Text&, Arguments arguments) {
  const Parameters given(run, "maketrans", std::move(arguments), {"x", "y", "z"}, 1);
  MappingBuilder table(run);
  const auto number = [](char32_t c) { return Value::integer(static_cast<Integer>(c)); };
  if (given.has(1)) {
    const std::string_view from = given.text(0, ""), to = given.text(1, "");
    if (count_code_points(from) != count_code_points(to)) {
      run.fail("the first two arguments of maketrans must have equal length");
    }
    for (std::size_t i = 0, j = 0; i < from.size();) {
      const CodePoint key = decode_utf8(from, i), value = decode_utf8(to, j);
      table.set(number(key.value), number(value.value));
      i += key.length;
      j += value.length;
    }
    const std::string_view removed = given.text(2, "");
    for (std::size_t i = 0; i < removed.size(); i += decode_utf8(removed, i).length) {
      table.set(number(decode_utf8(removed, i).value), Value::none());
    }
    return table.take();
  }
  if (!given[0].is_mapping() || given.has(2)) run.fail("maketrans needs a dict, or two strings");
  for (const auto& [key, value] : given[0].mapping().entries()) {
    if (key.is_text() && key.text().length != 1) run.fail("keys of maketrans must have length 1");
    if (!key.is_text() && !key.is_integral()) run.fail("keys of maketrans must be strings or integers");
    table.set(key.is_text() ? number(decode_utf8(key.bytes(), 0).value) : key, value);
  }
  return table.take();
}

// What a table of translate says about a character; missing if nothing.
Value translation(Rendering& run, const Value& table, char32_t c) {
  run.budget().work();
  if (table.is_undefined()) run.fail(table.undefined_message());
  if (table.is_mapping()) {
    const Value* found = table.mapping().find(run, Value::integer(static_cast<Integer>(c)));
    return found == nullptr ? Value() : *found;
  }
  if (table.is_sequence()) return c < table.sequence().items.size() ? table.sequence().items[c] : Value();
  if (!table.is_text()) run.fail("translate needs a table, not '", type_name(table), "'");
  if (c >= table.text().length) return {};
  return make_text(run.budget(), std::string(code_points(run, table.text(), c, std::size_t{c} + 1)));
}

Value translate(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "translate", std::move(arguments), {"table"}, 1);
  Builder out(run.budget());
  for (std::size_t at = 0; at < self.bytes.size();) {
    const CodePoint point = decode_utf8(self.bytes, at);
    const Value by = translation(run, given[0], point.value);
    if (by.is_missing()) {
      out.append(std::string_view(self.bytes).substr(at, point.length));
    } else if (by.is_text()) {
      out.append(by.bytes());
    } else if (by.is_integral()) {
      const Integer code = by.integer();
      if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        run.fail("character mapping must be in range(0x110000), without surrogates");
      }
      std::string text;
      append_utf8(text, static_cast<char32_t>(code));
      out.append(text);
    } else if (!by.is_none()) {
      run.fail("character mapping must return an integer, none or a string, not '", type_name(by), "'");
    }
    at += point.length;
  }
  return like(run, self, out.take());
}

// Chat templates have no bytes.
// NOLINTNEXTLINE(performance-unnecessary-value-param): as every Method
Value encode(Rendering& run, const Text&, Arguments) {
  run.fail("the method encode, which makes bytes; chat templates have only text");
}

Value striptags(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, std::move(arguments));
  return make_text(run.budget(), without_tags(run, self.bytes));
}

Value unescape(Rendering& run, const Text& self, Arguments arguments) {
  require_nothing(run, std::move(arguments));
  run.budget().work(self.bytes.size() / 8);
  return make_text(run.budget(), without_references(self.bytes));
}

Value format_map(Rendering& run, const Text& self, Arguments arguments) {
  const Parameters given(run, "format_map", std::move(arguments), {"mapping"}, 1);
  if (!given[0].is_mapping()) {
    if (self.bytes.find_first_of("{}") == std::string::npos) return like(run, self, self.bytes);
    run.fail("format_map needs a mapping");
  }
  Arguments named;
  for (const auto& [key, value] : given[0].mapping().entries()) {
    if (!key.is_text()) continue;
    run.budget().work(1 + key.bytes().size() / 32);
    named.named.emplace_back(key.bytes(), value);
  }
  return format_text(run, self, named);
}

struct NamedMethod {
  std::string_view name;
  Method method;
  enum class Takes : std::uint8_t { positions, names } takes = Takes::positions;  // names: keyword arguments too
  bool is_of_markup = false;
};
constexpr auto kNames = NamedMethod::Takes::names;

constexpr NamedMethod kMethods[] = {
    // sorted
    {"capitalize", mapped<capitalized_text>},
    {"casefold", mapped<folded_text>},
    {"center", center},
    {"count", count},
    {"encode", encode, kNames},
    {"endswith", starts_or_ends<true>},
    {"expandtabs", expandtabs, kNames},
    {"find", find<false, false>},
    {"format", format, kNames},
    {"format_map", format_map},
    {"index", find<false, true>},
    {"isalnum", all_are<is_alphanumeric>},
    {"isalpha", all_are<is_alphabetic>},
    {"isascii", is_ascii_only},
    {"isdecimal", all_are<is_decimal>},
    {"isdigit", all_are<is_digit>},
    {"isidentifier", is_name},
    {"islower", cased_are<is_lower, is_upper>},
    {"isnumeric", all_are<is_numeric>},
    {"isprintable", is_all_printable},
    {"isspace", all_are<is_space>},
    {"istitle", is_titled},
    {"isupper", cased_are<is_upper, is_lower>},
    {"join", join},
    {"ljust", ljust},
    {"lower", mapped<lower_text>},
    {"lstrip", strip<true, false>},
    {"maketrans", maketrans},
    {"partition", partition<false>},
    {"removeprefix", remove_affix<false>},
    {"removesuffix", remove_affix<true>},
    {"replace", replace},
    {"rfind", find<true, false>},
    {"rindex", find<true, true>},
    {"rjust", rjust},
    {"rpartition", partition<true>},
    {"rsplit", split<true>, kNames},
    {"rstrip", strip<false, true>},
    {"split", split<false>, kNames},
    {"splitlines", splitlines, kNames},
    {"startswith", starts_or_ends<false>},
    {"strip", strip<true, true>},
    {"striptags", striptags, NamedMethod::Takes::positions, true},
    {"swapcase", mapped<swapped_text>},
    {"title", mapped<titled_text>},
    {"translate", translate},
    {"unescape", unescape, NamedMethod::Takes::positions, true},
    {"upper", mapped<upper_text>},
    {"zfill", zfill},
};

}  // namespace

std::optional<Value> text_method(Rendering& run, const Value& text, std::string_view name) {
  const NamedMethod* found = std::ranges::lower_bound(kMethods, name, {}, &NamedMethod::name);
  if (found == std::end(kMethods) || found->name != name) return std::nullopt;
  if (found->is_of_markup && !text.text().is_markup) return std::nullopt;
  run.budget().work();
  return Value(std::shared_ptr<Object>(
      std::make_shared<Function>(std::string(name), [text, found](Rendering& inner, Arguments arguments) {
        if (found->takes == NamedMethod::Takes::positions && !arguments.named.empty()) {
          inner.fail("str.", found->name, "() takes no keyword arguments");
        }
        return found->method(inner, text.text(), std::move(arguments));
      })));
}

}  // namespace alate::tokenizers::chat_templates
