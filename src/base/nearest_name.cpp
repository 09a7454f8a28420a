#include "base/nearest_name.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

namespace alate::base {
namespace {

constexpr std::size_t kLongestName = 64;  // whose edits are counted

// Insertions, deletions, replacements and swaps of neighbours (the optimal string alignment distance), with the last
// three rows of the table.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      const bool is_swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (is_swapped) row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string_view closest_name(std::string_view name, std::span<const std::string_view> known) {
  if (name.size() > kLongestName || known.empty()) return {};
  return *std::ranges::min_element(known, {},
                                   [&](std::string_view candidate) { return edits_between(name, candidate); });
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::vector<std::string_view> near;
  if (name.size() <= kLongestName)
    std::ranges::copy_if(known, std::back_inserter(near), [&](std::string_view candidate) {
      return edits_between(name, candidate) * 3 <= candidate.size();
    });
  return closest_name(name, near);
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace alate::base
