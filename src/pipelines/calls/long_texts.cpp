#include "alate/long_texts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace alate {
namespace {

constexpr std::array<std::pair<LongTexts, std::string_view>, 4> kNames = {{{LongTexts::error, "error"},
                                                                           {LongTexts::cut, "cut"},
                                                                           {LongTexts::cut_left, "cut-left"},
                                                                           {LongTexts::windows, "windows"}}};

}  // namespace

std::string_view to_string(LongTexts treatment) {
  return std::ranges::find(kNames, treatment, &std::pair<LongTexts, std::string_view>::first)->second;
}

std::optional<LongTexts> parse_long_texts(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &std::pair<LongTexts, std::string_view>::second);
  if (found == kNames.end()) return std::nullopt;
  return found->first;
}

}  // namespace alate
