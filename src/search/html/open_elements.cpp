#include "search/html/open_elements.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/ascii_case.h"

namespace alate::search {
namespace {

constexpr std::size_t kMostOpen = 256;  // browsers have 512

// Elements that the rules name.
struct NamedElements {
  std::uint32_t a = html_number("a"), address = html_number("address"), button = html_number("button");
  std::uint32_t caption = html_number("caption"), colgroup = html_number("colgroup"), dd = html_number("dd");
  std::uint32_t div = html_number("div"), dt = html_number("dt"), input = html_number("input");
  std::uint32_t keygen = html_number("keygen"), li = html_number("li"), math = html_number("math");
  std::uint32_t nobr = html_number("nobr"), p = html_number("p"), select = html_number("select");
  std::uint32_t svg = html_number("svg"), table = html_number("table"), td = html_number("td");
  std::uint32_t template_ = html_number("template"), textarea = html_number("textarea"), th = html_number("th");
  std::uint32_t tr = html_number("tr");
};

const NamedElements& named() {
  static const NamedElements elements;
  return elements;
}

// Elements of SVG and MathML that have elements of HTML inside.
bool takes_html(const HtmlToken& tag, bool is_math) {
  const std::string_view name = tag.name;
  if (!is_math) return name == "foreignobject" || name == "desc" || name == "title";
  if (name != "annotation-xml") return name == "mi" || name == "mo" || name == "mn" || name == "ms" || name == "mtext";
  const std::string encoding = base::ascii_lower(tag.attribute("encoding").value_or(""));
  return encoding == "text/html" || encoding == "application/xhtml+xml";
}

}  // namespace

// Names that a page makes up are not kept: two with one hash would only end each other.
std::size_t OpenElements::number_of(std::string_view name) {
  const std::uint32_t known = html_number(name);
  return known != kHtmlUnknown ? known : std::hash<std::string_view>()(name) | ~(~std::size_t{0} >> 1);
}

template <typename Test, typename Stop>
std::size_t OpenElements::find_up(Test test, Stop stop) const {
  for (std::size_t i = elements_.size(); i-- > 0;) {
    if (test(elements_[i])) return i;
    if (stop(elements_[i])) return kNone;
  }
  return kNone;
}

std::size_t OpenElements::find_in_scope(std::size_t name, std::uint32_t scope) const {
  return find_up([=](const Element& each) { return each.is(name); },
                 [=](const Element& each) { return each.has(scope); });
}

void OpenElements::count(const Element& element, std::ptrdiff_t by) {
  const auto add = [by](std::size_t& number) {
    number = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(number) + by);
  };
  if (element.hides) add(hiding_);
  if (element.has(kHtmlVerbatim)) add(verbatim_);
}

void OpenElements::push(const Element& element) {
  if (elements_.size() >= kMostOpen) {
    const auto outermost = std::ranges::find(elements_, false, &Element::hides);
    if (outermost == elements_.end()) return;  // all is hidden
    erase(static_cast<std::size_t>(outermost - elements_.begin()));
  }
  elements_.push_back(element);
  count(element, 1);
}

void OpenElements::erase(std::size_t index) {
  count(elements_[index], -1);
  elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(index));
}

// Ends this element and those inside of it. Formatting that has not been ended goes on behind it, but not out of a cell
// and the like.
void OpenElements::pop_from(std::size_t index) {
  std::vector<Element> going_on;
  bool is_in_scope = elements_[index].has(kHtmlScope);
  for (std::size_t i = index; i < elements_.size(); ++i) {
    const Element& each = elements_[i];
    count(each, -1);
    is_in_scope = is_in_scope || each.has(kHtmlScope);
    if (i > index && each.has(kHtmlFormatting) && !is_in_scope) going_on.push_back(each);
  }
  elements_.resize(index);
  for (const Element& each : going_on) push(each);
}

void OpenElements::end_paragraph() {
  const std::size_t found =
      find_up([](const Element& each) { return each.is(named().p); },
              [](const Element& each) { return each.has(kHtmlScope) || each.is(named().button); });
  if (found != kNone) pop_from(found);
}

// <li>, <dd> and <dt> end the item before them in their own list.
void OpenElements::end_item(std::size_t name) {
  const NamedElements& of = named();
  const std::size_t found = find_up(
      [&](const Element& each) { return name == of.li ? each.is(of.li) : each.is(of.dd) || each.is(of.dt); },
      [&](const Element& each) {
        return each.has(kHtmlSpecial | kHtmlScope) && !each.is(of.address) && !each.is(of.div) && !each.is(of.p);
      });
  if (found != kNone) pop_from(found);
}

// The blocks inside of it that are not ended go on, as does other formatting (section 13.2.6.4.7, adoption agency).
void OpenElements::end_formatting(std::size_t name) {
  const std::size_t found = find_in_scope(name, kHtmlScope);
  if (found == kNone) return;
  const auto begin = elements_.begin() + static_cast<std::ptrdiff_t>(found);
  const auto end = std::remove_if(begin, elements_.end(), [&](const Element& each) {
    const bool is_ended = &each == &*begin || !each.has(kHtmlSpecial | kHtmlFormatting);
    if (is_ended) count(each, -1);
    return is_ended;
  });
  elements_.erase(end, elements_.end());
}

// Ends the parts of the table that cannot contain this one.
void OpenElements::start_table_part(std::size_t name) {
  const NamedElements& of = named();
  const bool is_cell = name == of.td || name == of.th, is_row = name == of.tr;
  std::size_t first = kNone;
  for (std::size_t i = elements_.size(); i-- > 0;) {
    const Element& each = elements_[i];
    if (each.is(of.table) || each.is(of.template_) || each.has_html_inside) break;
    if (!each.has(kHtmlTablePart)) continue;
    const bool is_section =
        !each.is(of.td) && !each.is(of.th) && !each.is(of.caption) && !each.is(of.colgroup) && !each.is(of.tr);
    if (is_section ? !is_cell && !is_row : !each.is(of.tr) || !is_cell) first = i;
  }
  if (first != kNone) pop_from(first);
}

// Whether the tag is one of SVG or MathML.
bool OpenElements::start_foreign(const HtmlToken& tag, std::uint32_t properties) {
  const bool begins = tag.name == "svg" || tag.name == "math";
  if (is_foreign() && (properties & kHtmlBreakout) != 0) {
    const std::size_t outside = find_up([](const Element& each) { return !each.is_foreign || each.has_html_inside; },
                                        [](const Element&) { return false; });
    pop_from(outside == kNone ? 0 : outside + 1);
    return false;
  }
  if (!begins && !is_foreign()) return false;
  if (tag.is_self_closing) return true;
  const bool is_math = is_foreign() ? elements_.back().is_math : tag.name == "math";
  const bool with_html = takes_html(tag, is_math);
  push({.name = number_of(tag.name),
        .properties = with_html ? kHtmlScope | kHtmlListScope : 0U,
        .hides = begins,
        .is_foreign = true,
        .is_math = is_math,
        .has_html_inside = with_html});
  return true;
}

void OpenElements::start(const HtmlToken& tag) {
  const NamedElements& of = named();
  const std::uint32_t name = html_number(tag.name), properties = html_properties(name);
  const auto has = [&](std::uint32_t property) { return (properties & property) != 0; };
  if (start_foreign(tag, properties)) return;
  // A page that is hidden as a whole is one that a script shows.
  if (has(kHtmlWholePage)) return;
  if (name == of.li || name == of.dd || name == of.dt) end_item(name);
  if (has(kHtmlEndsParagraph)) end_paragraph();
  if (has(kHtmlHeading) && !elements_.empty() && elements_.back().has(kHtmlHeading)) pop_from(elements_.size() - 1);
  if (has(kHtmlTablePart)) {
    if (find_up([&](const Element& each) { return each.is(of.table); },
                [&](const Element& each) { return each.is(of.template_) || each.has_html_inside; }) == kNone)
      return;
    start_table_part(name);
  }
  if (name == of.table) end_table();
  if (name == of.a || name == of.nobr) end_formatting(name);
  if (name == of.button || name == of.select) end_own_kind(name);
  if (name == of.input || name == of.keygen || name == of.textarea) end_own_kind(of.select);
  if (has(kHtmlVoid)) return;
  const bool hides = has(kHtmlUnseen) || html_hides(tag);
  push({.name = number_of(tag.name), .properties = properties, .hides = hides});
}

// A table that begins in another one, but in no cell of it, ends that one.
void OpenElements::end_table() {
  const NamedElements& of = named();
  const std::size_t found = find_up([&](const Element& each) { return each.is(of.table); },
                                    [&](const Element& each) {
                                      return each.is(of.td) || each.is(of.th) || each.is(of.caption) ||
                                             each.is(of.template_) || each.has_html_inside;
                                    });
  if (found != kNone) pop_from(found);
}

void OpenElements::end_own_kind(std::size_t name) {
  const std::size_t found = find_in_scope(name, kHtmlScope);
  if (found != kNone) pop_from(found);
}

// The element that the end tag ends.
std::size_t OpenElements::find_to_end(std::size_t name, std::uint32_t properties) const {
  const NamedElements& of = named();
  const auto is_it = [=](const Element& each) { return each.is(name); };
  if ((properties & kHtmlHeading) != 0)
    return find_up([](const Element& each) { return each.has(kHtmlHeading); },
                   [](const Element& each) { return each.has(kHtmlScope); });
  if (name == of.template_) return find_up(is_it, [](const Element& each) { return each.has_html_inside; });
  if ((properties & kHtmlTablePart) != 0 || name == of.table)
    return find_up(
        is_it, [&](const Element& each) { return each.is(of.table) || each.is(of.template_) || each.has_html_inside; });
  if (name == of.li) return find_in_scope(name, kHtmlScope | kHtmlListScope);
  return find_in_scope(name, (properties & kHtmlSpecial) != 0 ? kHtmlScope : kHtmlSpecial | kHtmlScope);
}

void OpenElements::end(const HtmlToken& tag) {
  const std::size_t name = number_of(tag.name);
  const std::uint32_t properties = html_properties(html_number(tag.name));
  if ((properties & (kHtmlVoid | kHtmlWholePage)) != 0) return;
  if (name == named().p) return end_paragraph();
  if (!elements_.empty() && elements_.back().is_foreign) {
    const std::size_t found = find_up([&](const Element& each) { return each.is_foreign && each.name == name; },
                                      [](const Element& each) { return !each.is_foreign; });
    if (found != kNone) return pop_from(found);
  }
  if ((properties & kHtmlFormatting) != 0) return end_formatting(name);
  const std::size_t found = find_to_end(name, properties);
  if (found != kNone) pop_from(found);
}

}  // namespace alate::search
