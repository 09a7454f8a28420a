#include "base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace alate::base {
namespace {

// Levenshtein distance, one table row at a time.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kLongestName = 64;
  std::string_view best;
  if (name.size() > kLongestName) return best;
  std::size_t least = 0;
  for (const std::string_view candidate : known) {
    const std::size_t edits = edits_between(name, candidate);
    if (edits * 3 <= candidate.size() && (best.empty() || edits < least)) {
      best = candidate;
      least = edits;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace alate::base
