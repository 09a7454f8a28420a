#include "search/html/html_tokens.h"

#include <algorithm>

#include "search/html/character_references.h"

namespace alate::search {
namespace {

constexpr std::size_t kMostAttributes = 256;  // of a tag

bool is_html_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

char html_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::optional<std::string> HtmlToken::attribute(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &Attribute::name);
  return found == attributes.end() ? std::nullopt : std::optional(attribute_text(found->value));
}

const HtmlToken* HtmlTokens::next() {
  if (raw_) {
    const RawContent content = *raw_;
    raw_.reset();
    std::size_t end = page_.size();
    if (content == RawContent::script) end = end_of_script();
    if (content == RawContent::text || content == RawContent::text_with_references) end = end_of_raw_text(raw_name_);
    if (end > at_) {
      add_text(end, content == RawContent::text_with_references);
      return &token_;
    }
  }
  while (at_ < page_.size()) {
    if (page_[at_] == '<') {
      token_.kind = HtmlToken::Kind::text;
      token_.end = 0;
      if (read_markup()) {
        if (token_.end > 0) return &token_;
        continue;
      }
    }
    // A text up to the next <; the first character may be one that begins nothing.
    add_text(std::min(page_.find('<', at_ + 1), page_.size()), true);
    return &token_;
  }
  return nullptr;
}

void HtmlTokens::read_raw(RawContent content, std::string_view name) {
  raw_ = content;
  raw_name_ = name;
}

void HtmlTokens::add_text(std::size_t end, bool has_references) {
  token_.kind = HtmlToken::Kind::text;
  token_.has_references = has_references;
  token_.begin = at_;
  token_.end = at_ = end;
}

// Behind the mark; the page's end where it does not come.
std::size_t HtmlTokens::behind(std::string_view mark, std::size_t from) const {
  const std::size_t found = page_.find(mark, std::min(from, page_.size()));
  return found == std::string_view::npos ? page_.size() : found + mark.size();
}

// Reads what < begins here; false where it is text. The token has an end if one was read.
bool HtmlTokens::read_markup() {
  const char next = at_ + 1 < page_.size() ? page_[at_ + 1] : ' ';
  if (next == '!') return read_declaration();
  if (next == '?') {
    at_ = behind(">", at_);
    return true;
  }
  if (is_html_letter(next)) return read_tag();
  if (next != '/') return false;
  const char after = at_ + 2 < page_.size() ? page_[at_ + 2] : '\0';
  if (is_html_letter(after)) return read_tag();
  if (at_ + 2 >= page_.size()) return false;
  at_ = behind(">", at_);  // </> is nothing, and </1> a comment
  return true;
}

std::size_t HtmlTokens::end_of_comment() const {
  const std::size_t begin = at_ + 4;
  const std::string_view rest = page_.substr(std::min(begin, page_.size()));
  if (rest.starts_with('>')) return begin + 1;
  if (rest.starts_with("->")) return begin + 2;
  for (std::size_t at = page_.find("--", begin); at != std::string_view::npos; at = page_.find("--", at + 1)) {
    const std::string_view end = page_.substr(at + 2, 2);
    if (end.starts_with('>')) return at + 3;
    if (end == "!>") return at + 4;
  }
  return page_.size();
}

bool HtmlTokens::read_declaration() {
  constexpr std::string_view kCdata = "<![CDATA[";
  const std::string_view rest = page_.substr(at_);
  if (rest.starts_with("<!--")) {
    at_ = end_of_comment();
  } else if (allows_cdata_ && rest.starts_with(kCdata)) {
    at_ += kCdata.size();
    const std::size_t end = std::min(page_.find("]]>", at_), page_.size());
    if (end > at_) add_text(end, false);
    at_ = std::min(end + 3, page_.size());
  } else {
    at_ = behind(">", at_);
  }
  return true;
}

bool HtmlTokens::read_tag() {
  const std::size_t begin = at_;
  const bool is_end = page_[at_ + 1] == '/';
  at_ += is_end ? 2 : 1;
  token_.kind = is_end ? HtmlToken::Kind::end_tag : HtmlToken::Kind::start_tag;
  token_.name.clear();
  for (; at_ < page_.size() && !is_html_space(page_[at_]) && page_[at_] != '/' && page_[at_] != '>'; ++at_)
    token_.name += html_lower(page_[at_]);
  token_.attributes.clear();
  token_.is_self_closing = false;
  read_attributes();
  if (token_.attributes.size() > kMostAttributes) token_.attributes.pop_back();
  if (at_ >= page_.size()) return true;  // a tag that does not end is nothing
  token_.begin = begin;
  token_.end = ++at_;
  return true;
}

void HtmlTokens::skip_spaces() {
  while (at_ < page_.size() && is_html_space(page_[at_])) ++at_;
}

// Up to the > that ends the tag.
void HtmlTokens::read_attributes() {
  const auto ends_name = [](char c) { return is_html_space(c) || c == '/' || c == '>' || c == '='; };
  for (;;) {
    skip_spaces();
    if (at_ >= page_.size() || page_[at_] == '>') return;
    if (page_[at_] == '/') {
      token_.is_self_closing = ++at_ < page_.size() && page_[at_] == '>';
      continue;
    }
    // Those beyond the limit are read into the last one, which counts for nothing.
    if (token_.attributes.size() <= kMostAttributes) token_.attributes.emplace_back();
    HtmlToken::Attribute& attribute = token_.attributes.back();
    attribute = {};
    do {
      attribute.name += html_lower(page_[at_++]);  // a first = is a part of the name
    } while (at_ < page_.size() && !ends_name(page_[at_]));
    skip_spaces();
    if (at_ >= page_.size() || page_[at_] != '=') continue;
    ++at_;
    skip_spaces();
    if (at_ >= page_.size()) return;
    const char quote = page_[at_];
    std::size_t end = at_;
    if (quote == '"' || quote == '\'') {
      end = std::min(page_.find(quote, ++at_), page_.size());
    } else {
      while (end < page_.size() && !is_html_space(page_[end]) && page_[end] != '>') ++end;
    }
    attribute.value = page_.substr(at_, end - at_);
    at_ = end;
    if ((quote == '"' || quote == '\'') && at_ < page_.size()) ++at_;
  }
}

// Whether the name of a tag stands here, and ends.
bool HtmlTokens::is_tag_name_at(std::size_t at, std::string_view name) const {
  const std::string_view found = page_.substr(std::min(at, page_.size()), name.size());
  if (!std::ranges::equal(found, name, {}, html_lower)) return false;
  const std::size_t end = at + name.size();
  return end < page_.size() && (is_html_space(page_[end]) || page_[end] == '/' || page_[end] == '>');
}

std::size_t HtmlTokens::end_of_raw_text(std::string_view name) const {
  for (std::size_t at = page_.find("</", at_); at != std::string_view::npos; at = page_.find("</", at + 2)) {
    if (is_tag_name_at(at + 2, name)) return at;
  }
  return page_.size();
}

// A script may hide its end tag in a comment with a script of its own (section 13.2.5.17, script data states).
std::size_t HtmlTokens::end_of_script() const {
  bool is_escaped = false, is_double = false;
  for (std::size_t at = at_; at < page_.size(); ++at) {
    const std::string_view rest = page_.substr(at, 4);
    if (is_escaped && rest.starts_with("-->")) is_escaped = is_double = false;
    if (rest.front() != '<') continue;
    if (!is_escaped && rest == "<!--") {
      is_escaped = true;
      at += 1;  // its own -- may be a part of the end: <!-->
    } else if (rest.starts_with("</") && is_tag_name_at(at + 2, "script")) {
      if (!is_double) return at;
      is_double = false;
    } else if (is_escaped && is_tag_name_at(at + 1, "script")) {
      is_double = true;
    }
  }
  return page_.size();
}

}  // namespace alate::search
