#include "search/html_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

constexpr std::size_t kLongestEntity = 12;  // with & and ;

struct Entity {
  std::string_view name;
  char32_t value;
};

constexpr std::array<Entity, 22> kEntities = {
    {{"amp", '&'},      {"lt", '<'},       {"gt", '>'},        {"quot", '"'},     {"apos", '\''},    {"nbsp", ' '},
     {"ndash", 0x2013}, {"mdash", 0x2014}, {"lsquo", 0x2018},  {"rsquo", 0x2019}, {"ldquo", 0x201C}, {"rdquo", 0x201D},
     {"laquo", 0xAB},   {"raquo", 0xBB},   {"hellip", 0x2026}, {"bull", 0x2022},  {"middot", 0xB7},  {"copy", 0xA9},
     {"reg", 0xAE},     {"trade", 0x2122}, {"deg", 0xB0},      {"euro", 0x20AC}}};

// Elements whose content is not shown, or is no text.
constexpr std::array<std::string_view, 9> kHidden = {"script", "style",  "template", "noscript", "svg",
                                                     "math",   "iframe", "object",   "select"};
// Elements that flow within a line; all others begin a block.
constexpr std::array<std::string_view, 32> kInline = {
    "a",    "abbr",  "acronym", "b",      "bdi", "bdo", "big",  "cite",  "code", "data", "del",
    "dfn",  "em",    "font",    "i",      "img", "ins", "kbd",  "label", "mark", "q",    "s",
    "samp", "small", "span",    "strong", "sub", "sup", "time", "tt",    "u",    "var"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool is_scalar(std::uint32_t c) { return c > 0 && c < 0x110000 && (c < 0xD800 || c > 0xDFFF); }

// &#8212; and &#x2014;
std::optional<char32_t> numeric_entity(std::string_view digits) {
  const bool is_hex = !digits.empty() && lower(digits.front()) == 'x';
  if (is_hex) digits.remove_prefix(1);
  if (digits.empty() || digits.size() > 7) return std::nullopt;
  std::uint32_t value = 0;
  for (const char digit : digits) {
    const char c = lower(digit);
    const bool is_decimal = c >= '0' && c <= '9';
    if (!is_decimal && !(is_hex && c >= 'a' && c <= 'f')) return std::nullopt;
    value = value * (is_hex ? 16 : 10) + static_cast<std::uint32_t>(is_decimal ? c - '0' : c - 'a' + 10);
  }
  return is_scalar(value) ? std::optional<char32_t>(value) : std::nullopt;
}

class Extractor {
 public:
  explicit Extractor(std::string_view html) : html_(html) {}

  HtmlText run() {
    while (at_ < html_.size()) {
      const char c = html_[at_];
      if (c == '<' && read_markup()) continue;
      if (c == '&' && read_entity()) continue;
      add(html_.substr(at_, 1));
      advance(at_ + 1);
    }
    return std::move(out_);
  }

 private:
  void advance(std::size_t to) {
    line_ += static_cast<std::size_t>(std::ranges::count(html_.substr(at_, to - at_), '\n'));
    at_ = to;
  }

  // The end of what begins here, behind `mark`; the page's where it does not come.
  std::size_t behind(std::string_view mark) const {
    const std::size_t found = html_.find(mark, at_);
    return found == std::string_view::npos ? html_.size() : found + mark.size();
  }

  // A comment, a declaration or a tag; false for a < that is text.
  bool read_markup() {
    const std::string_view rest = html_.substr(at_);
    if (rest.starts_with("<!--")) {
      advance(behind("-->"));
      return true;
    }
    const bool is_end = rest.starts_with("</");
    const std::size_t name_at = is_end ? 2 : 1;
    if (rest.size() > 1 && (rest[1] == '!' || rest[1] == '?')) {
      advance(behind(">"));
      return true;
    }
    if (rest.size() <= name_at || !is_letter(rest[name_at])) return false;
    std::string name;
    for (std::size_t i = name_at; i < rest.size() && !is_space(rest[i]) && rest[i] != '>' && rest[i] != '/'; ++i)
      name += lower(rest[i]);
    advance(end_of_tag());
    if (!is_end && is_one_of(name, kHidden)) {
      skip_to_end_of(name);
    } else if (name == "br") {
      wanted_breaks_ = std::max<std::size_t>(wanted_breaks_, 1);
    } else if (!is_one_of(name, kInline)) {
      begin_block(name, is_end);
    }
    return true;
  }

  // Behind the > that is in no attribute's value.
  std::size_t end_of_tag() const {
    char quote = 0;
    for (std::size_t i = at_; i < html_.size(); ++i) {
      const char c = html_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '>') {
        return i + 1;
      } else if ((c == '"' || c == '\'') && i > 0 && html_[i - 1] == '=') {
        quote = c;
      }
    }
    return html_.size();
  }

  void skip_to_end_of(const std::string& name) {
    std::size_t at = at_;
    while ((at = html_.find("</", at)) != std::string_view::npos) {
      at += 2;
      const std::string_view found = html_.substr(at, name.size());
      if (std::ranges::equal(found, name, {}, lower)) break;
    }
    advance(std::min(at, html_.size()));
    advance(behind(">"));
  }

  void begin_block(std::string_view name, bool is_end) {
    wanted_breaks_ = 2;
    const bool is_heading = name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
    heading_ = is_heading && !is_end ? static_cast<std::size_t>(name[1] - '0') : 0;
    if (name == "pre") is_verbatim_ = !is_end;
  }

  bool read_entity() {
    const std::string_view rest = html_.substr(at_, kLongestEntity);
    const std::size_t end = rest.find(';');
    if (end == std::string_view::npos || end < 2) return false;
    const std::string_view name = rest.substr(1, end - 1);
    std::optional<char32_t> value;
    if (name.front() == '#') {
      value = numeric_entity(name.substr(1));
    } else if (const auto found = std::ranges::find(kEntities, name, &Entity::name); found != kEntities.end()) {
      value = found->value;
    }
    if (!value) return false;
    std::string character;
    tokenizers::append_utf8(character, *value);
    add(character);
    advance(at_ + end + 1);
    return true;
  }

  // Appends a character; white space becomes one space, except in <pre>.
  void add(std::string_view character) {
    if (is_space(character.front())) {
      if (is_verbatim_ && wanted_breaks_ == 0) {
        out_.text += character;
      } else {
        is_space_wanted_ = true;
      }
      return;
    }
    if (!out_.text.empty() && wanted_breaks_ > 0) {
      out_.text.append(wanted_breaks_, '\n');
    } else if (!out_.text.empty() && is_space_wanted_) {
      out_.text += ' ';
    }
    if (wanted_breaks_ > 0 || out_.lines.empty() || out_.lines.back().second != line_)
      out_.lines.emplace_back(out_.text.size(), line_);
    if (heading_ > 0) out_.text += std::string(heading_, '#') + ' ';
    heading_ = wanted_breaks_ = 0;
    is_space_wanted_ = false;
    out_.text += character;
  }

  std::string_view html_;
  std::size_t at_ = 0, line_ = 1;
  HtmlText out_;
  std::size_t wanted_breaks_ = 0;  // before the next character
  bool is_space_wanted_ = false;
  bool is_verbatim_ = false;
  std::size_t heading_ = 0;  // the level of the heading that the next character begins
};

}  // namespace

std::size_t HtmlText::line_of(std::size_t byte) const {
  const auto behind = std::ranges::upper_bound(lines, byte, {}, &std::pair<std::size_t, std::size_t>::first);
  return behind == lines.begin() ? 1 : std::prev(behind)->second;
}

HtmlText text_of_html(std::string_view html) { return Extractor(html).run(); }

}  // namespace alate::search
