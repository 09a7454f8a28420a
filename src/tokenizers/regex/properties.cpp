#include "tokenizers/regex/properties.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tokenizers/unicode/general_category.h"

namespace alate::tokenizers {
namespace {

struct ScriptName {
  std::string_view name;
  std::string_view code;
};

struct ScriptRun {
  char32_t first;
  std::uint8_t script;
};

#include "tokenizers/unicode/case_variants.inc"
#include "tokenizers/unicode/regex_properties.inc"
#include "tokenizers/unicode/scripts.inc"

constexpr std::uint32_t bits(std::initializer_list<GeneralCategory> categories) {
  std::uint32_t all = 0;
  for (const GeneralCategory category : categories) all |= category_bit(category);
  return all;
}

constexpr struct {
  std::string_view short_name;
  std::string_view long_name;
  std::uint32_t categories;
} kCategoryNames[] = {
    {"l", "letter", kCategoriesL},
    {"lu", "uppercaseletter", bits({kLu})},
    {"ll", "lowercaseletter", bits({kLl})},
    {"lt", "titlecaseletter", bits({kLt})},
    {"lm", "modifierletter", bits({kLm})},
    {"lo", "otherletter", bits({kLo})},
    {"lc", "casedletter", bits({kLu, kLl, kLt})},
    {"m", "mark", kCategoriesM},
    {"m", "combiningmark", kCategoriesM},
    {"mn", "nonspacingmark", bits({kMn})},
    {"mc", "spacingmark", bits({kMc})},
    {"me", "enclosingmark", bits({kMe})},
    {"n", "number", kCategoriesN},
    {"nd", "decimalnumber", bits({kNd})},
    {"nl", "letternumber", bits({kNl})},
    {"no", "othernumber", bits({kNo})},
    {"p", "punctuation", kCategoriesP},
    {"p", "punct", kCategoriesP},
    {"pc", "connectorpunctuation", bits({kPc})},
    {"pd", "dashpunctuation", bits({kPd})},
    {"ps", "openpunctuation", bits({kPs})},
    {"pe", "closepunctuation", bits({kPe})},
    {"pi", "initialpunctuation", bits({kPi})},
    {"pf", "finalpunctuation", bits({kPf})},
    {"po", "otherpunctuation", bits({kPo})},
    {"s", "symbol", kCategoriesS},
    {"sm", "mathsymbol", bits({kSm})},
    {"sc", "currencysymbol", bits({kSc})},
    {"sk", "modifiersymbol", bits({kSk})},
    {"so", "othersymbol", bits({kSo})},
    {"z", "separator", kCategoriesZ},
    {"zs", "spaceseparator", bits({kZs})},
    {"zl", "lineseparator", bits({kZl})},
    {"zp", "paragraphseparator", bits({kZp})},
    {"c", "other", kCategoriesC},
    {"cc", "control", bits({kCc})},
    {"cf", "format", bits({kCf})},
    {"cs", "surrogate", bits({kCs})},
    {"co", "privateuse", bits({kCo})},
    {"cn", "unassigned", bits({kCn})},
};

CodePointSet script_set(std::size_t script) {
  std::vector<CodePointRange> ranges;
  for (std::size_t i = 0; i < std::size(kScriptRuns); ++i) {
    if (kScriptRuns[i].script != script) continue;
    const char32_t end = i + 1 < std::size(kScriptRuns) ? kScriptRuns[i + 1].first : kLastCodePoint + 1;
    ranges.push_back({kScriptRuns[i].first, end - 1});
  }
  return CodePointSet(ranges);
}

CodePointSet recorded_property(std::string_view name) {
  for (const auto& property : kPropertyRanges) {
    if (property.name == name) return CodePointSet(property.ranges);
  }
  return {};
}

CodePointSet union_of(CodePointSet set, const CodePointSet& other) {
  set.add(other);
  return set;
}

CodePointSet graph_set() {
  CodePointSet absent = category_set(bits({kCc, kCn, kCs}));
  absent.add(space_set());
  return absent.complement();
}

CodePointSet blank_set() { return union_of(category_set(bits({kZs})), CodePointSet(CodePointRange{'\t', '\t'})); }
CodePointSet alpha_set() { return recorded_property("alphabetic"); }

// The members of each case group, by each of them.
const std::map<char32_t, std::span<const char32_t>>& case_groups() {
  static const std::map<char32_t, std::span<const char32_t>> groups = [] {
    std::map<char32_t, std::span<const char32_t>> by_member;
    for (std::size_t begin = 0; begin < std::size(kCaseGroups);) {
      std::size_t end = begin;
      while (kCaseGroups[end] != 0) ++end;
      const std::span group(kCaseGroups + begin, end - begin);
      for (const char32_t member : group) by_member.emplace(member, group);
      begin = end + 1;
    }
    return by_member;
  }();
  return groups;
}

std::string folded_name(std::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 0x20) : c;
  }
  return folded;
}

}  // namespace

CodePointSet category_set(std::uint32_t categories) {
  std::vector<CodePointRange> ranges;
  const std::span<const CategoryRun> runs = category_runs();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if ((category_bit(runs[i].category) & categories) == 0) continue;
    ranges.push_back({runs[i].first, (i + 1 < runs.size() ? runs[i + 1].first : kLastCodePoint + 1) - 1});
  }
  return CodePointSet(ranges);
}

CodePointSet space_set() {
  constexpr CodePointRange kSpaces[] = {{0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                                        {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                        {0x205F, 0x205F}, {0x3000, 0x3000}};
  return CodePointSet(kSpaces);
}

CodePointSet digit_set() { return category_set(bits({kNd})); }

CodePointSet hex_digit_set() {
  constexpr CodePointRange kHexDigits[] = {{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
  return CodePointSet(kHexDigits);
}

CodePointSet word_set() { return union_of(category_set(kCategoriesM | bits({kNd, kPc})), alpha_set()); }

CodePointSet bare_word_set() {
  constexpr CodePointRange kMore[] = {{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}};
  return union_of(word_set(), CodePointSet(kMore));
}

std::optional<CodePointSet> posix_class(std::string_view name) {
  if (name == "alnum") return union_of(alpha_set(), digit_set());
  if (name == "alpha") return alpha_set();
  if (name == "ascii") return CodePointSet(CodePointRange{0, 0x7F});
  if (name == "blank") return blank_set();
  if (name == "cntrl") return category_set(bits({kCc}));
  if (name == "digit") return digit_set();
  if (name == "graph") return graph_set();
  if (name == "lower") return recorded_property("lowercase");
  if (name == "print") return union_of(graph_set(), category_set(bits({kZs})));
  if (name == "punct") return category_set(kCategoriesP | kCategoriesS);
  if (name == "space") return space_set();
  if (name == "upper") return recorded_property("uppercase");
  if (name == "word") return word_set();
  if (name == "xdigit") return hex_digit_set();
  return std::nullopt;
}

std::optional<CodePointSet> property_set(std::string_view name) {
  const std::string folded = folded_name(name);
  for (const auto& known : kCategoryNames) {
    if (folded == known.short_name || folded == known.long_name) return category_set(known.categories);
  }
  if (folded == "any") return CodePointSet::all();
  if (folded == "assigned") return category_set(bits({kCn})).complement();
  if (folded == "whitespace") return space_set();
  if (folded == "posixpunct") return posix_class("punct");
  if (folded == "unknown" || folded == "zzzz") return script_set(0);
  for (std::size_t i = 0; i < std::size(kScriptNames); ++i) {
    if (folded == kScriptNames[i].name || folded == kScriptNames[i].code) return script_set(i + 1);
  }
  for (const auto& property : kPropertyRanges) {
    if (property.name == folded) return CodePointSet(property.ranges);
  }
  return posix_class(folded);
}

void add_case_variants(CodePointSet& set) {
  std::vector<CodePointRange> more;
  for (const auto& [member, group] : case_groups()) {
    if (!set.contains(member)) continue;
    for (const char32_t variant : group) more.push_back({variant, variant});
  }
  set.add(more);
}

bool folds_to_several(const CodePointSet& set) {
  return std::any_of(std::begin(kSeveralFold), std::end(kSeveralFold),
                     [&](const auto& fold) { return set.contains(fold.whole); });
}

bool is_fold_of_one(std::u32string_view text) {
  const auto matches = [](char32_t a, char32_t b) {
    const auto group = case_groups().find(a);
    return a == b || (group != case_groups().end() &&
                      std::find(group->second.begin(), group->second.end(), b) != group->second.end());
  };
  return std::any_of(std::begin(kSeveralFold), std::end(kSeveralFold), [&](const auto& fold) {
    const std::size_t size = fold.parts[2] == 0 ? 2 : 3;
    return text.size() == size && std::equal(text.begin(), text.end(), std::begin(fold.parts), matches);
  });
}

}  // namespace alate::tokenizers
