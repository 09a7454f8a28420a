// The elements of HTML: which begin blocks, which are not shown, which end others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "search/html/html_tokens.h"

namespace alate::search {

/// Properties of an element, as bits.
enum HtmlProperty : std::uint32_t {
  kHtmlBlock = 1,         // begins and ends a block of text; others flow within a line
  kHtmlSpecial = 1 << 1,  // ends the search for what an end tag ends (section 13.2.4.2 of the HTML standard)
  kHtmlEndsParagraph = 1 << 2,
  kHtmlVoid = 1 << 3,        // has no content
  kHtmlUnseen = 1 << 4,      // its content is not shown, or no text
  kHtmlFormatting = 1 << 5,  // goes on in the next block where a block inside of it ends
  kHtmlScope = 1 << 6,       // what is outside of it cannot be ended inside of it
  kHtmlListScope = 1 << 7,   // the same for items of lists
  kHtmlVerbatim = 1 << 8,    // keeps its white space
  kHtmlHeading = 1 << 9,
  kHtmlTablePart = 1 << 10,  // stands in a table, or is nothing
  kHtmlBreakout = 1 << 11,   // ends <svg> and <math>
  kHtmlWholePage = 1 << 12,  // html, head, body: neither opened nor ended here
};

/// A known element by its name in lower case; kHtmlUnknown for others, which flow within a line.
std::uint32_t html_number(std::string_view name);
inline constexpr std::uint32_t kHtmlUnknown = 0xFFFF;
/// Of an element by its number; none for an unknown one.
std::uint32_t html_properties(std::uint32_t number);

/// Elements whose content has no tags.
std::optional<RawContent> html_raw_content(std::string_view name);

/// Whether a start tag says that the element is not shown: by `hidden`, or by display or visibility in its `style`.
bool html_hides(const HtmlToken& tag);

}  // namespace alate::search
