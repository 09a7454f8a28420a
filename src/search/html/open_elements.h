// The elements that are open at a place of a page: what is hidden there, and what the next tag ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "search/html/html_elements.h"
#include "search/html/html_tokens.h"

namespace alate::search {

/// Follows the construction of a tree in the HTML standard (section 13.2.6) as far as it decides what is shown: end
/// tags may be left out, misplaced or misnested. Elements that are neither hidden nor of consequence are not kept, and
/// at most 256 are, the innermost ones, so that each tag takes constant time.
class OpenElements {
 public:
  /// The tag's element, and those that it ends. Elements without content are ended at once.
  void start(const HtmlToken& tag);
  void end(const HtmlToken& tag);

  bool is_hidden() const { return hiding_ > 0; }
  bool is_verbatim() const { return verbatim_ > 0; }
  /// Whether the place is one of SVG or MathML, where tags and texts have other rules.
  bool is_foreign() const {
    return !elements_.empty() && elements_.back().is_foreign && !elements_.back().has_html_inside;
  }

 private:
  struct Element {
    std::size_t name = 0;  // html_number, or the hash of an unknown name
    std::uint32_t properties = 0;
    bool hides = false;
    bool is_foreign = false;       // of SVG or MathML
    bool is_math = false;          // of MathML
    bool has_html_inside = false;  // of them, with elements of HTML inside

    bool has(std::uint32_t property) const { return (properties & property) != 0; }
    bool is(std::size_t html) const { return name == html && !is_foreign; }
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  static std::size_t number_of(std::string_view name);
  // The innermost element that passes the test, unless one that stops the search is further in.
  template <typename Test, typename Stop>
  std::size_t find_up(Test test, Stop stop) const;
  std::size_t find_in_scope(std::size_t name, std::uint32_t scope) const;
  void count(const Element& element, std::ptrdiff_t by);
  void push(const Element& element);
  void pop_from(std::size_t index);
  void erase(std::size_t index);
  void end_paragraph();
  void end_item(std::size_t name);
  void end_formatting(std::size_t name);
  void start_table_part(std::size_t name);
  bool start_foreign(const HtmlToken& tag, std::uint32_t properties);
  void end_table();
  void end_own_kind(std::size_t name);
  std::size_t find_to_end(std::size_t name, std::uint32_t properties) const;

  std::vector<Element> elements_;
  std::size_t hiding_ = 0, verbatim_ = 0;
};

}  // namespace alate::search
