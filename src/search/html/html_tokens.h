// The tokens of a page in HTML: tags and texts (section 13.2.5 of the HTML standard).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::search {

/// White space of HTML.
constexpr bool is_html_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

struct HtmlToken {
  enum class Kind : std::uint8_t { text, start_tag, end_tag };

  struct Attribute {
    std::string name;        // in lower case
    std::string_view value;  // with its character references
  };

  Kind kind = Kind::text;
  bool has_references = true;         // of a text: whether & begins a character reference
  bool is_self_closing = false;       // of a tag
  std::size_t begin = 0, end = 0;     // bytes of the page
  std::string name;                   // of a tag, in lower case
  std::vector<Attribute> attributes;  // of a start tag; of those with one name the first counts

  /// The value with its references replaced; nothing where the tag has no such attribute.
  std::optional<std::string> attribute(std::string_view wanted) const;
};

/// What stands inside of an element whose text has no tags.
enum class RawContent : std::uint8_t { text, text_with_references, script, rest_of_page };

/// Reads a page once from its start; comments and declarations are left out. Takes any bytes for a page, in linear
/// time. A view of the page.
class HtmlTokens {
 public:
  explicit HtmlTokens(std::string_view page) : page_(page) {}

  /// Nothing at the end. The token is valid until the next call.
  const HtmlToken* next();
  /// After the start tag of such an element: the next token is its text, up to its end tag.
  void read_raw(RawContent content, std::string_view name);
  /// Whether <![CDATA[ begins a text, as inside of <svg>, and not a comment.
  void allow_cdata(bool allowed) { allows_cdata_ = allowed; }

 private:
  bool read_markup();
  bool read_declaration();
  bool read_tag();
  void read_attributes();
  std::size_t end_of_raw_text(std::string_view name) const;
  std::size_t end_of_script() const;
  bool is_tag_name_at(std::size_t at, std::string_view name) const;
  std::size_t behind(std::string_view mark, std::size_t from) const;
  std::size_t end_of_comment() const;
  void add_text(std::size_t end, bool has_references);
  void skip_spaces();

  std::string_view page_;
  std::size_t at_ = 0;
  bool allows_cdata_ = false;
  std::optional<RawContent> raw_;
  std::string raw_name_;
  HtmlToken token_;
};

}  // namespace alate::search
