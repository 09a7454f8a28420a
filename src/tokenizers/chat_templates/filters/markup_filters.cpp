// Filters for HTML and addresses: escape, safe, striptags, urlencode, urlize, xmlattr.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads/cancellation.h"
#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers::chat_templates {
namespace {

Value escape(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "escape", std::move(arguments), {});
  if (input.is_text() && input.text().is_markup) return input;
  return make_text(run.budget(), escaped_markup(run, text_of(run, input)), true);
}

Value forceescape(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "forceescape", std::move(arguments), {});
  return make_text(run.budget(), escaped_markup(run, text_of(run, input)), true);
}

Value safe(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "safe", std::move(arguments), {});
  return make_text(run.budget(), text_of(run, input), true);
}

Value striptags(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "striptags", std::move(arguments), {});
  return make_text(run.budget(), without_tags(run, text_of(run, input)));
}

void append_url(Builder& out, std::string_view text, bool for_query) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                          c == '.' || c == '-' || c == '~' || (c == '/' && !for_query);
    if (is_plain) {
      out.append(c);
    } else if (c == ' ' && for_query) {
      out.append('+');
    } else {
      const char escape[] = {'%', kDigits[byte >> 4], kDigits[byte & 15]};
      out.append(std::string_view(escape, 3));
    }
  }
  out.budget().work(text.size() / 4);
}

Value urlencode(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "urlencode", std::move(arguments), {});
  Builder out(run.budget());
  if (input.is_text() || try_iterate(run, input) == nullptr) {
    append_url(out, text_of(run, input), false);
    return make_text(run.budget(), out.take());
  }
  const Value pairs = input.is_mapping() ? Value(std::shared_ptr<Object>(std::make_shared<MappingView>(
                                               input.shared_mapping(), MappingView::Part::items)))
                                         : input;
  bool is_first = true;
  for (const Value& pair : all_items(run, pairs)) {
    const Values parts = all_items(run, pair);
    if (parts.size() != 2) run.fail("urlencode needs pairs");
    if (!is_first) out.append('&');
    is_first = false;
    append_url(out, text_of(run, parts[0]), true);
    out.append('=');
    append_url(out, text_of(run, parts[1]), true);
  }
  return make_text(run.budget(), out.take());
}

Value xmlattr(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "xmlattr", std::move(arguments), {"autospace"});
  if (!input.is_mapping()) run.fail("xmlattr needs a mapping");
  Builder out(run.budget());
  for (const auto& [key, value] : input.mapping().entries()) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_text()) run.fail("an attribute's name must be a string");
    constexpr std::string_view kSeparators = " \t\n\r\f\v/>=";
    if (key.bytes().find_first_of(kSeparators) != std::string_view::npos) {
      run.fail("invalid character in an attribute's name");
    }
    if (out.size() > 0 || given.flag(0, true)) out.append(' ');
    out.append(escaped_markup(run, key.bytes()));
    out.append("=\"");
    out.append(value.is_text() && value.text().is_markup ? std::string(value.bytes())
                                                         : escaped_markup(run, text_of(run, value)));
    out.append('"');
  }
  return make_text(run.budget(), out.take());
}

bool matches(const Pattern& pattern, std::string_view text) {
  std::vector<Span> found;
  WorkBudget budget(base::Cancellation::never(), text.size());
  pattern.find_all(text, found, budget);
  return !found.empty();
}

// What jinja2.utils takes for an address on the web, and for one of e-mail. Letters of any case, which are more than
// ASCII's where Python folds them.
bool is_web_address(std::string_view text) {
  static const Pattern pattern(
      {R"(\A(?:(?:(?i:https?)://|(?i:www)\.)(?:[\p{L}\p{N}_%-]+\.)*(?:[A-Za-zıſKİ]{2,63}|(?i:xn)--[\p{L}\p{N}_%]{2,59}))"
       R"(|(?:[\p{L}\p{N}_%-]{2,63}\.)+(?i:com|net|int|edu|gov|org|info|mil))"
       R"(|(?i:https?)://(?:\p{Nd}{1,3}(?:\.\p{Nd}{1,3}){3})"
       R"(|\[(?:[\p{Nd}a-fA-F]{0,4}:){2}(?:[\p{Nd}a-fA-F]{0,4}:?){1,6}\]))(?::\p{Nd}{1,5})?(?:[/?#]\S*)?\z)",
       true},
      "urlize");
  return matches(pattern, text);
}

bool is_mail_address(std::string_view text) {
  static const Pattern pattern({R"(\A\S+@[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.[\p{L}\p{N}_]+\z)", true}, "urlize");
  return matches(pattern, text);
}

struct LinkStyle {
  std::string attributes;  // rel and target
  Value limit;             // characters of an address that are shown; read when there is one
  std::vector<std::string> schemes;
};

// One of "(", "<", "&lt;" at the beginning, or of ")", ">", ".", ",", "&gt;" at the end: its length, otherwise 0.
std::size_t opening_mark(std::string_view text) {
  if (text.starts_with("&lt;")) return 4;
  return text.starts_with('(') || text.starts_with('<') ? 1 : 0;
}
std::size_t closing_mark(std::string_view text) {
  if (text.ends_with("&gt;")) return 4;
  return !text.empty() && std::string_view(")>.,").find(text.back()) != std::string_view::npos ? 1 : 0;
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::string shortened(Rendering& run, std::string_view text, const Value& limit) {
  if (limit.is_missing()) return std::string(text);
  if (!limit.is_integral()) run.fail("urlize needs an integer to shorten addresses, not '", type_name(limit), "'");
  const auto length = static_cast<Integer>(count_code_points(text));
  if (length <= limit.integer()) return std::string(text);
  const Integer kept = limit.integer() < 0 ? std::max(length + limit.integer(), Integer{0}) : limit.integer();
  std::size_t end = 0;
  for (Integer i = 0; i < kept; ++i) end += decode_utf8(text, end).length;
  return std::string(text.substr(0, end)) + "...";
}

std::string linked(Rendering& run, std::string_view word, const LinkStyle& style) {
  const auto link = [&](std::string_view before, std::string_view address, std::string_view shown,
                        std::string_view attributes) {
    return "<a href=\"" + std::string(before) + std::string(address) + "\"" + std::string(attributes) + ">" +
           std::string(shown) + "</a>";
  };
  if (is_web_address(word)) {
    const bool has_scheme = word.starts_with("https://") || word.starts_with("http://");
    return link(has_scheme ? "" : "https://", word, shortened(run, word, style.limit), style.attributes);
  }
  if (word.starts_with("mailto:") && is_mail_address(word.substr(7))) return link("", word, word.substr(7), "");
  if (word.find('@') != std::string_view::npos && !word.starts_with("www.") && !word.starts_with('@') &&
      word.find(':') == std::string_view::npos && is_mail_address(word)) {
    return link("mailto:", word, word, "");
  }
  std::string text(word);
  for (const std::string& scheme : style.schemes) {
    if (text != scheme && text.starts_with(scheme)) text = link("", text, text, style.attributes);
  }
  return text;
}

// A word without the brackets around it and the marks at its end, as a link if it is an address.
std::string linked_word(Rendering& run, std::string_view word, const LinkStyle& style) {
  std::size_t begin = 0, end = word.size();
  while (const std::size_t size = opening_mark(word.substr(begin))) begin += size;
  while (const std::size_t size = closing_mark(word.substr(begin, end - begin))) end -= size;
  // A bracket that is opened inside takes its end from the marks.
  for (const auto& [open, close] :
       {std::pair<std::string_view, std::string_view>{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}}) {
    const std::size_t opened = occurrences(word.substr(begin, end - begin), open);
    if (opened <= occurrences(word.substr(begin, end - begin), close)) continue;
    const std::size_t moved = std::min(opened, occurrences(word.substr(end), close));
    for (std::size_t i = 0; i < moved; ++i) end = word.find(close, end) + close.size();
  }
  return std::string(word.substr(0, begin)) + linked(run, word.substr(begin, end - begin), style) +
         std::string(word.substr(end));
}

void add_words(Rendering& run, std::set<std::string>& words, std::string_view text) {
  run.budget().work(text.size() / 8);
  while (!(text = stripped(text, nullptr, true, false)).empty()) {
    std::size_t end = 0;
    while (end < text.size() && !is_space(decode_utf8(text, end).value)) end += decode_utf8(text, end).length;
    words.emplace(text.substr(0, end));
    text.remove_prefix(end);
  }
}

LinkStyle link_style(Rendering& run, const Parameters& given) {
  LinkStyle style;
  if (given.is_set(0)) style.limit = given[0];
  std::set<std::string> relations{"noopener"};
  if (given.flag(1, false)) relations.emplace("nofollow");
  if (given.is_set(3)) add_words(run, relations, given.text(3, ""));
  std::string all;
  for (const std::string& relation : relations) all += (all.empty() ? "" : " ") + relation;
  style.attributes = " rel=\"" + escaped_markup(run, all) + "\"";
  if (given.is_set(2) && truth(run, given[2])) {
    const std::string target = text_of(run, given[2]);
    const bool is_markup = given[2].is_text() && given[2].text().is_markup;
    style.attributes += " target=\"" + (is_markup ? target : escaped_markup(run, target)) + "\"";
  }
  if (!given.is_set(4)) return style;
  static const Pattern scheme_pattern({R"(\A[\p{L}\p{N}_.+-]{2,}:/{0,2}\z)", true}, "urlize");
  constexpr std::size_t kMaxScheme = 1000;
  for (const Value& scheme : all_items(run, given[4])) {
    if (scheme.is_text()) run.budget().work(16 + scheme.bytes().size());
    if (!scheme.is_text() || scheme.bytes().size() > kMaxScheme || !matches(scheme_pattern, scheme.bytes())) {
      run.fail("urlize: extra_schemes has an item that is no prefix of addresses");
    }
    style.schemes.emplace_back(scheme.bytes());
  }
  return style;
}

Value urlize(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "urlize", std::move(arguments),
                         {"trim_url_limit", "nofollow", "target", "rel", "extra_schemes"});
  const LinkStyle style = link_style(run, given);
  const bool is_markup = input.is_text() && input.text().is_markup;
  const std::string text = is_markup ? std::string(input.bytes()) : escaped_markup(run, text_of(run, input));
  Builder out(run.budget());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !is_space(decode_utf8(text, end).value)) end += decode_utf8(text, end).length;
    // A search goes back for each letter at worst.
    run.budget().work(16 + (end - at) * (end - at + style.schemes.size()) / 16);
    out.append(linked_word(run, std::string_view(text).substr(at, end - at), style));
    at = end;
    while (end < text.size() && is_space(decode_utf8(text, end).value)) end += decode_utf8(text, end).length;
    out.append(std::string_view(text).substr(at, end - at));
    at = end;
  }
  return make_text(run.budget(), out.take());
}

constexpr Filter kFilters[] = {
    {"e", escape},      {"escape", escape},       {"forceescape", forceescape},
    {"safe", safe},     {"striptags", striptags}, {"urlencode", urlencode},
    {"urlize", urlize}, {"xmlattr", xmlattr},
};

}  // namespace

std::span<const Filter> markup_filters() { return kFilters; }

}  // namespace alate::tokenizers::chat_templates
