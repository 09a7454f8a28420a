#include "tokenizers/regex/code_point_set.h"

#include <algorithm>
#include <iterator>

namespace alate::tokenizers {

void CodePointSet::add(std::span<const CodePointRange> ranges) {
  std::vector<CodePointRange> both(ranges_);
  both.insert(both.end(), ranges.begin(), ranges.end());
  std::sort(both.begin(), both.end(), [](CodePointRange a, CodePointRange b) { return a.first < b.first; });
  ranges_.clear();
  for (const CodePointRange range : both) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

CodePointSet CodePointSet::complement() const {
  CodePointSet rest;
  char32_t next = 0;
  for (const CodePointRange range : ranges_) {
    if (next < range.first) rest.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) rest.ranges_.push_back({next, kLastCodePoint});
  return rest;
}

CodePointSet CodePointSet::intersection(const CodePointSet& other) const {
  CodePointSet both;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const CodePointRange shared{std::max(a->first, b->first), std::min(a->last, b->last)};
    if (shared.first <= shared.last) both.ranges_.push_back(shared);
    if (a->last < b->last) {
      ++a;
    } else {
      ++b;
    }
  }
  return both;
}

bool CodePointSet::contains(char32_t c) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), c,
                                      [](char32_t value, CodePointRange range) { return value < range.first; });
  return after != ranges_.begin() && c <= std::prev(after)->last;
}

}  // namespace alate::tokenizers
