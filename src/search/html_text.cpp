#include "search/html_text.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "search/html/character_references.h"
#include "search/html/html_elements.h"
#include "search/html/html_tokens.h"
#include "search/html/open_elements.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

constexpr std::string_view kNoBreakSpace = "\u00A0", kSoftHyphen = "\u00AD";

class PageReader {
 public:
  explicit PageReader(std::string_view page) : page_(page), tokens_(page) {}

  HtmlText read() {
    while (const HtmlToken* token = tokens_.next()) {
      advance(token->begin);
      if (token->kind == HtmlToken::Kind::text) {
        if (!open_.is_hidden()) add_text(*token);
      } else if (token->kind == HtmlToken::Kind::start_tag) {
        start(*token);
      } else {
        end(*token);
      }
      tokens_.allow_cdata(open_.is_foreign());
    }
    return std::move(out_);
  }

 private:
  void advance(std::size_t to) {
    if (to <= at_) return;
    line_ += static_cast<std::size_t>(std::ranges::count(page_.substr(at_, to - at_), '\n'));
    at_ = to;
  }

  void start(const HtmlToken& tag) {
    const bool was_foreign = open_.is_foreign(), was_hidden = open_.is_hidden();
    open_.start(tag);
    if (!was_foreign) {
      if (const std::optional<RawContent> raw = html_raw_content(tag.name)) tokens_.read_raw(*raw, tag.name);
    }
    if (was_hidden && open_.is_hidden()) return;
    break_at(tag);
    const bool is_heading = (html_properties(html_number(tag.name)) & kHtmlHeading) != 0;
    if (is_heading && !open_.is_hidden()) heading_ = static_cast<std::size_t>(tag.name[1] - '0');
  }

  void end(const HtmlToken& tag) {
    open_.end(tag);
    if (open_.is_hidden()) return;
    break_at(tag);
    if ((html_properties(html_number(tag.name)) & kHtmlHeading) != 0) heading_ = 0;
  }

  void break_at(const HtmlToken& tag) {
    if (tag.name == "br") {
      wanted_breaks_ = std::max<std::size_t>(wanted_breaks_, 1);
      indentation_.clear();
    } else if ((html_properties(html_number(tag.name)) & kHtmlBlock) != 0) {
      wanted_breaks_ = 2;
      indentation_.clear();
    }
  }

  void add_text(const HtmlToken& token) {
    std::string_view rest = page_.substr(token.begin, token.end - token.begin);
    while (!rest.empty()) {
      std::size_t length = tokenizers::decode_utf8(rest, 0).length;
      const auto reference = token.has_references && rest.front() == '&' ? character_reference(rest) : std::nullopt;
      if (reference) {
        length = reference->length;
        for (std::size_t at = 0; at < reference->text.size();) {
          const std::size_t part = tokenizers::decode_utf8(reference->text, at).length;
          add(std::string_view(reference->text).substr(at, part));
          at += part;
        }
      } else {
        add(rest.substr(0, length));
      }
      advance(at_ + length);
      rest.remove_prefix(length);
    }
  }

  // Appends a character; white space becomes one space, except where it is kept.
  void add(std::string_view character) {
    if (character == kSoftHyphen || character.front() == '\0') return;
    if (is_html_space(character.front())) return add_space(character.front());
    if (character == kNoBreakSpace) return add_space(' ');
    if (!out_.text.empty() && wanted_breaks_ > 0) {
      out_.text.append(wanted_breaks_, '\n');
    } else if (!out_.text.empty() && is_space_wanted_) {
      out_.text += ' ';
    }
    if (wanted_breaks_ > 0 || out_.lines.empty() || out_.lines.back().second != line_)
      out_.lines.emplace_back(out_.text.size(), line_);
    if (heading_ > 0) out_.text += std::string(heading_, '#') + ' ';
    if (!out_.text.empty()) out_.text += indentation_;
    indentation_.clear();
    heading_ = wanted_breaks_ = 0;
    is_space_wanted_ = false;
    out_.text += character;
  }

  void add_space(char space) {
    if (space == '\r') space = '\n';
    if (!open_.is_verbatim()) {
      is_space_wanted_ = true;
    } else if (wanted_breaks_ == 0) {
      if (space != '\n' || !is_line_end_taken()) out_.text += space;
    } else if (space == '\n') {
      indentation_.clear();  // empty lines at the start
    } else {
      indentation_ += space;
    }
  }

  // Whether the line feed here is the second half of the end of a line, whose first half was taken for it.
  bool is_line_end_taken() const { return at_ > 0 && page_[at_] == '\n' && page_[at_ - 1] == '\r'; }

  std::string_view page_;
  HtmlTokens tokens_;
  OpenElements open_;
  std::size_t at_ = 0, line_ = 1;
  HtmlText out_;
  std::size_t wanted_breaks_ = 0;  // before the next character
  bool is_space_wanted_ = false;
  std::string indentation_;  // of the first line of a text that keeps its white space
  std::size_t heading_ = 0;  // the level of the heading that the next character begins
};

}  // namespace

std::size_t HtmlText::line_of(std::size_t byte) const {
  const auto behind = std::ranges::upper_bound(lines, byte, {}, &std::pair<std::size_t, std::size_t>::first);
  return behind == lines.begin() ? 1 : std::prev(behind)->second;
}

HtmlText text_of_html(std::string_view html) { return PageReader(html).read(); }

}  // namespace alate::search
