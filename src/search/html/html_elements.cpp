#include "search/html/html_elements.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/ascii_case.h"

namespace alate::search {
namespace {

using Row = std::pair<std::string_view, std::uint32_t>;

constexpr std::uint32_t kUsualBlock = kHtmlBlock | kHtmlSpecial | kHtmlEndsParagraph;
constexpr std::uint32_t kInlineFormatting = kHtmlFormatting;
constexpr std::uint32_t kCell = kHtmlBlock | kHtmlSpecial | kHtmlScope | kHtmlListScope | kHtmlTablePart;
constexpr std::uint32_t kTablePart = kHtmlBlock | kHtmlSpecial | kHtmlTablePart;
constexpr std::uint32_t kHeading = kUsualBlock | kHtmlHeading | kHtmlBreakout;
constexpr std::uint32_t kUnseenScope = kHtmlSpecial | kHtmlUnseen | kHtmlScope | kHtmlListScope;

// Sorted by name.
constexpr auto kElements = std::to_array<Row>({
    {"a", kInlineFormatting},
    {"address", kUsualBlock},
    {"applet", kUnseenScope},
    {"area", kHtmlSpecial | kHtmlVoid},
    {"article", kUsualBlock},
    {"aside", kUsualBlock},
    {"audio", kHtmlUnseen},
    {"b", kInlineFormatting | kHtmlBreakout},
    {"base", kHtmlSpecial | kHtmlVoid},
    {"basefont", kHtmlSpecial | kHtmlVoid},
    {"bgsound", kHtmlSpecial | kHtmlVoid},
    {"big", kInlineFormatting | kHtmlBreakout},
    {"blockquote", kUsualBlock | kHtmlBreakout},
    {"body", kHtmlBlock | kHtmlWholePage | kHtmlBreakout},
    {"br", kHtmlSpecial | kHtmlVoid | kHtmlBreakout},
    {"button", kHtmlSpecial},
    {"canvas", kHtmlUnseen},
    {"caption", kCell},
    {"center", kUsualBlock | kHtmlBreakout},
    {"code", kInlineFormatting | kHtmlBreakout},
    {"col", kTablePart | kHtmlVoid},
    {"colgroup", kTablePart},
    {"datalist", kHtmlUnseen},
    {"dd", kUsualBlock | kHtmlBreakout},
    {"details", kUsualBlock},
    {"dialog", kUsualBlock},
    {"dir", kUsualBlock},
    {"div", kUsualBlock | kHtmlBreakout},
    {"dl", kUsualBlock | kHtmlBreakout},
    {"dt", kUsualBlock | kHtmlBreakout},
    {"em", kInlineFormatting | kHtmlBreakout},
    {"embed", kHtmlSpecial | kHtmlVoid | kHtmlBreakout},
    {"fieldset", kUsualBlock},
    {"figcaption", kUsualBlock},
    {"figure", kUsualBlock},
    {"font", kInlineFormatting},
    {"footer", kUsualBlock},
    {"form", kUsualBlock},
    {"frame", kHtmlSpecial | kHtmlVoid},
    {"frameset", kHtmlBlock | kHtmlWholePage},
    {"h1", kHeading},
    {"h2", kHeading},
    {"h3", kHeading},
    {"h4", kHeading},
    {"h5", kHeading},
    {"h6", kHeading},
    {"head", kHtmlBlock | kHtmlWholePage | kHtmlBreakout},
    {"header", kUsualBlock},
    {"hgroup", kUsualBlock},
    {"hr", kUsualBlock | kHtmlVoid | kHtmlBreakout},
    {"html", kHtmlBlock | kHtmlWholePage},
    {"i", kInlineFormatting | kHtmlBreakout},
    {"iframe", kHtmlSpecial | kHtmlUnseen},
    {"image", kHtmlVoid},
    {"img", kHtmlSpecial | kHtmlVoid | kHtmlBreakout},
    {"input", kHtmlSpecial | kHtmlVoid},
    {"keygen", kHtmlSpecial | kHtmlVoid},
    {"legend", kHtmlBlock},
    {"li", kUsualBlock | kHtmlBreakout},
    {"link", kHtmlSpecial | kHtmlVoid},
    {"listing", kUsualBlock | kHtmlVerbatim | kHtmlBreakout},
    {"main", kUsualBlock},
    {"marquee", kHtmlSpecial | kHtmlScope | kHtmlListScope},
    {"math", kHtmlUnseen},
    {"menu", kUsualBlock | kHtmlBreakout},
    {"meta", kHtmlSpecial | kHtmlVoid | kHtmlBreakout},
    {"nav", kUsualBlock},
    {"nobr", kInlineFormatting | kHtmlBreakout},
    {"noembed", kHtmlSpecial | kHtmlUnseen},
    {"noframes", kHtmlSpecial | kHtmlUnseen},
    {"noscript", kHtmlSpecial | kHtmlUnseen},
    {"object", kUnseenScope},
    {"ol", kUsualBlock | kHtmlListScope | kHtmlBreakout},
    {"optgroup", kHtmlBlock},
    {"option", kHtmlBlock},
    {"p", kUsualBlock | kHtmlBreakout},
    {"param", kHtmlSpecial | kHtmlVoid},
    {"plaintext", kUsualBlock | kHtmlVerbatim},
    {"pre", kUsualBlock | kHtmlVerbatim | kHtmlBreakout},
    {"ruby", kHtmlBreakout},
    {"s", kInlineFormatting | kHtmlBreakout},
    {"script", kHtmlSpecial | kHtmlUnseen},
    {"search", kUsualBlock},
    {"section", kUsualBlock},
    {"select", kHtmlSpecial | kHtmlUnseen},
    {"small", kInlineFormatting | kHtmlBreakout},
    {"source", kHtmlSpecial | kHtmlVoid},
    {"span", kHtmlBreakout},
    {"strike", kInlineFormatting | kHtmlBreakout},
    {"strong", kInlineFormatting | kHtmlBreakout},
    {"style", kHtmlSpecial | kHtmlUnseen},
    {"sub", kHtmlBreakout},
    {"summary", kUsualBlock},
    {"sup", kHtmlBreakout},
    {"svg", kHtmlUnseen},
    {"table", kUsualBlock | kHtmlScope | kHtmlListScope | kHtmlBreakout},
    {"tbody", kTablePart},
    {"td", kCell},
    {"template", kUnseenScope},
    {"textarea", kHtmlSpecial | kHtmlBlock | kHtmlVerbatim},
    {"tfoot", kTablePart},
    {"th", kCell},
    {"thead", kTablePart},
    {"title", kHtmlSpecial | kHtmlBlock},
    {"tr", kTablePart},
    {"track", kHtmlSpecial | kHtmlVoid},
    {"tt", kInlineFormatting | kHtmlBreakout},
    {"u", kInlineFormatting | kHtmlBreakout},
    {"ul", kUsualBlock | kHtmlListScope | kHtmlBreakout},
    {"var", kHtmlBreakout},
    {"video", kHtmlUnseen},
    {"wbr", kHtmlSpecial | kHtmlVoid},
    {"xmp", kUsualBlock | kHtmlVerbatim},
});
static_assert(std::ranges::is_sorted(kElements, {}, &Row::first));

using RawRow = std::pair<std::string_view, RawContent>;
constexpr auto kRawElements = std::to_array<RawRow>({{"iframe", RawContent::text},
                                                     {"noembed", RawContent::text},
                                                     {"noframes", RawContent::text},
                                                     {"noscript", RawContent::text},
                                                     {"plaintext", RawContent::rest_of_page},
                                                     {"script", RawContent::script},
                                                     {"style", RawContent::text},
                                                     {"textarea", RawContent::text_with_references},
                                                     {"title", RawContent::text_with_references},
                                                     {"xmp", RawContent::text}});

std::string_view trimmed_css(std::string_view text) {
  while (!text.empty() && is_html_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_html_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string without_css_comments(std::string_view css) {
  std::string kept;
  for (std::size_t at = 0; at < css.size();) {
    const std::size_t begin = std::min(css.find("/*", at), css.size());
    kept += css.substr(at, begin - at);
    const std::size_t end = begin < css.size() ? css.find("*/", begin + 2) : css.size();
    at = end == std::string_view::npos || end == css.size() ? css.size() : end + 2;
  }
  return kept;
}

// The last value of a property in a style attribute, where one that is important comes before all others.
class StyleValue {
 public:
  void set(std::string_view value) {
    constexpr std::string_view kImportant = "!important";
    const bool is_important = value.ends_with(kImportant);
    if (is_important) value = trimmed_css(value.substr(0, value.size() - kImportant.size()));
    if (is_important_ && !is_important) return;
    is_important_ = is_important;
    value_ = value;
  }
  const std::string& value() const { return value_; }

 private:
  std::string value_;
  bool is_important_ = false;
};

}  // namespace

std::uint32_t html_number(std::string_view name) {
  const auto found = std::ranges::lower_bound(kElements, name, {}, &Row::first);
  const bool is_known = found != kElements.end() && found->first == name;
  return is_known ? static_cast<std::uint32_t>(found - kElements.begin()) : kHtmlUnknown;
}

std::uint32_t html_properties(std::uint32_t number) { return number < kElements.size() ? kElements[number].second : 0; }

std::optional<RawContent> html_raw_content(std::string_view name) {
  const auto found = std::ranges::find(kRawElements, name, &RawRow::first);
  return found == kRawElements.end() ? std::nullopt : std::optional(found->second);
}

bool html_hides(const HtmlToken& tag) {
  StyleValue display, visibility;
  if (const std::optional<std::string> attribute = tag.attribute("style")) {
    const std::string css = base::ascii_lower(without_css_comments(*attribute));
    for (std::size_t at = 0; at < css.size();) {
      const std::size_t end = std::min(css.find(';', at), css.size());
      const std::string_view declaration = std::string_view(css).substr(at, end - at);
      at = end + 1;
      const std::size_t colon = declaration.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string_view property = trimmed_css(declaration.substr(0, colon));
      const std::string_view value = trimmed_css(declaration.substr(colon + 1));
      if (property == "display") display.set(value);
      if (property == "visibility") visibility.set(value);
    }
  }
  if (visibility.value() == "hidden" || visibility.value() == "collapse") return true;
  if (!display.value().empty()) return display.value() == "none";
  if (tag.name == "dialog" && !tag.attribute("open")) return true;
  // A browser's search finds what is hidden until it is found.
  const std::optional<std::string> hidden = tag.attribute("hidden");
  return hidden && base::ascii_lower(*hidden) != "until-found";
}

}  // namespace alate::search
