// The text of a page in HTML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::search {

struct HtmlText {
  std::string text;  // blocks with empty lines between them, headings after as many # as their level
  // Places in `text`, ascending, and the lines of the page, from 1, that what begins there comes from.
  std::vector<std::pair<std::size_t, std::size_t>> lines;

  /// The line of the page that the text at this byte comes from.
  std::size_t line_of(std::size_t byte) const;
};

/// What a reader sees of a page: no scripts, styles, templates or comments. `html` is valid UTF-8. Takes any bytes for
/// a page, in linear time, and follows and fetches nothing.
HtmlText text_of_html(std::string_view html);

}  // namespace alate::search
